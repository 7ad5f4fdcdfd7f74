"""The forms that an expression of the bound way may have, to be spelt as GBNF or as JSON Schema."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ref:
    """Another rule."""

    rule: str


@dataclass(frozen=True)
class Text:
    """One of some texts, in quotes."""

    values: tuple[str, ...]


@dataclass(frozen=True)
class Whole:
    """One of some whole numbers."""

    values: tuple[int, ...]


@dataclass(frozen=True)
class Group:
    """Arguments of which at most one is passed, by name.

    Attributes:
        name: of the group.
        options: names with their values.
        required: whether one has to be passed.
    """

    name: str
    options: tuple[tuple[str, Ref | Text | Whole], ...]
    required: bool


@dataclass(frozen=True)
class Call:
    """A tool with things in their places and arguments by name."""

    tool: str
    places: tuple[tuple[str, Ref | Text], ...]
    groups: tuple[Group, ...] = ()


@dataclass(frozen=True)
class Infix:
    """Two forms with a sign between them; the left one may stand alone where the rest is optional."""

    left: Ref
    signs: tuple[str, ...]
    right: Ref | Whole
    optional: bool = False


@dataclass(frozen=True)
class Choice:
    """One class where something holds, else another."""

    yes: Text
    test: Ref
    no: Text


Form = Ref | Text | Whole | Call | Infix | Choice
Rules = dict[str, list[Form]]


def productive(rules: Rules) -> Rules:
    """The rules without what never comes to an end."""
    ending: set[str] = set()
    while found := {
        name for name, forms in rules.items() if name not in ending and any(refs(form) <= ending for form in forms)
    }:
        ending |= found
    return {name: [form for form in forms if refs(form) <= ending] for name, forms in rules.items() if name in ending}


def refs(value: object) -> frozenset[str]:
    """The rules that a form refers to; where it may stand without its rest, those of its beginning alone."""
    if isinstance(value, Ref):
        return frozenset({value.rule})
    if isinstance(value, tuple):
        return frozenset().union(*map(refs, value))
    return frozenset().union(*map(refs, getattr(value, "__dict__", {}).values()))


def written_by(rules: Rules, start: str) -> frozenset[str]:
    """The texts in quotes that may be written, beginning with a rule."""
    reached = reachable(rules, start)
    return frozenset().union(*(_texts(form) for name in reached for form in rules[name]))


def reachable(rules: Rules, start: str) -> list[str]:
    """The rules that a rule may lead to, itself first."""
    found = [start]
    for name in found:
        found += [ref for form in rules[name] for ref in sorted(refs(form)) if ref not in found]
    return found


def _texts(value: object) -> frozenset[str]:
    if isinstance(value, Text):
        return frozenset(value.values)
    parts = value if isinstance(value, tuple) else tuple(getattr(value, "__dict__", {}).values())
    return frozenset().union(*map(_texts, parts))
