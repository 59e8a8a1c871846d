"""
2. Dot product and softmax
==========================

**The question:** how much do two words have to do with each other, as one number? And how do
several such numbers become shares of a whole?

Attention needs just two tools, and this lesson takes them one at a time. The **dot product**
turns two vectors into one number. The **softmax** turns a list of numbers into shares that add
up to one.
"""

# %%
# The idea of the dot product
# ---------------------------
#
# Put two vectors beside each other, multiply the two numbers on each axis, and add the products.
# That is all. Where both words have much of the same thing, the product is large; where one of
# them has nothing, the product is zero.
#
# By hand
# -------
#
# *bank* and *river* share water and share being a place:
#
# .. by-hand:: dot bank river
#
# The code
# --------
#
# This is the function as it stands in the package. The star multiplies entry by entry, and
# ``sum`` adds up along the last axis. The lines before only check what comes in.

import matplotlib.pyplot as plt

from attnlab import TOY_WORLD, dot_product, figures, softmax, source
from attnlab.sections import s2_dot_softmax as s2

world = TOY_WORLD
print(source(dot_product))

# %%
# First the calculation from above, term by term:

print(s2.SECTION.heading)
bank, river = world.vector("bank"), world.vector("river")
print(s2.spelled_out("bank", "river", bank, river))

# %%
# Now *bank* with the other words. :claim:`Bank has more to do with river than with money
# <S2.dot.bank_river > S2.dot.bank_money>` in this world, because a river is more of a place than
# money is. With *the* it shares no axis, so the dot product is
# :measured:`0 <S2.dot.bank_the>`.

for word in ("money", "the", "bank"):
    print(s2.dot("bank", word, dot_product(bank, world.vector(word)).item()))

# %%
# Drawn as arrows
# ---------------
#
# A vector of two numbers can be drawn as an arrow: so far to the right, so far up. Two arrows
# that point the same way have a positive dot product. At a right angle it is zero. Pointing
# apart, it is negative. Long arrows give larger numbers than short ones.

figures.dot_product_arrows(s2.ARROWS)
plt.show()

# %%
# The idea of the softmax
# -----------------------
#
# We now have a number for each word of *the river bank*: how much *bank* has to do with *the*,
# with *river* and with itself. Such numbers are called **scores**. We want shares: positive
# numbers that add up to one, larger where the score is larger.
#
# Softmax does it in two steps. First it takes the **exponential** of each score, that is, the
# number e (about :measured:`2.718 <exp(1)>`) to the power of the score. This makes every number
# positive, and turns a score of zero into :measured:`1 <exp(0)>`. Then it divides each by their
# sum.
#
# By hand
# -------
#
# .. by-hand:: softmax bank
#
# The code
# --------
#
# The package subtracts the largest score first. That changes no share, since the same factor
# stands above and below the fraction line and cancels, but it keeps the exponentials of large
# scores from growing too large to hold.

print(source(softmax))

# %%
# The scores of *bank* against the three words of *the river bank*, their shares, and the shares
# when each score is made five times as large:

scores = dot_product(bank, world.embed("the river bank"))
weights = softmax(scores)
sharp = softmax(s2.SHARPNESS * scores)
print(s2.softmaxes(("the", "river", "bank"), scores, weights, sharp))

# %%
# The same numbers as bars:

words = ("the", "river", "bank")
# sphinx_gallery_thumbnail_number = 2
figures.softmax_in_action(world, words, scores, weights, sharp, s2.SHARPNESS)
plt.show()

# %%
# What to notice
# --------------
#
# - A score of zero still gets a share: :measured:`0.185 <S2.softmax.the>` for *the*. Softmax
#   never gives exactly nothing.
# - The order stays: :claim:`the larger the score, the larger the share <S2.softmax.the <
#   S2.softmax.river < S2.softmax.bank>`.
# - Larger scores make the shares more uneven. Five times the scores, and *bank* takes
#   :measured:`0.899 <S2.softmax_sharp.bank>` of the whole instead of
#   :measured:`0.498 <S2.softmax.bank>`. Remember this one: it comes back in the fifth
#   lesson.
#
# Your turn
# ---------
#
# .. exercise:: d.dot
#    :places: 2
#
#    .. calculation:: d = dot river money
#
#    What is the dot product of *river* and *money*?
#
#    .. mistake:: S2.dot.bank_money
#
#       This is *bank* with *money*. Start from the row of *river*.
#
#    .. mistake:: S2.dot.bank_river
#
#       This is *river* with *bank*. The second row must be that of *money*.
#
#    .. mistake:: S1.embedding.river.water + S1.embedding.river.place + S1.embedding.money.money +
#       S1.embedding.money.place
#
#       You added all the numbers. On each axis, multiply the two; then add the products.
#
#    .. mistake:: (S1.embedding.river.water + S1.embedding.river.place) *
#       (S1.embedding.money.money + S1.embedding.money.place)
#
#       You added first and multiplied then. Multiply axis by axis first, and add the products.
#
#    .. solution::
#
#       .. by-hand:: dot river money
#
#       They meet on one axis only: both are a bit of a place.
#
# .. exercise:: S3.weights.river_bank.river.bank
#
#    Now *river* looks at the sentence *the river bank*. Its scores are
#    :measured:`0 <S3.scores.river_bank.river.the>` with *the*,
#    :measured:`0.90 <S3.scores.river_bank.river.river>` with itself and
#    :measured:`0.54 <S3.scores.river_bank.river.bank>` with *bank*. What share does *bank* get?
#
#    .. mistake:: exp(S3.scores.river_bank.river.bank)
#
#       This is the exponential. Divide it by the sum of all three exponentials.
#
#    .. mistake:: S3.scores.river_bank.river.bank /
#       (S3.scores.river_bank.river.river + S3.scores.river_bank.river.bank)
#
#       You divided the scores themselves. Take the exponential of each first.
#
#    .. mistake:: exp(S3.scores.river_bank.river.bank) /
#       (exp(S3.scores.river_bank.river.river) + exp(S3.scores.river_bank.river.bank))
#
#       You left *the* out of the sum. Its score is zero, but the exponential of zero is one.
#
#    .. mistake:: S3.weights.river_bank.river.river
#
#       This is the share that *river* gives itself.
#
#    .. mistake:: S2.softmax.river
#
#       This is the share that *bank* gives *river*. Here *river* does the looking.
#
#    .. solution::
#
#       .. by-hand:: softmax river
#
# .. exercise:: S2.softmax.river
#
#    Back to *bank* and its scores. Add ten to each of the three. What share does *river* get now?
#
#    .. mistake:: S2.softmax.river + 10
#
#       No share can be larger than one. Add ten to the scores, before the softmax.
#
#    .. mistake:: (S2.scores.river + 10) / (S2.scores.the + S2.scores.river + S2.scores.bank + 30)
#
#       You divided the scores themselves. Take the exponential of each first.
#
#    .. mistake:: S2.softmax.bank
#
#       This is the share of *bank* itself.
#
#    .. solution::
#
#       Nothing changes. Adding ten to a score multiplies its exponential by :math:`e^{10}`,
#       because
#
#       .. math:: e^{s + 10} = e^s \times e^{10}
#
#       The same factor stands in every exponential, so above and below each fraction line, and
#       cancels. Only the differences between scores count. This is why the package may subtract
#       the largest score first.
#
# .. exercise:: sharp.bank
#
#    .. calculation:: sharp = softmax bank
#       :sharpness: 2
#
#    Double each of the three scores of *bank* instead. What share does *bank* give itself? Guess
#    before you calculate: does its share double too?
#
#    .. mistake:: 2 * S2.softmax.bank
#
#       You doubled the share. Double the scores, then do the softmax again.
#
#    .. mistake:: S2.softmax.bank
#
#       This is the share as it was. Doubling the exponentials changes nothing, since the factor
#       cancels. Double the scores, before the exponential.
#
#    .. mistake:: exp(2 * S2.scores.bank)
#
#       This is the exponential. Divide it by the sum of all three exponentials.
#
#    .. mistake:: S2.softmax.bank ** 2
#
#       You squared the share. Doubling a score does square its exponential, but then divide by
#       the sum of the new exponentials.
#
#    .. mistake:: S2.softmax_sharp.bank
#
#       This is for scores five times as large. Here they are only doubled.
#
#    .. solution::
#
#       .. by-hand:: softmax bank
#          :sharpness: 2
#
# Try next
# --------
#
# - Multiply the scores by a number below one. What do the shares move towards?
# - Find a vector whose dot product with *bank* is zero although neither is all zeros.
#
# Where this leads
# ----------------
#
# We have scores and shares for one word. Doing the same for every word of the sentence at once,
# and mixing the words by their shares, is attention: :doc:`s3_raw_attention`.
