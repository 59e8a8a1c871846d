"""
1. The toy world
================

**The question:** how does a computer hold a word, and what does it know about *bank* before it
reads the rest of the sentence?

A computer calculates with numbers, so a language model begins by giving each word a list of
numbers. Such a list is a **vector**, and the vector that stands for a word is the word's
**embedding**.

Real models learn embeddings of hundreds of numbers that nobody can read. We write ours by hand,
so short that we can read them: a toy world.
"""

# %%
# The idea
# --------
#
# Each place in the list has a meaning that we choose. We call the places **axes** and name them
# *water*, *money*, *place* and *filler*. A number near one says "much of this", and
# zero says "nothing of this".
#
# *river* has much water and is a bit of a place. *money* has much money. *the* only fills a
# sentence. *bank* is the interesting one: a place above all, with a little water (the bank of a
# river) and just as much money (the bank that keeps it).
#
# By hand
# -------
#
# There is nothing to calculate yet, only to read. Ask how much *water* is in *bank*: go to the
# row of *bank* and the column of *water*, and find
# :measured:`0.3 <S1.embedding.bank.water>`. Ask the same of *river*, and find
# :measured:`0.9 <S1.embedding.river.water>`.
#
# Written as a list, in the order of the axes:
#
# .. math::
#
#    \text{bank} = [\text{water},\ \text{money},\ \text{place},\ \text{filler}]
#
# :measured:`0.3 <S1.embedding.bank.water>` of water,
# :measured:`0.3 <S1.embedding.bank.money>` of money,
# :measured:`0.9 <S1.embedding.bank.place>` of place,
# :measured:`0.0 <S1.embedding.bank.filler>` of filler.

# %%
# The code
# --------
#
# The package ``attnlab`` has this world built in, as ``TOY_WORLD``. We print its table. Each line
# that these cells print also stands in the workshop's results log, letter for letter.

from attnlab import TOY_WORLD
from attnlab.sections import s1_toy_world as s1

world = TOY_WORLD
print(s1.SECTION.heading)
print(s1.embeddings(world))

# %%
# Two sentences
# -------------
#
# Both sentences end in the same word. You know at once which bank is meant, because you read the
# word before it. The question of the whole workshop is how a calculation can know it too.

print(s1.sentences(world))

# %%
# A sentence becomes a table of numbers: one row a word, one column an axis. Such a table is a
# **matrix**, and this one is always called *X*. Its **shape** is how many rows and columns it
# has.

X_river = world.embed("the river bank")
X_money = world.embed("the money bank")
print("X of the river bank:")
print(X_river)
print("shape:", X_river.shape)
print("X of the money bank:")
print(X_money)

# %%
# What to notice
# --------------
#
# Look at the last row of both matrices. It is the same row: an embedding belongs to the word, not
# to the sentence. :claim:`Bank has exactly as much water as money <S1.embedding.bank.water ==
# S1.embedding.bank.money>`, whoever stands beside it.

print(s1.one_row(world))

# %%
# So before attention, the computer cannot tell the two banks apart. Nothing in the row of *bank*
# says which one is meant; the answer lies in the other rows.
#
# Your turn
# ---------
#
# Take a pencil, and look at the answers last. On the page, type your number to have it checked. A
# decimal comma or point will do, and so will ``1/4`` or ``25 %``.
#
# .. exercise:: S1.embedding.money.place
#    :places: 1
#
#    How much *place* is in *money*?
#
#    .. mistake:: S1.embedding.money.money
#
#       This number stands in the row of *money* below *money*, and in the row of *bank* below
#       *place*. You need the row of *money* and the column *place*.
#
#    .. mistake:: S1.embedding.river.place
#
#       This number stands in the row of *river*. You need the row of *money*.
#
#    .. solution::
#
#       Go along the row of *money* to the column *place*.
#
# .. exercise:: S1.embedding.the.money + S1.embedding.money.money + S1.embedding.bank.money
#    :places: 1
#
#    Write down *X* for *the money bank*. What do the numbers in its column *money* add up to?
#
#    .. mistake:: S1.embedding.the.money + S1.embedding.river.money + S1.embedding.bank.money
#
#       This is the sum for *the river bank*, or of the column *water*. You need *the money bank*
#       and the column *money*.
#
#    .. mistake:: S1.embedding.money.water + S1.embedding.money.money + S1.embedding.money.place +
#       S1.embedding.money.filler
#
#       This is the sum of the row of *money*. A column goes from top to bottom, one number a
#       word.
#
#    .. mistake:: S1.embedding.bank.water + S1.embedding.bank.money + S1.embedding.bank.place +
#       S1.embedding.bank.filler
#
#       This is the sum of the row of *bank*. A column goes from top to bottom, one number a word.
#
#    .. solution::
#
#       The column *money* has one number a word: :measured:`0.0 <S1.embedding.the.money>` for
#       *the*, :measured:`0.9 <S1.embedding.money.money>` for *money* and :measured:`0.3
#       <S1.embedding.bank.money>` for *bank*. Add the three.
#
# .. exercise:: 10 * world.size.axes
#
#    Another sentence has ten words, on the same axes. How many numbers does its *X* hold?
#
#    .. mistake:: 10 + world.size.axes
#
#       You added rows and columns. Each of the ten rows holds a number for every axis.
#
#    .. mistake:: 3 * world.size.axes
#
#       This is the *X* of a sentence of three words. Here there are ten.
#
#    .. mistake:: world.size.words * world.size.axes
#
#       This is the whole table of our words. *X* has a row for each word of the sentence.
#
#    .. solution::
#
#       *X* has one row a word and one column an axis, so its shape is ten rows by
#       :measured:`four <world.size.axes>` columns. Multiply the two.
#
# .. exercise:: (S1.embedding.river.water != S1.embedding.money.water) +
#    (S1.embedding.river.money != S1.embedding.money.money) +
#    (S1.embedding.river.place != S1.embedding.money.place) +
#    (S1.embedding.river.filler != S1.embedding.money.filler)
#
#    Replace *river* by *money* in *the river bank*. How many of the numbers in *X* change?
#
#    .. mistake:: world.size.axes
#
#       One whole row is replaced, but look at it number by number: one of them stays as it was.
#
#    .. mistake:: (S1.embedding.river.water != S1.embedding.money.water) +
#       (S1.embedding.river.money != S1.embedding.money.money)
#
#       Water and money change, and so does one more. Compare the rows of *river* and *money* on
#       every axis.
#
#    .. mistake:: 3 * world.size.axes
#
#       This is how many numbers there are. The rows of *the* and *bank* stay as they are.
#
#    .. solution::
#
#       Only the middle row changes. Water goes from :measured:`0.9 <S1.embedding.river.water>` to
#       :measured:`0.0 <S1.embedding.money.water>`, money the other way, and place from
#       :measured:`0.3 <S1.embedding.river.place>` to :measured:`0.1 <S1.embedding.money.place>`.
#       Filler is :measured:`0.0 <S1.embedding.money.filler>` before and after. The row of *bank*
#       does not notice: that is the puzzle.
#
# Try next
# --------
#
# - Write down a row for *boat*. Which axes does it need? Would you add a new axis?
# - Change the words of ``world.embed("the river bank")`` to another order, and look at *X*.
# - Ask for a word that is not there, ``world.embed("the rivr bank")``, and read what comes back.
#
# Where this leads
# ----------------
#
# To let *bank* learn from *river*, we need a number that says how much two words have to do with
# each other, and a way to turn such numbers into shares. These are the dot product and the
# softmax: :doc:`s2_dot_softmax`.
