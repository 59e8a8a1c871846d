r"""
5. Why divide by √d
===================

**The question:** why are scores divided by the square root of the number of entries in a query?

The number of entries in a query and in a key is called :math:`d_k`, or just *d*. Our wired head
had two. Heads in real models have :given:`64 or 128 <the usual sizes in published models>`. This
lesson shows what goes wrong when *d* grows, and
that dividing by :math:`\sqrt{d}` puts it right.
"""

# %%
# The idea
# --------
#
# A dot product adds up one product for each entry. More entries, more products, larger sums. The
# second lesson showed that larger scores make a softmax more uneven. So with long vectors one key
# takes nearly all the weight, not because it fits so much better, but because all the numbers
# have grown.
#
# How much do they grow? We can say exactly, if the entries are random. Let each entry of the
# query and of the key be drawn from :math:`N(0, 1)`: random numbers with mean zero that typically
# lie about one away from it, some above and some below.
#
# How far a set of numbers typically lies from its mean is its **standard deviation**. Its square
# is the **variance**: the mean of the squared distances from the mean. Here both are one.
#
# By hand: the spread of a dot product
# ------------------------------------
#
# The dot product of a query *q* and a key *k* is a sum of *d* products:
#
# .. math::
#
#    q \cdot k = q_1 k_1 + q_2 k_2 + \cdots + q_d k_d
#
# *One product.* Its mean is zero, since plus and minus are equally likely. Its variance is the
# mean of :math:`q_1^2 k_1^2`. The two numbers know nothing of each other, so this mean is the
# product of two means:
#
# .. math::
#
#    \begin{aligned}
#    \text{mean}(q_1^2 k_1^2) &= \text{mean}(q_1^2) \times \operatorname{mean}(k_1^2) \\
#    &= 1 \times 1 = 1
#    \end{aligned}
#
# *The sum.* When independent numbers are added, their variances add. There are *d* of them, each
# with variance one:
#
# .. math::
#
#    \begin{aligned}
#    \text{variance}(q \cdot k) &= d \\
#    \text{standard deviation}(q \cdot k) &= \sqrt{d}
#    \end{aligned}
#
# *The cure.* Dividing every score by :math:`\sqrt{d}` divides their standard deviation by the
# same number, and makes it one again, however long the vectors are.
#
# That is a claim about random numbers, so we can measure it.
#
# The code
# --------
#
# For four values of *d* we draw one query and :measured:`8 <S5.keys>` keys, :measured:`2,000
# <S5.trials>` times over. We record the standard deviation of all dot products. We also record
# the largest weight of each softmax, on average: the **top weight**. If the keys shared the
# weight evenly, it would be one part in eight, :measured:`0.125 <1 / S5.keys>`. If one key took
# everything, it would be one.

import matplotlib.pyplot as plt
import numpy as np

from attnlab import figures, measure_scaling, source
from attnlab.sections import s5_scaling as s5

print(source(measure_scaling))

# %%
# The random numbers come from a **generator** that starts from a **seed**, the number zero. The
# same seed gives the same numbers every time, so you will get the digits that stand here.

print(s5.SECTION.heading)
print(s5.setup())

rng = np.random.default_rng(0)
sizes = [measure_scaling(rng, d, trials=2000, keys=8) for d in (4, 16, 64, 256)]
for size in sizes:
    print(s5.measured(size))
print(s5.conclusion(sizes))

# %%
# The two top weights against *d*. Each step to the right makes the vectors four times as long.

figures.scaling_max_weight(sizes, keys=8)
plt.show()

# %%
# What to notice
# --------------
#
# - The measured standard deviations lie close to :math:`\sqrt{d}`, as calculated: at the largest
#   size :measured:`16.03 <S5.std.256>` against :measured:`16.00 <S5.sqrt.256>`. :claim:`None is
#   more than two hundredths of its value away <0.98 * S5.sqrt.4 < S5.std.4 < 1.02 * S5.sqrt.4 and
#   0.98 * S5.sqrt.16 < S5.std.16 < 1.02 * S5.sqrt.16 and 0.98 * S5.sqrt.64 < S5.std.64 < 1.02 *
#   S5.sqrt.64 and 0.98 * S5.sqrt.256 < S5.std.256 < 1.02 * S5.sqrt.256>`; a sample of random
#   numbers never hits the value exactly.
# - Unscaled, :claim:`the top weight climbs with every size <S5.top_unscaled.4 <
#   S5.top_unscaled.16 < S5.top_unscaled.64 < S5.top_unscaled.256>`, from :measured:`0.522
#   <S5.top_unscaled.4>` to :measured:`0.941 <S5.top_unscaled.256>`. The winner takes nearly all.
# - Scaled, it :claim:`stays between a third and two fifths <1 / 3 < S5.top_scaled.4 <
#   S5.top_scaled.16 < S5.top_scaled.64 < S5.top_scaled.256 < 2 / 5>`.
#
# Why would winner-take-all be bad? Because a model learns by small changes. Where one weight is
# close to one and the others close to zero, a small change of the scores changes the weights
# hardly at all, and there is little to learn from.
#
# Your turn
# ---------
#
# .. exercise:: 2 * S5.sqrt.256
#    :places: 0
#
#    Make the vectors four times as long as the longest above. What standard deviation do their
#    dot products have?
#
#    .. mistake:: S5.sqrt.256
#
#       This is for the longest vectors above. The new ones are longer.
#
#    .. mistake:: 4 * S5.sqrt.256
#
#       The standard deviation does not grow as fast as the length. It is the square root of *d*.
#
#    .. mistake:: 4 * S5.d.256
#
#       This is the new *d*, which is the variance. Take its square root.
#
#    .. solution::
#
#       The new *d* is :measured:`1,024 <4 * S5.d.256>`, and the standard deviation is its square
#       root. Four times the length is twice the standard deviation.
#
# .. exercise:: 20 / S5.sqrt.64
#    :places: 1
#
#    A query and a key of :measured:`64 <S5.d.64>` entries have the dot product twenty. What score
#    goes into the softmax of a head that scales?
#
#    .. mistake:: 20 / S5.d.64
#
#       You divided by *d*. Divide by its square root.
#
#    .. mistake:: 20 * S5.sqrt.64
#
#       You multiplied by the square root. Divide by it.
#
#    .. mistake:: 20 - S5.sqrt.64
#
#       You subtracted the square root. Divide by it.
#
#    .. solution::
#
#       The square root of :measured:`64 <S5.d.64>` is :measured:`8 <S5.sqrt.64>`. Divide twenty
#       by it.
#
# .. exercise:: exp(8 / S5.sqrt.16) / (exp(8 / S5.sqrt.16) + 1)
#
#    A query of :measured:`16 <S5.d.16>` entries has the dot product eight with one key, and zero
#    with a second. Scale, then do the softmax. What weight does the first key get?
#
#    .. mistake:: exp(2 * S5.sqrt.16) / (exp(2 * S5.sqrt.16) + 1)
#
#       You left out the scaling. Divide both dot products by the square root of *d* first.
#
#    .. mistake:: exp(8 / S5.d.16) / (exp(8 / S5.d.16) + 1)
#
#       You divided by *d*. Divide by its square root.
#
#    .. mistake:: 1 / (exp(8 / S5.sqrt.16) + 1)
#
#       This is the weight of the second key.
#
#    .. mistake:: exp(8 / S5.sqrt.16)
#
#       This is the exponential. Divide it by the sum of both exponentials.
#
#    .. solution::
#
#       The square root of :measured:`16 <S5.d.16>` is :measured:`4 <S5.sqrt.16>`, so the scores
#       are :measured:`2 <8 / S5.sqrt.16>` and zero. Their exponentials are :measured:`7.389
#       <exp(8 / S5.sqrt.16)>` and one. Divide the first by the sum of the two. Unscaled, the
#       first key would get :measured:`0.9997 <exp(2 * S5.sqrt.16) / (exp(2 * S5.sqrt.16) + 1)>`.
#
# .. exercise:: S5.top_unscaled.256 * S5.keys
#    :places: 1
#
#    At the largest *d* above and without scaling, how many times the even share does the top
#    weight take?
#
#    .. mistake:: S5.top_scaled.256 * S5.keys
#
#       This is with scaling. The other column is meant.
#
#    .. mistake:: S5.top_unscaled.256 / S5.keys
#
#       You multiplied by the even share. Divide by it.
#
#    .. mistake:: S5.top_unscaled.256 - 1 / S5.keys
#
#       This is how much more it is. How many times as much is it?
#
#    .. solution::
#
#       The even share is :measured:`0.125 <1 / S5.keys>`, one part in :measured:`eight
#       <S5.keys>`. Divide the top weight, :measured:`0.941 <S5.top_unscaled.256>`, by it. With
#       scaling it would be :measured:`2.9 <S5.top_scaled.256 * S5.keys>` times the even share.
#
# Try next
# --------
#
# - Divide by *d* instead of :math:`\sqrt{d}`. What does the top weight move towards?
# - Use another seed. Which digits stay?
# - Use two keys instead of eight. Where does the even share lie, and where the scaled curve?
#
# Where this leads
# ----------------
#
# Now every part of a real head has its reason. The last lesson puts them together, checks them
# against PyTorch, hides the future, and says what attention alone cannot do:
# :doc:`s6_general_head`.
