"""Walks through meanings: every part, the things that are measured, copies with parts replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline.clauses import Risk, Vague

STEPS = (
    m.Size, m.Near, m.Touching, m.Overlapping, m.Inside, m.InPart, m.Not, m.EitherOf, m.Pick, m.Whole, m.Dated,
    m.Changed, m.Turned, m.SeenStep, Vague, Risk,
)  # fmt: skip
"""Everything that narrows a thing down; what is inside is not itself measured."""


OF_DATES = (m.Dated, m.Changed, m.Turned)
"""Steps that say at which of two dates something was."""
_AFTER_SIZE = tuple(kind for kind in STEPS if kind is not m.Size)


def rebuilt(node: Any, change: Callable[[Any], Any]) -> Any:
    """A tree with parts replaced: `change` gives the replacement of a part, or None to look inside it."""
    if isinstance(node, tuple):
        return tuple(rebuilt(part, change) for part in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    changed = change(node)
    if changed is not None:
        return changed
    parts = {entry.name: rebuilt(getattr(node, entry.name), change) for entry in fields(node)}
    return replace(node, **parts)


def parts_in(node: Any) -> Iterator[Any]:
    """Every part of a tree, the tree itself first."""
    yield node
    if isinstance(node, tuple):
        for part in node:
            yield from parts_in(part)
    elif is_dataclass(node) and not isinstance(node, type):
        for entry in fields(node):
            yield from parts_in(getattr(node, entry.name))


def all_things_in(node: Any) -> Iterator[m.Thing]:
    """Every thing of a tree, targets of distances included."""
    return (part for part in parts_in(node) if isinstance(part, m.Thing))


def things_in(node: Any) -> Iterator[m.Thing]:
    """The things that are measured, in order; not what they are near to."""
    if isinstance(node, m.Thing):
        yield node
    elif isinstance(node, tuple):
        for part in node:
            yield from things_in(part)
    elif is_dataclass(node) and not isinstance(node, (type, *STEPS)):
        for entry in fields(node):
            yield from things_in(getattr(node, entry.name))


def before_pick(thing: m.Thing, *steps: Any) -> m.Thing:
    """A thing with steps that apply before anything is picked of it; sizes come first of all."""
    first = m.Pick if not all(isinstance(step, m.Size) for step in steps) else _AFTER_SIZE
    at = next((i for i, step in enumerate(thing.steps) if isinstance(step, first)), len(thing.steps))
    return replace(thing, steps=(*thing.steps[:at], *steps, *thing.steps[at:]))


def placed(node: Any, part: str) -> Any:
    """A measure, or a thing, in a part of the image."""

    def changed(within: Any) -> Any:
        if isinstance(within, m.Thing):
            return before_pick(within, m.InPart(part))
        return within if isinstance(within, STEPS) else None

    return rebuilt(node, changed)
