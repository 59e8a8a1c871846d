"""Expressions over measurements, as roles state them: ``exp(S2.scores.river) > 1.7``.

An expression is arithmetic with names, numbers and a few functions, or a comparison of such, or
comparisons joined by ``and``. It is parsed, never executed as code.
"""

from __future__ import annotations

import ast
import difflib
import itertools
import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from attnlab.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

Value = float | int | bool
Known = TypeVar("Known")

#: The longest expression, and the most bits of a whole number: as large as a float can be.
LENGTH, BITS = 500, 1024
#: What part of a value, or how much of zero, must change at least, so that it is no rounding error.
CHANGE, NOISE = 1e-6, 1e-9

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.\w+)+")
# What Python reads but a reader does not: comments, 1_000, 0x10, and names like the placeholders.
_NOT_ARITHMETIC = re.compile(r"[^\x00-\x7f]|[#_\\]|(?<![\w.])0[xob]", re.IGNORECASE)


def _power(base: Value, exponent: Value) -> Value:
    """Raise to a power, whole numbers exactly, if the result is no larger than a float can be."""
    power: Value | complex = float(base) ** float(exponent)
    if isinstance(power, complex):
        raise ValueError("the root of a negative number")
    whole = isinstance(base, int) and isinstance(exponent, int) and exponent >= 0
    return base**exponent if whole else power


_BINARY: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
}
_UNARY: dict[type[ast.unaryop], Callable[[Value], Value]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Value, Value], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
FUNCTIONS: dict[str, Callable[..., Value]] = {
    "exp": math.exp,
    "sqrt": math.sqrt,
    "log": math.log,
    "abs": abs,
    "min": min,
    "max": max,
}


@dataclass(frozen=True)
class Expression:
    """A parsed expression.

    Attributes
    ----------
    text : str
        As it was written.
    names : tuple of str
        The measurements in it, each once, in order.
    constants : tuple of float or int
        The numbers that are written in it, with the sign before them.
    proves_nothing : bool
        Whether it has no name, and is no ``exp``, ``sqrt`` or ``log`` of a number.
    """

    text: str
    names: tuple[str, ...]
    constants: tuple[float | int, ...]
    _tree: ast.expr
    _placeholders: Mapping[str, str]

    @property
    def proves_nothing(self) -> bool:
        """Whether no measurement is in it and no function calculates anything."""
        match self._tree:
            case ast.Call(func=ast.Name(id="exp" | "sqrt" | "log"), args=[ast.Constant()]):
                return False
        return not self.names

    def evaluate(self, values: Mapping[str, Value]) -> Value:
        """Return the value.

        Parameters
        ----------
        values : mapping of str to float, int or bool
            At least those of `names`.

        Raises
        ------
        InvalidValueError
            If something in it is not allowed, or it has no value, such as ``1 / 0``.
        """
        try:
            return self._value(self._tree, values)
        except RecursionError as error:
            raise InvalidValueError(f"cannot calculate {self.text!r}: nested too deeply") from error
        except (ArithmeticError, ValueError, TypeError) as error:
            raise InvalidValueError(f"cannot calculate {self.text!r}: {error}") from error

    def check_matters(self, values: Mapping[str, Value]) -> None:
        """Raise unless every measurement matters where it stands.

        It must change the value of its side of a comparison, or of the whole if nothing is
        compared: ``A * 0 + 5`` and ``A - A`` say nothing of A. And nothing is compared without one.

        Parameters
        ----------
        values : mapping of str to float, int or bool
            At least those of `names`.

        Raises
        ------
        InvalidValueError
            If a measurement does not matter, or a comparison has none; the message says where.
        """
        for terms in _compared(self._tree):
            for left, right in itertools.pairwise(terms):
                if not (self._named(left) or self._named(right)):
                    raise InvalidValueError(
                        "each comparison must name a measurement, but "
                        f"{_source(left, self._placeholders)} is compared with "
                        f"{_source(right, self._placeholders)}"
                    )
            for term in terms:
                for name in self._named(term):
                    if not self._matters(name, term, values):
                        source = _source(term, self._placeholders)
                        raise InvalidValueError(
                            f"{source!r} is the same whatever {name} is, so it proves nothing"
                        )

    def _named(self, part: ast.expr) -> list[str]:
        """Return the measurements in a part, each once."""
        ids = [node.id for node in ast.walk(part) if isinstance(node, ast.Name)]
        return [self._placeholders[i] for i in dict.fromkeys(ids) if i in self._placeholders]

    def _matters(self, name: str, part: ast.expr, values: Mapping[str, Value]) -> bool:
        """Whether a part has another value if a measurement has."""
        before = self._value(part, values)
        for other in _instead(values[name], values.values()):
            try:
                after = self._value(part, {**values, name: other})
            except (ArithmeticError, ValueError, TypeError):
                continue
            if abs(after - before) > (CHANGE * abs(before) or NOISE):
                return True
        return False

    def _value(self, node: ast.expr, values: Mapping[str, Value]) -> Value:
        """Return the value of a part, if it is a number of usual size."""
        value = self._any_value(node, values)
        if isinstance(value, int) and value.bit_length() > BITS:
            raise ValueError("a whole number is too large")
        if not math.isfinite(value):
            raise ValueError(f"{_source(node, self._placeholders)!r} is {value}")
        return value

    def _any_value(self, node: ast.expr, values: Mapping[str, Value]) -> Value:
        """Return the value of a part."""
        match node:
            case ast.Constant(value=bool() | int() | float() as constant):
                return constant
            case ast.Name(id=name) if name in self._placeholders:
                return values[self._placeholders[name]]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                a, b = self._value(left, values), self._value(right, values)
                return _BINARY[type(op)](a, b)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return _UNARY[type(op)](self._value(operand, values))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
                return FUNCTIONS[name](*(self._value(arg, values) for arg in args))
            case ast.Compare(left=left, ops=ops, comparators=comparators) if all(
                type(op) in _COMPARE for op in ops
            ):
                if len({ast.dump(term) for term in (left, *comparators)}) <= len(comparators):
                    raise ValueError("a value is compared with itself")
                terms = [self._value(term, values) for term in (left, *comparators)]
                return all(
                    _COMPARE[type(op)](a, b)
                    for op, a, b in zip(ops, terms, terms[1:], strict=False)
                )
            case ast.BoolOp(op=ast.And(), values=parts):
                truths = [self._value(part, values) for part in parts]
                if not all(isinstance(truth, bool) for truth in truths):
                    raise ValueError("'and' joins comparisons, not numbers")
                return all(truths)
        raise ValueError(
            f"{_source(node, self._placeholders)!r} is not allowed: use measurement names, "
            f"numbers, + - * / ** ( ), {', '.join(FUNCTIONS)}, comparisons and 'and'"
        )


def _compared(tree: ast.expr) -> Iterator[list[ast.expr]]:
    """Yield the terms of each comparison in a chain of ``and``, or the whole on its own."""
    match tree:
        case ast.BoolOp(values=parts):
            for part in parts:
                yield from _compared(part)
        case ast.Compare(left=left, comparators=comparators):
            yield [left, *comparators]
        case _:
            yield [tree]


def _instead(value: Value, others: Iterable[Value]) -> Iterator[Value]:
    """Yield what a measurement might be instead."""
    if isinstance(value, bool):
        yield not value
    else:
        yield from (value + 1, value - 1, value * 1.5, -value, value + 1000, value - 1000, *others)


def _source(node: ast.expr, placeholders: Mapping[str, str]) -> str:
    """Return a part of an expression as it was written."""
    text = ast.unparse(node)
    for placeholder, name in placeholders.items():
        text = text.replace(placeholder, name)
    return text


def parse(text: str) -> Expression:
    """Parse an expression.

    Parameters
    ----------
    text : str
        For example ``S4.weights.bank.river > S4.weights.bank.bank``.

    Returns
    -------
    Expression
        Its names are not looked up yet.

    Raises
    ------
    InvalidValueError
        If it is no expression.
    """
    if len(text) > LENGTH:
        raise InvalidValueError(f"the expression {text[:40]!r}... has over {LENGTH} characters")
    if odd := _NOT_ARITHMETIC.search(_NAME.sub("", text)):
        raise InvalidValueError(f"{odd[0]!r} is not allowed in the expression {text!r}")
    names = tuple(dict.fromkeys(_NAME.findall(text)))
    placeholders = {f"_{i}_": name for i, name in enumerate(names)}
    for_python = _NAME.sub(lambda match: f"_{names.index(match[0])}_", text)
    try:
        tree = ast.parse(for_python.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InvalidValueError(f"cannot read the expression {text!r}") from error
    return Expression(text, names, tuple(_constants(tree)), tree, placeholders)


def _constants(node: ast.AST) -> Iterator[float | int]:
    """Yield the numbers in an expression, with the sign before them."""
    todo = [(node, 1)]
    while todo:
        node, sign = todo.pop()
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float() as value):
                yield sign * value
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                todo.append((operand, -sign))
            case _:
                todo += [(child, 1) for child in ast.iter_child_nodes(node)]


def look_up(names: Iterable[str], known: Mapping[str, Known]) -> dict[str, Known]:
    """Return what some names stand for.

    Parameters
    ----------
    names : iterable of str
        Dotted names.
    known : mapping of str to object
        All there are.

    Raises
    ------
    InvalidValueError
        If a name is unknown; the message gives the nearest ones.
    """
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
            hint = f"did you mean {' or '.join(near)}?" if near else "no name is like it"
            raise InvalidValueError(f"unknown measurement {name!r}: {hint}")
    return {name: known[name] for name in names}
