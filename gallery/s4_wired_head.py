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
# Try next
# --------
#
# - Exchange ``world.W_Q`` and ``world.W_K``. Who looks at whom now?
# - Let *water* ask for *place* on the second channel, and find what *river* does.
# - Leave out the division by ``np.sqrt(2)``. Which way do the weights move?
#
# Where this leads
# ----------------
#
# We divided by a square root and promised to say why. That promise comes next:
# :doc:`s5_scaling`.
