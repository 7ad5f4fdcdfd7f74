"""What the bound way lets a model write of one question: rules of forms, to be spelt as GBNF or as JSON Schema.

What the question does not name cannot be written: no other class, no other number. What stands together in the question
stays together: a class whose size is said is its objects of that size, a distance belongs to its target, and an answer
is of the kind that is asked for (`roles.py`). A model too small to copy a number can still choose what is measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from swath.agent.llm.bound_forms import (
    Call,
    Choice,
    Form,
    Group,
    Infix,
    Ref,
    Rules,
    Text,
    Whole,
    productive,
    written_by,
)
from swath.agent.llm.expression import BARE, Argument, Operation, label, operations
from swath.agent.llm.given import Given
from swath.agent.llm.offered import always, further, offered
from swath.agent.llm.roles import LOW, NAME, TRUTH, Names, Reach, Roles
from swath.agent.offline.meaning import Amount

NARROWING = ("intersection", "located_in")
"""How what lies near something is narrowed to a part of the image."""

COMPARISONS = (" > ", " >= ", " < ", " <= ", " == ")


def rules_of(given: Given, classes: Mapping[str, Names]) -> Rules:
    """The rules for a question; they begin with `answer`.

    Args:
        given: the question and what is certain about it.
        classes: names that may be written, each with the legend's names that it means.
    """
    loosened = [_Maker(replace(given, roles=roles), classes).rules() for roles in _looser(given.roles)]
    return min(loosened, key=lambda rules: _without_place(rules, given, classes))  # the strictest of the best


def _looser(roles: Roles) -> Iterator[Roles]:
    """What is certain, and less and less of it: it must not leave a quantity or a class without a place to be used."""
    yield roles
    if roles.subject:
        yield (roles := replace(roles, subject=None))
    if roles.reach:
        yield (roles := replace(roles, reach=None))
    if roles.sizes:
        yield replace(roles, sizes={})


def _without_place(rules: Rules, given: Given, classes: Mapping[str, Names]) -> int:
    """How many quantities and classes of the question no answer can use."""
    written = written_by(rules, "answer")
    wanted = [label(amount) for amount in given.amounts if amount.unit]
    wanted += [name for name, means in classes.items() if any(means == names for _, names in given.classes)]
    return sum(name not in written for name in wanted)


class _Maker:
    def __init__(self, given: Given, classes: Mapping[str, Names]) -> None:
        roles, self._given, self._classes = given.roles, given, classes
        self._label = {names: label for label, names in reversed(list(classes.items()))}
        self._sizes = {names: sizes for names, sizes in roles.sizes.items() if names in self._label}
        self._reach = roles.reach if roles.reach and roles.reach.target in self._label else None
        self._subject = roles.subject if self._reach and roles.subject in self._label else None
        held = [amount for sizes in self._sizes.values() for _, amount in sizes]
        held += [self._reach.amount] if self._reach else []
        self._loose = [amount for amount in given.amounts if not any(amount is other for other in held)]
        named = bool(given.classes)
        self._usual = {tool.family for tool in always()}
        beyond = [operations()[tool.name] for tool in further(given.beside) if tool.name in operations()]
        self._places = given.roles.part or any(item.returns == "mask" and item.needs_bound for item in beyond)
        fitting = [operations()[tool.name] for tool in offered(given.beside) if tool.name in operations()]
        self._fitting = [item for item in fitting if (item.arguments or not named) and self._is_meant(item)]

    def rules(self) -> Rules:
        made = [(operation, call) for operation in self._fitting for call in self._calls(operation)]
        rules: Rules = {"mask": [*self._masks()], "regions": [*self._regions()], "name": [*self._choice()]}
        measures: dict[str, list[Form]] = {}
        for operation, call in made:
            if operation.returns == "number":
                measures.setdefault(operation.unit, []).append(call)
            else:
                rules[operation.returns].append(call)
        rules["either"] = [Ref("mask"), Ref("regions")]
        if self._reach is not None:
            rules |= self._reached(self._reach)
        rules |= self._numbers(measures)
        rules = productive(rules)
        return rules | {"answer": self._answers(rules)}

    def _is_meant(self, operation: Operation) -> bool:
        """Whether a question that is certain in this leaves room for a tool."""
        roles = self._given.roles
        if any(argument.name == "n" for argument in operation.arguments):  # the n-th, the n largest
            return roles.superlative
        statistical = any(item.short == "statistic" and item.required for item in operation.arguments)
        if operation.returns == "number" and statistical:
            return roles.statistic is not None or roles.superlative
        if operation.unit == "m2" and operation.returns == "number":
            return roles.statistic is None or TRUTH in roles.answers
        if self._subject is not None and operation.needs_bound and len(operation.places) > 1:
            return operation.returns != self._unmeant()
        if operation.returns in ("mask", "regions") and operation.tool.family in self._usual:
            if not operation.places:
                return roles.part
            if self._subject is not None:
                return self._places and operation.tool.name in NARROWING
        return True

    def _unmeant(self) -> str:
        """What a thing near another is not taken for: its part there where objects are counted, else all of it.

        As the offline planner reads it: an area within 50 m of water is the part within 50 m, unless it says "whole".
        """
        roles = self._given.roles
        if roles.whole or roles.statistic is not None or "count" in roles.answers:
            return "mask"
        return "regions" if roles.answers & {"m2", "percent", "px"} else ""

    # ------------------------------------------------------------------------------------------ masks and objects
    def _bare(self) -> tuple[str, ...]:
        """Names that stand for their pixels anywhere: neither bound to a size nor to a distance."""
        roles = self._given.roles
        bound = set() if roles.of_class else set(self._sizes)
        bound |= {self._subject, self._reach.target} if self._subject and self._reach else set()
        return tuple(label for label, names in self._classes.items() if names not in bound)

    def _masks(self) -> Iterator[Form]:
        if bare := self._bare():
            yield Text(bare)

    def _regions(self) -> Iterator[Form]:
        apart = {self._subject, self._reach.target} if self._subject and self._reach else set()
        yield from (self._sized(names) for names in self._sizes if names not in apart)

    def _sized(self, names: Names) -> Call:
        """The objects of a class, of the size that is said of them."""
        groups = tuple(
            Group(side, ((bound, Text((label(amount),))),), required=True)
            for side, (bound, amount) in zip(("low", "high"), self._by_side(names), strict=False)
        )
        return Call("components", (("mask", Text((self._label[names],))),), groups)

    def _by_side(self, names: Names) -> Sequence[tuple[str, Amount]]:
        return sorted(self._sizes.get(names, ()), key=lambda size: size[0] not in ("larger_than", "min"))

    def _reached(self, reach: Reach) -> Rules:
        """What lies within a distance of its target; of the question's only subject nothing else is meant."""
        goal = self._sized(reach.target) if reach.target in self._sizes else Text((self._label[reach.target],))
        if self._subject is None:
            return {"goal": [goal]}
        things: list[Form] = [self._sized(self._subject)]
        for operation in self._fitting:
            if operation.returns == "regions" and [place.kind for place in operation.places] == ["regions"]:
                things += [
                    Call(call.tool, ((call.places[0][0], Ref("things")),), call.groups)
                    for call in self._calls(operation)
                ]
        stuff: list[Form] = [Ref("things")]
        if self._subject not in self._sizes:
            stuff.append(Text((self._label[self._subject],)))
        return {"goal": [goal], "things": things, "stuff": stuff}

    # ------------------------------------------------------------------------------------------------ calls
    def _calls(self, operation: Operation) -> list[Call]:
        """How a tool may be called; not at all where the question lacks what it needs."""
        reached = self._reaching(operation)
        if reached is not None:
            return [reached]
        kinds = [place.kind for place in operation.places]
        if kinds == ["mask"] and operation.returns == "regions" and self._subject:
            return []  # pieces of what lies near something are no objects that anybody has named
        groups = self._groups(operation)
        if groups is None:
            return []
        if kinds == ["number", "number"]:
            if not self._given.roles.of_class and self._given.roles.answers:
                return []
            names = [place.short for place in operation.places]
            return [Call(operation.tool.name, self._pair(names, unit), tuple(groups)) for unit in self._units()]
        places = tuple((place.short, Ref(place.kind)) for place in operation.places)
        return [Call(operation.tool.name, places, chosen) for chosen in _at_least_one(operation, groups)]

    def _reaching(self, operation: Operation) -> Call | None:
        """A tool that takes the question's distance, with the target that it belongs to."""
        reach = self._reach
        if reach is None or len(operation.places) != 2 or not operation.needs_bound:
            return None
        if not any(item.short == reach.bound and item.unit == reach.amount.unit for item in operation.arguments):
            return None
        kind = operation.places[0].kind
        inner = {"regions": "things", "either": "stuff"}.get(kind, kind) if self._subject else kind
        side = "low" if reach.bound in LOW or reach.bound.startswith("min") else "high"
        group = Group(side, ((reach.bound, Text((label(reach.amount),))),), required=True)
        first, second = operation.places
        return Call(operation.tool.name, ((first.short, Ref(inner)), (second.short, Ref("goal"))), (group,))

    def _groups(self, operation: Operation) -> list[Group] | None:
        """What is passed by name; None where something that is required cannot be."""
        found = []
        plain = [item for item in operation.arguments if item.keyword and not item.side]
        for argument in sorted(plain, key=lambda item: not item.required):
            value = self._value(argument)
            if value is None and argument.required:
                return None
            if value is not None and not (argument.name == "of" and not self._given.roles.of_class):
                found.append(Group(argument.short, ((argument.short, value),), argument.required))
        sides = []
        for side in ("low", "high"):
            options = tuple(
                (item.short, Text(values))
                for item in operation.arguments
                if item.side == side and (values := self._of(item.unit))
            )
            sides += [Group(side, _merged(options), required=False)] if options else []
        return None if operation.needs_bound and not sides else [*found, *sides]

    def _value(self, argument: Argument) -> Ref | Text | Whole | None:
        if argument.kind == "choice":
            stated = self._given.roles.statistic
            return Text((stated,) if argument.short == "statistic" and stated in argument.choices else argument.choices)
        if argument.kind == "number":
            whole = tuple(int(item.value) for item in self._loose if not item.unit and item.value == int(item.value))
            return Whole(whole or tuple(range(1, 10))) if whole or argument.required else None
        if argument.kind in ("share", "bound"):
            values = self._of("percent" if argument.kind == "share" else argument.unit)
            return Text(values) if values else None
        return Ref(argument.kind)

    def _of(self, *dimensions: str) -> tuple[str, ...]:
        """The loose quantities of some dimensions."""
        return tuple(dict.fromkeys(label(amount) for amount in self._loose if amount.unit in dimensions))

    # ------------------------------------------------------------------------------------------------ numbers
    def _units(self) -> list[str]:
        return list(dict.fromkeys(item.unit for item in self._fitting if item.returns == "number"))

    def _pair(self, names: Sequence[str], unit: str) -> tuple[tuple[str, Ref], ...]:
        return tuple((name, Ref(f"of-{_rule(unit)}")) for name in names)

    def _numbers(self, measures: Mapping[str, list[Form]]) -> Rules:
        """Rules by unit, so that nothing is added to, compared with or divided by what has another."""
        rules: Rules = {}
        for unit, forms in measures.items():
            shares = [Call("percent", self._pair(("part", "whole"), other)) for other in measures]
            wanted = unit == "percent" and (self._given.roles.of_class or not self._given.roles.answers)
            rules[f"of-{_rule(unit)}"] = [*forms, *(shares if wanted else [])]
            one = Ref(f"of-{_rule(unit)}")
            alone = self._subject is not None and not self._given.roles.answers <= {TRUTH}
            rules[f"sum-{_rule(unit)}"] = [one if alone else Infix(one, (" + ", " - "), one, optional=True)]
            rules[f"limit-{_rule(unit)}"] = self._limits(unit)
        sums = [Ref(f"sum-{_rule(unit)}") for unit in measures]
        rules["number"] = [*sums]
        compared = [unit for unit in measures if self._compared(unit)] or list(measures)
        rules["claim"] = [
            Infix(Ref(f"sum-{_rule(unit)}"), COMPARISONS, Ref(f"limit-{_rule(unit)}")) for unit in compared
        ]
        if self._given.roles.covers and "px" in measures:
            rules["claim"] = [Infix(Ref("sum-px"), COMPARISONS, Ref("sum-px"))]
        if self._given.roles.several:
            rules["claim"] = [Infix(Ref("sum-count"), (" > ",), Whole((1,)))]
        rules["truth"] = [Infix(Ref("claim"), (" and ", " or "), Ref("claim"), optional=True)]
        rules["same"] = [Infix(one, COMPARISONS, one) for one in sums]
        return rules

    def _compared(self, unit: str) -> tuple[str, ...]:
        """Percentages and bare numbers of the question: nothing but what such numbers are compared with."""
        return self._of("") if unit in BARE else self._of(unit) if unit == "percent" else ()

    def _limits(self, unit: str) -> list[Form]:
        """What a number is compared with."""
        if compared := self._compared(unit):
            return [Text(compared)]
        quantities = self._of(unit)
        found: list[Form] = [Ref(f"sum-{_rule(unit)}"), Whole((0, 1) if unit == "count" else (0,))]
        return [*found, Text(quantities)] if quantities else found

    def _choice(self) -> Iterator[Form]:
        if len(self._classes) > 1:
            yield Choice(Text(tuple(self._classes)), Ref("same"), Text(tuple(self._classes)))

    def _answers(self, rules: Rules) -> list[Form]:
        """What may answer the question: of the kind that it asks for, where that is certain and can be measured."""
        wanted = self._given.roles.answers
        rule_of = {TRUTH: "truth", NAME: "name"}
        found: list[Form] = [
            Ref(rule)
            for rule in (rule_of.get(kind, f"sum-{_rule(kind)}") for kind in sorted(wanted))
            if rules.get(rule)
        ]
        return found or [Ref(rule) for rule in ("truth", "number", "name") if rules.get(rule)]


def _rule(unit: str) -> str:
    return re.sub(r"[^a-z0-9]", "", unit.lower())


def _merged(options: Iterable[tuple[str, Text]]) -> tuple[tuple[str, Text], ...]:
    """Arguments that differ in their unit alone are one."""
    found: dict[str, tuple[str, ...]] = {}
    for name, text in options:
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), *text.values)))
    return tuple((name, Text(values)) for name, values in found.items())


def _at_least_one(operation: Operation, groups: Sequence[Group]) -> list[tuple[Group, ...]]:
    """The groups of a call; a tool that does nothing without a bound is called with the lower, the upper or both."""
    sides = [group for group in groups if group.name in ("low", "high")]
    if not operation.needs_bound:
        return [tuple(groups)]
    others = [group for group in groups if group not in sides]
    forced = [Group(group.name, group.options, required=True) for group in sides]
    found = [(*others, group) for group in forced]
    return [*found, (*others, *forced)] if len(forced) > 1 else found
