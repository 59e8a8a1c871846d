r"""
6. The general head
===================

**The question:** is what we built the attention of real models, and what does it still lack?

This lesson writes the head with all its parts, compares it with **PyTorch**, a library that real
models are built with, hides later words from earlier ones, and then names the limits.
"""

# %%
# The idea
# --------
#
# One part is missing. So far a word handed over its whole embedding. A real head makes a third
# vector for each word, the **value**: what the word hands over to those who look at it. It comes
# from a third matrix, :math:`W_V`. With queries, keys and values the head is complete:
#
# .. math::
#
#    Q = X W_Q \qquad K = X W_K \qquad V = X W_V
#
# .. math::
#
#    \text{output} =
#    \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V
#
# This is :given:`equation 1 <the paper's own numbering>` of *Attention Is All You Need* (Vaswani
# and others, 2017), the paper that introduced the transformer.
#
# The code
# --------
#
# The function in the package reads like the formula. The line that checks its input stands first,
# and the mask, two lines of it, is explained below.

import matplotlib.pyplot as plt
import numpy as np

from attnlab import TOY_WORLD, attention, causal_mask, figures, raw_attention, source
from attnlab.sections import s5_scaling as s5
from attnlab.sections import s6_general_head as s6

world = TOY_WORLD
print(source(attention))

# %%
# Checked against PyTorch
# -----------------------
#
# Three random matrices make a head that nobody wired. Our function and PyTorch's,
# :func:`torch.nn.functional.scaled_dot_product_attention`, get the same numbers, and we look at
# the largest difference between their outputs. The workshop draws its random numbers from one
# generator, the fifth lesson first, so we let that lesson draw before we do.

rng = np.random.default_rng(0)
s5.measure(world, rng)
X = world.embed("the river bank")
W_q, W_k, W_v = s6.random_head(rng, d_model=4)

print(s6.SECTION.heading)
print(s6.comparison(s6.torch_difference(X, W_q, W_k, W_v)))
print(s6.comparison_causal(s6.torch_difference(X, W_q, W_k, W_v, causal=True)))

# %%
# The differences are rounding: a computer keeps about sixteen digits of a number, and the two add
# in another order. Both :claim:`stay below a hundredth of a millionth of a millionth
# <S6.difference.plain <= 1e-14 and S6.difference.causal <= 1e-14>`. A wrong formula would be off
# in the first digits.
#
# This one comparison could not find every mistake. Here the sentence has as many words as the
# head has key entries, so a head that divided by the square root of the wrong one would pass. The
# tests of the package therefore compare with PyTorch on many shapes in which all these numbers
# differ.
#
# Hiding the future
# -----------------
#
# A model that writes a text word by word cannot look at words that are not written yet. While it
# learns, the whole text is there, so later words must be hidden. That is the **causal mask**: it
# sets each score above the diagonal to −∞, and the exponential of −∞ is zero.

print(causal_mask(3))

# %%
# *True* means "may look". The wired head of the fourth lesson under the mask:

masked = attention(X, world.W_Q, world.W_K, np.eye(4), causal=True)
print(s6.causal_weights(world, masked.weights))

# %%
# By hand
# -------
#
# The row of *river*, which may look at *the* and at itself, but not at *bank*:
#
# .. by-hand:: softmax river
#    :head: wired
#    :causal:
#
# The hidden word's share is not lost. The softmax divides by the sum of what is left, so the
# others' shares grow and each row still sums to one:

print(s6.row_sums(world, masked.weights))

# %%
# Each row is filled up to the diagonal and empty beyond it:

figures.causal_mask(("the", "river", "bank"), masked.weights)
plt.show()

# %%
# What attention alone lacks: order
# ---------------------------------
#
# Read the sentence backwards and give it to raw attention. *bank* has the same words around it,
# so it gets the same weights and the same output:

forwards = raw_attention(world.embed("the river bank")).output[2]
backwards = raw_attention(world.embed("bank river the")).output[0]
print("bank in 'the river bank':", forwards.round(3))
print("bank in 'bank river the':", backwards.round(3))
print(s6.order_blindness(world, s6.is_order_blind(world, "the river bank")))

# %%
# Attention by itself does not know which word comes first: "dog bites man" and "man bites dog"
# would be the same to it. Real models add to each word something that depends on its position.
# The causal mask brings in order too, since a word then sees only what stands before it.
#
# How large a real head is
# ------------------------
#
# The model GPT-2 gives each word :measured:`768 <S6.d_model>` numbers and each query
# :measured:`64 <S6.d_k>`. So one of :math:`W_Q`, :math:`W_K` and :math:`W_V` holds
# :measured:`768 <S6.d_model>` × :measured:`64 <S6.d_k>` numbers, and the three together
# :measured:`147,456 <3 * S6.d_model * S6.d_k>`. In each **layer**
# :measured:`12 <S6.heads>` heads work side by side, and one more matrix, the **output
# projection** of :measured:`768 <S6.d_model>` × :measured:`768 <S6.d_model>`, mixes what they
# found. There are :measured:`12 <S6.layers>` layers:

print(s6.counts())

# %%
# What this count leaves out: GPT-2 also adds a fixed number, a **bias**, to every entry of each
# query, key, value and output projection. Those are four times :measured:`768 <S6.d_model>` more
# a layer, :measured:`36,864 <4 * S6.layers * S6.d_model>` in all, or :measured:`0.13 % <4 *
# S6.layers * S6.d_model / S6.parameters.attention>` on top. And attention is :claim:`less than a
# quarter of the model <S6.parameters.attention < 124e6 / 4>`: the rest of its :given:`about 124
# million <GPT-2's published size>` numbers are word and position embeddings, and the layers that
# stand between one attention and the next.
#
# What to notice
# --------------
#
# - The head is one line of formula. Everything else in a transformer is built around it.
# - :claim:`Under the mask the first word looks only at itself <S6.causal_weights.the.the == 1>`,
#   and the last row is the row without a mask: :claim:`bank gives river the same weight as before
#   <abs(S6.causal_weights.bank.river - S4.weights.bank.river) < 1e-12>`.
# - Attention knows who stands there, not where.
#
# Your turn
# ---------
#
# .. exercise:: masked.river
#
#    .. calculation:: masked = softmax river
#       :causal:
#
#    Put the causal mask on *raw* attention. What weight does *river* give itself in *the river
#    bank*?
#
#    .. mistake:: S3.weights.river_bank.river.river
#
#       This is the weight without the mask. *bank* comes later and is hidden, so it is not in the
#       sum.
#
#    .. mistake:: S6.causal_weights.river.river
#
#       This is the wired head. Raw attention scores the words as they are.
#
#    .. mistake:: exp(S3.scores.river_bank.river.river) /
#       (exp(S3.scores.river_bank.river.river) + 2)
#
#       You set the score of *bank* to zero. It must be −∞: the exponential of zero is one, that
#       of −∞ is zero.
#
#    .. mistake:: exp(S3.scores.river_bank.river.river)
#
#       This is the exponential. Divide it by the sum of the exponentials that are left.
#
#    .. solution::
#
#       .. by-hand:: softmax river
#          :causal:
#
# .. exercise:: out.water
#
#    .. calculation:: out = output river
#       :head: wired
#       :causal:
#
#    .. calculation:: open = output river
#       :head: wired
#
#    Back to the wired head with the mask. How much *water* does *river* come out with in
#    *the river bank*?
#
#    .. mistake:: open.water
#
#       This is without the mask. *river* may not look at *bank*.
#
#    .. mistake:: S6.causal_weights.river.river
#
#       This is the weight that *river* gives itself. Multiply it by the water that *river* has.
#
#    .. mistake:: S1.embedding.river.water
#
#       This is what goes in. Multiply it by the weight.
#
#    .. solution::
#
#       .. by-hand:: output river
#          :head: wired
#          :causal:
#
# .. exercise:: S6.heads * S6.parameters.head + S6.d_model ** 2
#
#    How many numbers do the matrices of one layer of GPT-2's attention hold: all its heads, and
#    the output projection?
#
#    .. mistake:: S6.heads * S6.parameters.head
#
#       You left out the output projection.
#
#    .. mistake:: S6.parameters.head + S6.d_model ** 2
#
#       This has one head only. Count all the heads of the layer.
#
#    .. mistake:: S6.parameters.attention
#
#       This is all layers together.
#
#    .. mistake:: S6.heads * S6.d_model * S6.d_k + S6.d_model ** 2
#
#       Each head has three matrices: for queries, keys and values.
#
#    .. solution::
#
#       Each head holds :measured:`147,456 <S6.parameters.head>` numbers, and the
#       :measured:`12 <S6.heads>` heads :measured:`1,769,472 <S6.heads * S6.parameters.head>`. The
#       output projection holds :measured:`589,824 <S6.d_model ** 2>`. Add the two. All
#       :measured:`12 <S6.layers>` layers together hold the number at the end of the output above.
#
# .. exercise:: first.bank
#
#    .. calculation:: first = softmax bank
#       :sentence: bank river the
#       :head: wired
#       :causal:
#
#    Predict this one: read the sentence backwards, *bank river the*, through the wired head with
#    the mask. What weight does *bank* give itself?
#
#    .. mistake:: S6.causal_weights.bank.bank
#
#       This is the weight at the end of the sentence, where *bank* sees every word. Now it comes
#       first.
#
#    .. mistake:: S3.weights.river_bank.bank.bank
#
#       This is raw attention without a mask, which does not notice the order. The mask does.
#
#    .. mistake:: S6.causal_weights.river.river
#
#       This is what *river* gives itself. Which words may *bank* see, now that it comes first?
#
#    .. solution::
#
#       The first word sees only itself, so all of the weight stays with it, whatever its score
#       is. Without the mask, the order would change nothing.
#
#       .. by-hand:: softmax bank
#          :sentence: bank river the
#          :head: wired
#          :causal:
#
# Try next
# --------
#
# - Compare with PyTorch on a sentence of your own, and on random matrices of another shape.
# - Turn the mask upside down, so that words see only the future. Which row is now unchanged?
# - Add a fifth axis that counts the position of a word. Does *bank* notice the reversal now?
#
# Where this leads
# ----------------
#
# You have calculated every part of an attention head, and you can check each number of these
# pages: :doc:`/reproduce`.
