"""The sections of the workshop, in order.

Each is a module whose ``SECTION`` says how to measure (returns a frozen dataclass), how to
report (yields the blocks of its log) and which figures it draws. A new section is one module,
one row of :data:`SECTIONS` and one lesson.
"""

from attnlab.sections import (
    s1_toy_world,
    s2_dot_softmax,
    s3_raw_attention,
    s4_wired_head,
    s5_scaling,
    s6_general_head,
)

SECTIONS = (
    s1_toy_world.SECTION,
    s2_dot_softmax.SECTION,
    s3_raw_attention.SECTION,
    s4_wired_head.SECTION,
    s5_scaling.SECTION,
    s6_general_head.SECTION,
)
