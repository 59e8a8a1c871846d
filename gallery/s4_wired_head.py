"""
4. A hand-wired head
====================

**The question:** how can a word look for something other than itself?

In raw attention every word is compared with all words as it is, so it finds what resembles it. A
real attention head lets each word make two new vectors: a **query**, which says what the word
looks for, and a **key**, which says what the word offers. The score compares the query of one
word with the key of another.
"""

# %%
# The idea
# --------
#
# A query and a key are made from the word's embedding by multiplying it with a matrix. In real
# models the two matrices are learned. We wire ours by hand, with two **channels**, each a
# question that can be asked and answered:
#
# - the channel *topic*: places ask for it, with strength
#   :measured:`2.0 <world.W_Q.place.topic>`; water and money answer, each with
#   :measured:`1.0 <world.W_K.water.topic>`;
# - the channel *place*: filler words ask for it, with strength
#   :measured:`1.5 <world.W_Q.filler.place>`; places answer, with
#   :measured:`1.0 <world.W_K.place.place>`.
#
# So *bank*, which is a place, will ask "what is the topic here?", and *the* will ask "where is my
# noun?". The matrix that makes queries is called :math:`W_Q`, the one that makes keys
# :math:`W_K`. A set of such matrices with the attention they drive is called a **head**.
#
# By hand
# -------
#
# The query of *bank* and the key of *river*, channel by channel:
#
# .. by-hand:: query bank
#
# .. by-hand:: key river
#
# Their dot product is the score. It is divided by the square root of the number of channels
# before the softmax; the next lesson shows why.
#
# .. by-hand:: score bank river
#    :head: wired
#
# With the scores of the whole row, the softmax gives the weights of *bank*:
#
# .. by-hand:: softmax bank
#    :head: wired
#
# As one formula
# --------------
#
# .. math::
#
#    Q = X W_Q \qquad K = X W_K
#
# .. math::
#
#    \text{output} =
#    \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{2}}\right) X
#
# What is mixed at the end are still the embeddings in *X*; only who looks at whom has changed.
#
# The code
# --------

import matplotlib.pyplot as plt
import numpy as np

from attnlab import TOY_WORLD, figures, raw_attention, softmax
from attnlab.sections import s4_wired_head as s4

world = TOY_WORLD
print("W_Q, one row an axis, one column a channel:")
print(world.W_Q)
print("W_K:")
print(world.W_K)

# %%
# Queries and keys of the whole sentence, one row a word:

print(s4.SECTION.heading)
X = world.embed("the river bank")
Q = X @ world.W_Q
K = X @ world.W_K
print(s4.queries_and_keys(world, Q, K))

# %%
# *the* offers nothing: its key is all zeros, so nobody gets a score from looking at it. *bank*
# asks on the topic channel with :measured:`1.80 <S4.query.bank.topic>`, and *river* answers there
# with :measured:`0.90 <S4.key.river.topic>`.
#
# The scores
# ----------

scores = Q @ K.mT
print(s4.scores(world, scores))

# %%
# The matrix is no longer symmetric. That *bank* looks for *river* does not mean that *river*
# looks for *bank*.
#
# The weights
# -----------

weights = softmax(scores / np.sqrt(2))
raw = raw_attention(X)
print(s4.weights(world, weights))

# %%
# Beside the weights of raw attention:

print(s4.rows(world, raw.weights, weights))

# %%
# The last of these lines in numbers: *bank* gives *river* :measured:`0.500
# <S4.weights.bank.river>`, which is :claim:`half, to within a hundredth <0.49 <
# S4.weights.bank.river < 0.51>`. And :claim:`the first word now gives bank its largest weight
# <S4.weights.the.bank > S4.weights.the.river > S4.weights.the.the>`.

figures.qk_vs_raw_heatmaps(("the", "river", "bank"), raw.weights, weights)
plt.show()

# %%
# The output
# ----------

outputs = weights @ X
print(s4.output(world, outputs))

# %%
# What to notice
# --------------
#
# - In raw attention, *bank* came out with :measured:`0.435 <S3.output.river_bank.water>` of
#   water. The wired head brings it to :measured:`0.552 <S4.output.water>`, and :claim:`money goes
#   down <S4.output.money < S3.output.river_bank.money>`, to :measured:`0.102 <S4.output.money>`.
#   Asking the right question works better than looking for a likeness.
# - *bank* no longer looks at itself most: :claim:`river gets more of its weight than bank does
#   <S4.weights.bank.river > S4.weights.bank.bank>`.
# - Only :math:`W_Q` and :math:`W_K` decide all this. A model that learns them learns which
#   questions are worth asking.
#
# Your turn
# ---------
#
# .. exercise:: s.score
#
#    .. calculation:: s = score river bank
#       :head: wired
#
#    What score does *river* give *bank*? Divide by the square root, as above.
#
#    .. mistake:: S4.scores.river.bank
#
#       This is the dot product. Divide it by the square root of the number of channels.
#
#    .. mistake:: S4.scores.river.bank / world.size.channels
#
#       You divided by the number of channels. Divide by its square root.
#
#    .. mistake:: S4.scores.bank.river / sqrt(world.size.channels)
#
#       This is the score that *bank* gives *river*. The word that looks gives the query, so take
#       the query of *river* and the key of *bank*.
#
#    .. mistake:: S2.dot.bank_river
#
#       This is the raw score, of the two words as they are. Make the query and the key first.
#
#    .. solution::
#
#       .. by-hand:: query river
#
#       .. by-hand:: key bank
#
#       .. by-hand:: score river bank
#          :head: wired
#
# .. exercise:: loud.river
#
#    .. calculation:: loud = softmax bank
#       :head: wired
#       :unscaled:
#
#    Leave out the division. What weight does *bank* give *river* in *the river bank*?
#
#    .. mistake:: S4.weights.bank.river
#
#       This is the weight with the division. Put the dot products into the softmax as they are.
#
#    .. mistake:: S4.scores.bank.river / (S4.scores.bank.river + S4.scores.bank.bank)
#
#       You divided the scores themselves. Take the exponential of each first.
#
#    .. mistake:: exp(S4.scores.bank.river) / (exp(S4.scores.bank.river) + exp(S4.scores.bank.bank))
#
#       You left *the* out of the sum. Its score is zero, but the exponential of zero is one.
#
#    .. mistake:: exp(S4.scores.bank.river / world.size.channels) /
#       (1 + exp(S4.scores.bank.river / world.size.channels) +
#       exp(S4.scores.bank.bank / world.size.channels))
#
#       You divided, and by two: once too often. Put the dot products into the softmax as they
#       are.
#
#    .. mistake:: exp(S4.scores.bank.river)
#
#       This is the exponential. Divide it by the sum of all three exponentials.
#
#    .. solution::
#
#       .. by-hand:: softmax bank
#          :head: wired
#          :unscaled:
#
#       Larger scores make the weights more uneven, so *river* gains.
#
# .. exercise:: other.money
#
#    .. calculation:: other = softmax bank
#       :sentence: the money bank
#       :head: wired
#
#    Predict this one from the two matrices: in *the money bank*, what weight does *bank* give
#    *money*?
#
#    .. mistake:: S3.weights.money_bank.bank.money
#
#       This is the weight of raw attention. The wired head compares the query of *bank* with the
#       key of *money*.
#
#    .. mistake:: other.bank
#
#       This is the weight that *bank* gives itself.
#
#    .. mistake:: S4.scores.bank.river / sqrt(world.size.channels)
#
#       This is the score. Do the softmax of the row.
#
#    .. solution::
#
#       *bank* asks on the channel *topic* alone, and there *money* answers exactly as strongly as
#       *river* does. So its row of weights is the row that you know.
#
#       .. by-hand:: softmax bank
#          :sentence: the money bank
#          :head: wired
#
# .. exercise:: exp(S4.scores.the.bank / sqrt(world.size.channels)) /
#    (exp(S4.scores.the.bank / sqrt(world.size.channels)) +
#    exp(S4.scores.river.bank / sqrt(world.size.channels)) +
#    exp(S4.scores.bank.bank / sqrt(world.size.channels)))
#
#    Exchange :math:`W_Q` and :math:`W_K`. What weight does *bank* now give *the* in *the river
#    bank*?
#
#    .. mistake:: S4.weights.bank.the
#
#       This is the weight before the exchange. Now *bank* asks with what was its key, and *the*
#       is found by what was its query.
#
#    .. mistake:: S4.weights.the.bank
#
#       You took the right score, but the sum of another row. After the exchange, the scores of
#       *bank* stand in its old column.
#
#    .. mistake:: exp(S4.scores.the.bank) / (exp(S4.scores.the.bank) + exp(S4.scores.river.bank) +
#       exp(S4.scores.bank.bank))
#
#       You left out the division by the square root.
#
#    .. mistake:: exp(S4.scores.the.bank / sqrt(world.size.channels))
#
#       This is the exponential. Divide it by the sum of all three exponentials.
#
#    .. solution::
#
#       What was a query is now a key, and the other way round. So the scores change places over
#       the diagonal: *bank* gives each word the score that this word gave *bank* before. That is
#       the column of *bank* in the table of scores: :measured:`1.350 <S4.scores.the.bank>` for
#       *the*, :measured:`0.360 <S4.scores.river.bank>` for *river* and :measured:`1.080
#       <S4.scores.bank.bank>` for itself.
#
#       Divided by :math:`\sqrt{2}`, they are :measured:`0.955 <S4.scores.the.bank /
#       sqrt(world.size.channels)>`, :measured:`0.255 <S4.scores.river.bank /
#       sqrt(world.size.channels)>` and :measured:`0.764 <S4.scores.bank.bank /
#       sqrt(world.size.channels)>`. Their exponentials are :measured:`2.598
#       <exp(S4.scores.the.bank / sqrt(world.size.channels))>`, :measured:`1.290
#       <exp(S4.scores.river.bank / sqrt(world.size.channels))>` and :measured:`2.146
#       <exp(S4.scores.bank.bank / sqrt(world.size.channels))>`. Divide the first by the sum of
#       the three. *bank* now looks at *the* most of all, and learns nothing from it.
#
# Try next
# --------
#
# - Exchange ``world.W_Q`` and ``world.W_K`` in the code. Who looks at whom now?
# - Let *water* ask for *place* on the second channel, and find what *river* does.
# - Divide by ``10`` instead of ``np.sqrt(2)``. What do the weights move towards?
#
# Where this leads
# ----------------
#
# We divided by a square root and promised to say why. That promise comes next:
# :doc:`s5_scaling`.
