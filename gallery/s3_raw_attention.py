"""
3. Raw attention
================

**The question:** how can *bank* come out different beside *river* than beside *money*, although
it goes in the same?

The answer is to let each word of a sentence take in a share of every other word. How large the
share is, the dot product and the softmax decide. This is **attention**, and this lesson does it
with nothing but the embeddings themselves.
"""

# %%
# The idea
# --------
#
# Take one word, say *bank*. Score it against every word of its sentence, itself included. Turn
# the scores into shares. Then build a new vector for *bank*: that share of each word's vector,
# all added up. The shares are called the **attention weights**, and the new vector is the
# **output**.
#
# Then do the same for each of the other words.
#
# By hand
# -------
#
# The weights of *bank* in *the river bank* are those of the last lesson. Its output is the
# weighted sum of the three rows:
#
# .. by-hand:: output bank
#
# The same in *the money bank*, where the middle word and so all the numbers are others:
#
# .. by-hand:: output bank
#    :sentence: the money bank
#
# As one formula
# --------------
#
# The table of all dot products between the rows of *X* is written :math:`X X^\top`: row i and
# column j hold the dot product of word i with word j. So attention for a whole sentence is
#
# .. math::
#
#    \text{output} = \operatorname{softmax}(X X^\top)\, X
#
# where softmax takes each row by itself. Multiplying by *X* at the end adds up the rows of *X* by
# their weights, which is the sum that we did above.
#
# The code
# --------
#
# The function is the formula. ``@`` multiplies two matrices, and ``X.mT`` is *X* with rows and
# columns exchanged.

import matplotlib.pyplot as plt

from attnlab import TOY_WORLD, figures, raw_attention, softmax, source
from attnlab.sections import s3_raw_attention as s3

world = TOY_WORLD
print(source(raw_attention))

# %%
# First a check: what goes in for *bank* is the same in both sentences.

print(s3.SECTION.heading)
print(s3.input_check(world))

# %%
# The scores
# ----------
#
# In view, one step at a time. The score matrix first. Its row for *bank* holds the numbers of the
# last lesson.

X = world.embed("the river bank")
S = X @ X.mT
print(s3.scores(world, "the river bank", S))

# %%
# The matrix is **symmetric**: what *bank* has to do with *river*, *river* has to do with *bank*.
# That is so because a dot product does not care which vector comes first.
#
# The weights
# -----------
#
# Softmax of each row. The row of a word says how it divides its attention.

weights = softmax(S)
print(s3.weights(world, "the river bank", weights, softmaxed=True))

# %%
# The other sentence, this time by the package's function, which does the same in one go:

river = raw_attention(world.embed("the river bank"))
money = raw_attention(world.embed("the money bank"))
print(s3.weights(world, "the money bank", money.weights))

# %%
# Both weight matrices side by side. Read a row from left to right: the word at its left looks at
# the words along the top.

figures.raw_attention_heatmaps(
    {
        "the river bank": (("the", "river", "bank"), river.weights),
        "the money bank": (("the", "money", "bank"), money.weights),
    }
)
plt.show()

# %%
# The output
# ----------
#
# The last row of each output belongs to *bank*:

outputs = {"the river bank": river.output[-1], "the money bank": money.output[-1]}
print(s3.outputs_table(world, outputs))
print(s3.contrast(world, outputs))

# %%
# *bank* started in one place and ends in two. On the plane of water and money:

# sphinx_gallery_thumbnail_number = 2
figures.bank_water_money_plane(world, outputs)
plt.show()

# %%
# What to notice
# --------------
#
# - Beside *river*, :claim:`bank comes out with more water than money
#   <S3.output.river_bank.water > S3.output.river_bank.money>`:
#   :measured:`0.435 <S3.output.river_bank.water>` against
#   :measured:`0.149 <S3.output.river_bank.money>`. Beside *money*, :claim:`it is the other way
#   round <S3.output.money_bank.money > S3.output.money_bank.water>`:
#   :measured:`0.158 <S3.output.money_bank.water>` against
#   :measured:`0.409 <S3.output.money_bank.money>`. The puzzle is solved.
# - Every word looks at itself most: :claim:`on the diagonal stands the largest weight of each row
#   <S3.weights.river_bank.the.the > S3.weights.river_bank.the.river and
#   S3.weights.river_bank.river.river > S3.weights.river_bank.river.bank and
#   S3.weights.river_bank.bank.bank > S3.weights.river_bank.bank.river>`.
# - *the* gives *river* and *bank* the same weight, :measured:`0.212
#   <S3.weights.river_bank.the.river>`: it shares an axis with neither, so it cannot prefer one.
#
# Your turn
# ---------
#
# .. exercise:: out.water
#
#    .. calculation:: out = output river
#
#    How much *water* does *river* come out with in *the river bank*? Take its weights from the
#    table above.
#
#    .. mistake:: S3.output.river_bank.water
#
#       This is the output of *bank*. Take the row of weights that belongs to *river*.
#
#    .. mistake:: S1.embedding.river.water + S1.embedding.bank.water
#
#       You added the words as they are. Multiply each by its weight first.
#
#    .. mistake:: (S1.embedding.river.water + S1.embedding.bank.water) / 3
#
#       You gave each word the same share. Use the weights of *river*.
#
#    .. mistake:: S3.weights.river_bank.river.river * S1.embedding.river.water
#
#       This is what *river* gives itself. *bank* has some water too.
#
#    .. solution::
#
#       .. by-hand:: output river
#
#       It comes out with less water than it had, because it takes in words that have less.
#
# .. exercise:: row.river
#
#    .. calculation:: row = softmax bank
#       :sentence: the river money bank
#
#    In *the river money bank*, what weight does *bank* give *river*?
#
#    .. mistake:: S3.weights.river_bank.bank.river
#
#       This is the weight in *the river bank*. With a fourth word, the sum of the exponentials
#       grows.
#
#    .. mistake:: exp(S2.scores.river) / (exp(S2.scores.river) + exp(S2.dot.bank_money) +
#       exp(S2.scores.bank))
#
#       You left *the* out of the sum. Its score is zero, but the exponential of zero is one.
#
#    .. mistake:: S2.scores.river / (S2.scores.river + S2.dot.bank_money + S2.scores.bank)
#
#       You divided the scores themselves. Take the exponential of each first.
#
#    .. mistake:: row.money
#
#       This is the weight that it gives *money*.
#
#    .. solution::
#
#       .. by-hand:: softmax bank
#          :sentence: the river money bank
#
#       *bank* now looks both ways, at *river* a little more than at *money*.
#
# .. exercise:: short.water
#
#    .. calculation:: short = output bank
#       :sentence: river bank
#
#    Leave out *the*. How much *water* does *bank* come out with in the sentence *river bank*?
#    Guess first: more than in *the river bank*, or less?
#
#    .. mistake:: S3.output.river_bank.water
#
#       This is the output with *the* in the sentence. Without it, the weights of the other two
#       grow.
#
#    .. mistake:: (S1.embedding.river.water + S1.embedding.bank.water) / 2
#
#       You gave both words half of the weight. *bank* scores higher with itself than with
#       *river*.
#
#    .. mistake:: (S2.scores.river * S1.embedding.river.water +
#       S2.scores.bank * S1.embedding.bank.water) / (S2.scores.river + S2.scores.bank)
#
#       You used the scores themselves as weights. Do the softmax first.
#
#    .. solution::
#
#       .. by-hand:: output bank
#          :sentence: river bank
#
#       More: *the* took a share of the weight and had no water to give for it.
#
# Try next
# --------
#
# - Multiply *X* by two before the attention. Why do the weights become more uneven?
# - Try the sentence ``"the river money bank"``. Which way does the output of *bank* lean?
#
# Where this leads
# ----------------
#
# Raw attention can only ask "who is like me?". A word cannot look for something that it is not,
# and *the* cannot look for its noun. For that, a word needs one vector to ask with and another to
# be found by: :doc:`s4_wired_head`.
