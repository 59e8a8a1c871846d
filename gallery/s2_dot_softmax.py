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
# Try next
# --------
#
# - Add ten to every score before the softmax. What happens to the shares, and why?
# - Multiply the scores by a number below one. What do the shares move towards?
# - Find a vector whose dot product with *bank* is zero although neither is all zeros.
#
# Where this leads
# ----------------
#
# We have scores and shares for one word. Doing the same for every word of the sentence at once,
# and mixing the words by their shares, is attention: :doc:`s3_raw_attention`.
