"""Self-attention by hand, and every number of it checked.

- :func:`dot_product`, :func:`softmax`, :func:`raw_attention`, :func:`attention` and
  :func:`causal_mask` are the formulas, on NumPy arrays.
- :data:`TOY_WORLD` is the four-word world that they are tried on; :class:`ToyWorld` makes
  others.
- :func:`measure_scaling` measures why scores are divided by √d_k.
- :func:`run` makes the results log, with every measurement by name.
- Every error raised on purpose is an :class:`AttnlabError`.
"""

from typing import TYPE_CHECKING

from attnlab.attention import (
    AttentionResult,
    attention,
    causal_mask,
    dot_product,
    raw_attention,
    softmax,
)
from attnlab.errors import (
    AttnlabError,
    InvalidTypeError,
    InvalidValueError,
    MissingDependencyError,
    OutputError,
    ShapeError,
    UnknownWordError,
)
from attnlab.results_log import Block, Line, Measurement, ResultsLog
from attnlab.scaling import ScalingMeasurement, measure_scaling
from attnlab.source import source
from attnlab.toy_world import TOY_WORLD, ToyWorld

if TYPE_CHECKING:
    from attnlab.reproduce import run

__version__ = "0.1.0"

__all__ = [
    "TOY_WORLD",
    "AttentionResult",
    "AttnlabError",
    "Block",
    "InvalidTypeError",
    "InvalidValueError",
    "Line",
    "Measurement",
    "MissingDependencyError",
    "OutputError",
    "ResultsLog",
    "ScalingMeasurement",
    "ShapeError",
    "ToyWorld",
    "UnknownWordError",
    "attention",
    "causal_mask",
    "dot_product",
    "measure_scaling",
    "raw_attention",
    "run",
    "softmax",
    "source",
]


if not TYPE_CHECKING:  # a type checker would take any name for one that is here

    def __getattr__(name: str) -> object:
        """Load the sections when :func:`run` is asked for: most programs never do."""
        if name != "run":
            raise AttributeError(f"module 'attnlab' has no attribute {name!r}")
        from attnlab.reproduce import run

        globals()["run"] = run
        return run

    def __dir__() -> list[str]:
        return sorted({*globals(), "run"})
