"""Self-attention by hand, and every number of it checked.

- :func:`dot_product`, :func:`softmax`, :func:`raw_attention`, :func:`attention` and
  :func:`causal_mask` are the formulas, on NumPy arrays.
- :data:`TOY_WORLD` is the four-word world that they are tried on; :class:`ToyWorld` makes
  others, and :func:`read_world` reads one from a file.
- :func:`measure_scaling` measures why scores are divided by √d_k.
- :func:`trace_word` writes out how attention makes the output of a word.
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
    WorldFileError,
)
from attnlab.results_log import Block, Line, Measurement, ResultsLog
from attnlab.scaling import ScalingMeasurement, measure_scaling
from attnlab.source import source
from attnlab.toy_world import TOY_WORLD, ToyWorld

if TYPE_CHECKING:
    from attnlab.reproduce import run
    from attnlab.trace import Trace, trace_word
    from attnlab.world_file import WorldFile, read_world

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
    "Trace",
    "UnknownWordError",
    "WorldFile",
    "WorldFileError",
    "attention",
    "causal_mask",
    "dot_product",
    "measure_scaling",
    "raw_attention",
    "read_world",
    "run",
    "softmax",
    "source",
    "trace_word",
]


#: What loads when it is asked for: most programs need neither the sections nor a file's reader.
_LAZY = {
    "WorldFile": "attnlab.world_file",
    "read_world": "attnlab.world_file",
    "Trace": "attnlab.trace",
    "run": "attnlab.reproduce",
    "trace_word": "attnlab.trace",
}

if not TYPE_CHECKING:  # a type checker would take any name for one that is here

    def __getattr__(name: str) -> object:
        if name not in _LAZY:
            raise AttributeError(f"module 'attnlab' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(_LAZY[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_LAZY})
