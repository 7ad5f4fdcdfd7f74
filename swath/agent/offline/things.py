"""From the parse tree to the meaning: things and the clauses around a question.

One method per rule of `grammar.lark` that leaves a node; `steps.py`, `measures.py`, `claims.py` and `answers.py` go on.
"""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lark import Token, Transformer

from swath.agent.offline import meaning as m
from swath.agent.offline.children import OperatorWord, has, listed_steps, piece, steps, things, values
from swath.agent.offline.clauses import (
    Assumption,
    Context,
    Filter,
    HeadedRisk,
    Panelled,
    Restated,
    Told,
    Vague,
    Where,
    Without,
)
from swath.agent.offline.meaning import EVERYTHING, SAME, THEY
from swath.agent.offline.unsettled import Unsettled


@dataclass(frozen=True)
class Classes:
    """Classes listed, and classes taken off; `joined` are the terminals between those listed."""

    words: tuple[m.ClassWord, ...]
    without: tuple[m.ClassWord, ...] = ()
    joined: frozenset[str] = frozenset()


_VAGUE: dict[str, m.Vagueness] = {"SMALLISH": "small", "BIGGISH": "large", "ISOLATED": "isolated"}


class ThingReader(Transformer[Token, Any]):
    """Things, what narrows them down, and the clauses around a question."""

    def __default__(self, data: Any, children: list[Any], meta: Any) -> Any:
        """Every rule that leaves a node has a method; a rule without one would lose what it holds."""
        raise NotImplementedError(f"no method reads the rule {data}")

    def nothing(self, children: list[Any]) -> None:
        """A word that only introduces."""

    def shown(self, children: list[Any]) -> None:
        """A word that only says that it is seen."""

    def lead(self, children: list[Any]) -> Any:
        return children[0]

    tail = lead

    def stop_(self, children: list[Any]) -> None:
        """The end of a sentence."""

    def context(self, children: list[Any]) -> Context:
        return Context(things(children)[0].having(*steps(children)))

    def headed_risk(self, children: list[Any]) -> HeadedRisk:
        return HeadedRisk()

    def panelled(self, children: list[Any]) -> Panelled:
        return Panelled(things(children)[0])

    def panelled_share(self, children: list[Any]) -> Panelled:
        return Panelled(things(children)[0], values(children, "QPCT")[0].value / 100)

    def without_lead(self, children: list[Any]) -> Without:
        listed = next(child for child in children if isinstance(child, Classes))
        if listed.without:
            raise Unsettled("It takes a class off what it leaves out.")
        return Without(listed.words)

    def restated(self, children: list[Any]) -> Restated:
        return Restated(things(children)[0].having(*steps(children)))

    def keep(self, children: list[Any]) -> Filter:
        return Filter(steps(children), next(iter(things(children)), None))

    def drop(self, children: list[Any]) -> Filter:
        sizes = [m.Size(_complement(size.high), _complement(size.low)) for size in steps(children)]
        return Filter(tuple(sizes), next(iter(things(children)), None))

    def filtered_(self, children: list[Any]) -> m.Thing | None:
        return next(iter(things(children)), None)

    def irradiance(self, children: list[Any]) -> Assumption:
        return Assumption(irradiance=values(children, "QIRR")[0])

    def efficiency(self, children: list[Any]) -> Assumption:
        value = values(children, "QPCT", "NUM")[0]
        share = value.value / 100 if value.unit == "percent" or value.value > 1 else value.value
        return Assumption(efficiency=share)

    def thing(self, children: list[Any]) -> m.Thing:
        thing = things(children)[0]
        narrowing = steps(children)
        if m.Whole() in narrowing:
            narrowing = tuple(step for step in narrowing if step != m.Whole())
            narrowing = (*narrowing, m.Whole()) if thing.objects else narrowing
        return thing.having(*narrowing)

    def picked(self, children: list[Any]) -> m.Thing:
        pick = next(child for child in children if isinstance(child, m.Pick))
        return replace(things(children)[0], regions=True).having(*steps(children), pick)

    def picked_split(self, children: list[Any]) -> m.Thing:
        """Words for the second largest on both sides of the noun."""
        pick = self.pick([child for child in children if isinstance(child, Token)])
        return replace(things(children)[0], regions=True).having(*steps(children), pick)

    def picked_they(self, children: list[Any]) -> m.Thing:
        pick = next(child for child in children if isinstance(child, m.Pick))
        return THEY.having(*steps(children), pick)

    def picked_after(self, children: list[Any]) -> m.Thing:
        return self.picked(children)

    def z_thing(self, children: list[Any]) -> m.Thing:
        return self.thing(children)

    def z_mods(self, children: list[Any]) -> tuple[Any, ...]:
        return steps(children)

    z_mod = z_mods

    def same(self, children: list[Any]) -> m.Thing:
        return SAME.having(*(child for child in children if isinstance(child, m.Pick)))

    def area_picked(self, children: list[Any]) -> m.Thing:
        return self.picked(children)

    def nearest(self, children: list[Any]) -> m.Thing:
        return self._by_distance(children, "nearest")

    def farthest(self, children: list[Any]) -> m.Thing:
        return self._by_distance(children, "farthest")

    def _by_distance(self, children: list[Any], which: Any) -> m.Thing:
        if len(things(children)) != 2:
            raise Unsettled(f"It is not clear what has to be {which}: name one class.")
        thing, target = things(children)
        return replace(thing, regions=True).having(*steps(children), m.Pick(which, 1, target))

    def pick(self, children: list[Any]) -> m.Pick:
        smallest = has(children, "SMALLEST")
        numbers = values(children, "NUM")
        nth = values(children, "NTH")
        if nth:
            return m.Pick("nth smallest" if smallest else "nth largest", nth[0])
        return m.Pick("smallest" if smallest else "largest", int(numbers[0].value) if numbers else 1)

    def base(self, children: list[Any]) -> m.Thing:
        classes = next(child for child in children if isinstance(child, Classes))
        noun = next((child for child in children if isinstance(child, str) and not isinstance(child, Token)), "")
        vague: m.Vagueness = next((said for kind, said in _VAGUE.items() if has(children, kind)), "")
        return m.Thing(
            classes.words,
            without=classes.without,
            areal=noun == "AREA",
            regions=noun == "REGION",
            vague=vague,
            listed=classes.joined | ({"ANY"} if has(children, "ANY") else set()),
        )

    def base_but(self, children: list[Any]) -> m.Thing:
        """All but the largest."""
        return replace(self.base(children), regions=True).having(*self.but_picked(children))

    def but_picked(self, children: list[Any]) -> tuple[m.Step, ...]:
        return tuple(m.Not(child) for child in children if isinstance(child, m.Pick))

    def base_regions(self, children: list[Any]) -> m.Thing:
        return replace(self.base(children), regions=True)

    def base_area(self, children: list[Any]) -> m.Thing:
        return replace(self.base(children), areal=True)

    def base_not(self, children: list[Any]) -> m.Thing:
        words = tuple(word for child in children if isinstance(child, Classes) for word in child.words)
        return m.Thing(words, inverted=True)

    def base_with_area(self, children: list[Any]) -> m.Thing:
        return replace(self.base(children), areal=True).having(*steps(children))

    def everything(self, children: list[Any]) -> m.Thing:
        return EVERYTHING

    def they(self, children: list[Any]) -> m.Thing:
        return replace(THEY, areal="AREA" in children)

    def noun_(self, children: list[Any]) -> str:
        return str(children[-1].type) if children else ""

    def classes(self, children: list[Any]) -> Classes:
        listed = next((child for child in children if isinstance(child, Classes)), Classes(()))
        joined = {child.type for child in children if has([child], "AND", "OR", "COMMA")}
        words = _distinct([*listed.words, *values(children, "CLASS")])
        return replace(listed, words=words, joined=listed.joined | joined)

    def classes_except(self, children: list[Any]) -> Classes:
        listed = next(child for child in children if isinstance(child, Classes))
        joined = listed.joined | ({"IGNORE"} if has(children, "IGNORE") else set())
        return replace(listed, without=(*listed.without, *values(children, "CLASS")), joined=joined)

    def mods_(self, children: list[Any]) -> tuple[Any, ...]:
        return steps(children)

    def mods(self, children: list[Any]) -> tuple[Any, ...]:
        return steps(children)

    def mods_or(self, children: list[Any]) -> tuple[Any, ...]:
        options = tuple(
            tuple(step for step in steps([child]) if step != m.Whole()) for child in (children[0], children[-1])
        )
        return (m.EitherOf(options), *([m.Whole()] if m.Whole() in steps(children) else []))

    def conds_or(self, children: list[Any]) -> tuple[Any, ...]:
        return (m.EitherOf((listed_steps(children[0]), listed_steps(children[-1]))),)

    def opposite(self, children: list[Any]) -> tuple[Any, ...]:
        return (*(_not(step) for step in steps(children)), *_whole(children))

    def mod(self, children: list[Any]) -> tuple[Any, ...]:
        return (*steps(children), *_whole(children))

    def whole(self, children: list[Any]) -> m.Whole:
        return m.Whole()

    def conds_neither(self, children: list[Any]) -> tuple[Any, ...]:
        return tuple(_not(step) for step in steps(children))

    def mods_neither(self, children: list[Any]) -> tuple[Any, ...]:
        return (*(_not(step) for step in steps(children)), *_whole(children))

    def dropped(self, children: list[Any]) -> tuple[Any, ...]:
        return self.drop(children).sizes

    def where_lead(self, children: list[Any]) -> Where:
        return Where(steps(children))

    def pred_(self, children: list[Any]) -> tuple[Any, ...]:
        return steps(children)

    def pred(self, children: list[Any]) -> tuple[Any, ...]:
        return steps(children)

    def pred_not(self, children: list[Any]) -> tuple[Any, ...]:
        return _denied(steps(children))

    def conds(self, children: list[Any]) -> tuple[Any, ...]:
        told = has(children, "BECAUSE") and isinstance(children[-1], Vague) and bool(children[-1].risk)
        return steps(children[:-1] if told else children)

    def said(self, children: list[Any]) -> tuple[Any, ...]:
        return steps(children)

    def said_not(self, children: list[Any]) -> tuple[Any, ...]:
        return _denied(steps(children))

    def conds_not(self, children: list[Any]) -> tuple[Any, ...]:
        return (*listed_steps(children[0]), *_denied(listed_steps(children[-1])))

    def over(self, children: list[Any]) -> OperatorWord:
        return OperatorWord("over")

    def under(self, children: list[Any]) -> OperatorWord:
        return OperatorWord("under")


def _whole(children: Sequence[Any]) -> tuple[m.Step, ...]:
    """A relative clause ("buildings that are not within 5 m of vegetation") keeps or drops whole objects."""
    clauses = [piece(child).text.lower() for child in children if has([child], "REL")]
    relative = any(text.startswith(("that ", "which ", "who ")) for text in clauses)
    return (m.Whole(),) if relative and any(isinstance(step, _ABOUT_PLACES) for step in steps(children)) else ()


_ABOUT_PLACES = (m.Near, m.Inside, m.InPart, m.Not, m.EitherOf)


def _complement(bound: m.Bound | None) -> m.Bound | None:
    """The bound that keeps what another drops."""
    return None if bound is None else m.Bound(bound.limit, not bound.inclusive)


def _distinct(words: Sequence[m.ClassWord]) -> tuple[m.ClassWord, ...]:
    """Class words without those that mean the same classes as one before."""
    kept: dict[tuple[str, ...], m.ClassWord] = {}
    for word in words:
        kept.setdefault(word.names, word)
    return tuple(kept.values())


def _denied(conditions: tuple[Any, ...]) -> tuple[Any, ...]:
    """Not all of the conditions."""
    if not conditions or m.Whole() in conditions:
        raise Unsettled("It is not clear what is denied.")
    if len(conditions) == 1:
        return (_not(conditions[0]),)
    return (m.EitherOf(tuple((_not(condition),) for condition in conditions)),)


def _not(step: Any) -> Any:
    if step == m.Whole():
        raise Unsettled("It is not clear what is denied.")
    return m.Near(step.target, step.low) if isinstance(step, Told) and step.high is None else m.Not(step)
