"""Show a function as it stands in the package."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any


def source(function: Callable[..., Any]) -> str:
    """Return a function's own source without its docstring, so that the formula stands out.

    Parameters
    ----------
    function : callable
        A function written in Python.

    Returns
    -------
    str
        The lines of its definition.
    """
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    definition = ast.parse("\n".join(lines)).body[0]
    assert isinstance(definition, ast.FunctionDef)
    first = definition.body[0]
    if ast.get_docstring(definition) and first.end_lineno:
        del lines[first.lineno - 1 : first.end_lineno]
    return "\n".join(lines)
