"""What is among the children of a node of the parse tree: things, steps, values of words, a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lark import Token

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.clauses import Risk, Vague
from swath.agent.offline.pieces import Piece

_OPERATORS: dict[str, q.Operator] = {
    "OVER": ">", "over": ">", "UNDER": "<", "under": "<", "ATLEAST": ">=", "ATMOST": "<=", "EXACTLY": "==",
}  # fmt: skip


def piece(token: Any) -> Piece:
    """What a token stands for."""
    value: Piece = token.value
    return value


def things(children: Sequence[Any]) -> list[m.Thing]:
    """The things among the children."""
    return [child for child in children if isinstance(child, m.Thing)]


def steps(children: Sequence[Any]) -> tuple[Any, ...]:
    """The steps among the children, lists of them opened."""
    found: list[Any] = []
    for child in children:
        if isinstance(child, tuple):
            found += child
        elif isinstance(child, (*_NARROWING, Vague, Risk)):
            found.append(child)
    return tuple(found)


def values(children: Sequence[Any], *kinds: str) -> list[Any]:
    """The values of the tokens of some kinds."""
    return [piece(child).value for child in children if isinstance(child, Token) and child.type in kinds]


def has(children: Sequence[Any], *kinds: str) -> bool:
    """Whether a token of one of the kinds is among the children."""
    return any(isinstance(child, Token) and child.type in kinds for child in children)


def operator(children: Sequence[Any]) -> q.Operator:
    """The comparison among the children.

    Raises:
        StopIteration: there is none, which the grammar excludes.
    """
    return next(
        _OPERATORS[name]
        for child in children
        for name in [child.type if isinstance(child, Token) else getattr(child, "operator", "")]
        if name in _OPERATORS
    )


@dataclass(frozen=True)
class OperatorWord:
    """A word for a comparison that is a rule of its own: "over", "under"."""

    operator: str


def bounds(sign: q.Operator, limit: m.Amount | q.Measure) -> tuple[m.Bound | None, m.Bound | None]:
    """Lower and upper bound of a comparison."""
    bound = m.Bound(limit, sign in (">=", "<=", "=="))
    return (bound if sign in (">", ">=", "==") else None), (bound if sign in ("<", "<=", "==") else None)


_NARROWING = (
    m.Size, m.Near, m.Touching, m.Inside, m.InPart, m.Not, m.EitherOf, m.Whole, m.Dated, m.Changed, m.Turned,
)  # fmt: skip


def listed_steps(child: Any) -> tuple[Any, ...]:
    """One step or several as a tuple."""
    return steps([child])
