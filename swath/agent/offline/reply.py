"""The last line of a program: the value in the unit asked for, its kind, its evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.amounts import units
from swath.agent.offline.image_facts import image_fact
from swath.agent.offline.program import Writer
from swath.agent.offline.trees import all_things_in, parts_in, things_in
from swath.agent.offline.unsettled import Unsettled
from swath.agent.offline.variables import plain
from swath.segment import vocabulary

_SMALL = frozenset({"building", "house", "warehouse", "solar", "vehicle", "car", "truck", "ship", "aircraft", "tank"})
"""Concepts whose single objects people give in square metres."""
_TIMES_TEN = {"ha": "10_000", "km2": "1_000_000", "km": "1000", "MW": "1000"}


def written(
    question: q.Question, *, ground_known: bool, writer_of: type[Writer] = Writer
) -> tuple[str, tuple[str, ...]]:
    """The program of a question, and notes on the unit of its answer.

    Args:
        question: settled.
        ground_known: whether the pixel size on the ground is known; without it, areas that are only compared with one
            another are counted in pixels.
        writer_of: which writer; that of the second grammar knows more steps.
    """
    writer = writer_of(by_pixels=not ground_known and _only_compares(question.answer))
    answer = question.answer
    if isinstance(answer, q.Choice):
        return _choice(writer, answer), ()
    if isinstance(answer, q.Ranking):
        return _ranking(writer, answer), ()
    if isinstance(answer, q.Fragmentation):
        regions = writer.regions(answer.thing)
        return _ended(writer, f'reply(fragmentation({regions}), kind="category", objects={regions})'), ()
    if isinstance(answer, q.PresentClasses):
        return _present(writer, question, answer), ()
    if isinstance(answer, q.Exists | q.Compared | q.Connected | q.AllOf | q.AnyOf | q.Denied | q.SeenClaim):
        return _claim(writer, answer), ()
    if isinstance(answer, q.Several):
        return _several(writer, question, answer)
    if isinstance(answer, q.Areas):
        return _areas(writer, question, answer)
    return _number(writer, question, answer)


def _ended(writer: Writer, reply: str) -> str:
    return "\n".join([*writer.lines, reply]) + "\n"


def _only_compares(answer: Any) -> bool:
    """Whether areas occur only in ratios, comparisons with one another and choices."""
    if isinstance(answer, q.AllOf | q.AnyOf):
        return all(_only_compares(claim) for claim in answer.claims)
    if isinstance(answer, q.Denied):
        return _only_compares(answer.claim)
    if isinstance(answer, q.Ratio):
        return not isinstance(answer.b, q.Count) or isinstance(answer.a, q.Count)
    return isinstance(answer, q.Choice | q.Ranking | q.Exists) or (
        isinstance(answer, q.Compared) and not isinstance(answer.right, m.Amount)
    )


def _claim(writer: Writer, claim: q.Claim) -> str:
    holds = writer.claim(claim)
    thing = next(things_in(claim), None)
    evidence = f", objects={writer.shown(thing)}" if thing else ""
    return _ended(writer, f'reply({holds}, kind="boolean"{evidence})')


def _choice(writer: Writer, choice: q.Choice) -> str:
    sign = ">" if choice.most else "<"
    rows = []
    for name, measure in zip(choice.names, choice.measures, strict=True):
        extent = _evidence(writer, measure) or "whole_image()"
        rows.append(f'    ("{name}", {writer.named(measure)}, {extent}),')
    writer.lines += ["options = [", *rows, "]", "best = options[0]", "for option in options[1:]:"]
    writer.lines += [f"    if option[1] {sign} best[1]:", "        best = option"]
    writer.lines += ["ties = [option for option in options if option[1] == best[1]]"]
    writer.lines += ['answer = best[0] if len(ties) == 1 else "neither"' if len(choice.names) == 2 else
                     'answer = " and ".join([option[0] for option in ties])']  # fmt: skip
    if choice.some:
        writer.lines += ["if best[1] <= 0:", '    answer = "none"']
    return _ended(writer, 'reply(answer, kind="category", objects=best[2])')


def _ranking(writer: Writer, ranking: q.Ranking) -> str:
    rows = []
    for name, measure in zip(ranking.names, ranking.measures, strict=True):
        rows.append(f'    ({writer.named(measure)}, "{name}"),')
    writer.lines += ["ranked = sorted([", *rows, f"], reverse={ranking.most})"]
    last = "" if ranking.last is None else ranking.last
    present = "found = [option[1] for option in ranked if option[0] > 0]"
    writer.lines += [present, f"answer = found[{ranking.first}:{last}]"]
    return _ended(writer, 'reply(", ".join(answer) if answer else "none", kind="text", objects=whole_image())')


def _present(writer: Writer, question: q.Question, answer: q.PresentClasses) -> str:
    names = ", ".join(f'"{name}"' for name in question.classes if name.endswith(answer.date))
    writer.lines.append(f"found = [name for name in [{names}] if area_px(segment(name)) > 0]")
    return _ended(writer, 'reply(", ".join(found) if found else "none", kind="text", objects=whole_image())')


def _several(writer: Writer, question: q.Question, several: q.Several) -> tuple[str, tuple[str, ...]]:
    shown: list[str] = []
    found: list[str | None] = []
    notes: tuple[str, ...] = ()
    for measure in several.measures:
        unit, note = unit_of(replace(question, answer=measure), measure)
        shown.append(writer.let("part", converted(writer.value(measure), measure, unit)))
        found.append(unit)
        notes += note
    if len(set(found)) > 1:
        raise Unsettled("It asks for two numbers in different units. Next: ask for them one by one.")
    evidence = _evidence(writer, several.measures[-1]) or "whole_image()"
    unit = found[0]
    said = f', unit="{unit}"' if unit not in (None, "count") else ""
    return _ended(writer, f'reply([{", ".join(shown)}], kind="ranking"{said}, objects={evidence})'), notes


def _areas(writer: Writer, question: q.Question, areas: q.Areas) -> tuple[str, tuple[str, ...]]:
    measure = q.Area(areas.thing)
    unit, notes = unit_of(question, measure)
    regions = writer.regions(areas.thing)
    one = converted("area", measure, unit)
    listed = writer.let("areas", f"[{one} for area in region_areas_m2({regions})]")
    return _ended(writer, f'reply({listed}, kind="ranking", unit="{unit}", objects={regions})'), notes


def _number(writer: Writer, question: q.Question, measure: q.Measure) -> tuple[str, tuple[str, ...]]:
    unit, notes = unit_of(question, measure)
    kind = _kind(measure)
    value = converted(writer.value(measure), measure, unit)
    if value.count("(") > 1 or " " in value:
        value = writer.let(_result_name(measure, unit), value)
    said = f', unit="{unit}"' if kind == "quantity" else ""
    evidence = _evidence(writer, measure)
    objects = f", objects={evidence}" if evidence else ""
    return _ended(writer, f'reply({value}, kind="{kind}"{said}{objects})'), notes


def _kind(measure: q.Measure) -> str:
    if isinstance(measure, q.SeenMeasure):
        return "percent" if measure.unit == "percent" else "quantity"
    if isinstance(measure, q.Count) or (isinstance(measure, q.ImageFact) and measure.name == "bands"):
        return "count"
    return "percent" if isinstance(measure, q.Share) else "quantity"


def _result_name(measure: q.Measure, unit: str | None) -> str:
    name = {
        q.Area: "area",
        q.Share: "percent",
        q.Distance: "distance",
        q.Spacing: "spacing",
        q.AreaStatistic: "size",
    }.get(type(measure), "result")
    return f"{name}_{(unit or '').replace(' ', '_')}".rstrip("_") if name != "percent" else name


def _evidence(writer: Writer, measure: Any) -> str:
    """The handle that stands behind a number."""
    if isinstance(measure, q.Count | q.AreaStatistic | q.Density | q.Spacing):
        return writer.regions(measure.thing)
    if isinstance(measure, q.Share) and measure.by_count:
        return writer.regions(measure.part)
    if isinstance(measure, q.Share):
        return writer.mask(measure.part) if measure.whole else writer.extent(measure.part)
    if isinstance(measure, q.ImageFact):
        return "whole_image()" if measure.name == "area" else ""
    if isinstance(measure, q.Distance) and measure.statistic:
        return writer.regions(measure.a)
    thing = next(things_in(measure), None)
    return writer.extent(thing) if thing else ""


# ---------------------------------------------------------------------- units
SI_OF: dict[type, str] = {
    q.Count: "count", q.Share: "percent", q.Perimeter: "m", q.Distance: "m", q.Spacing: "m", q.Power: "kW",
    q.Ratio: "ratio", q.Density: "per km2", q.Growth: "percent",
}  # fmt: skip


def unit_of(question: q.Question, measure: q.Measure) -> tuple[str | None, tuple[str, ...]]:
    """The unit of an answer, and a note where it was chosen for the person.

    Raises:
        Unsettled: the unit asked for does not fit what is measured.
    """
    asked = question.unit
    si = si_unit(measure)
    dimension = units()[si].dimension if si in units() else si
    if asked is not None:
        fits = units()[asked].dimension if asked in units() else "per km2" if asked in _DENSITIES else "none"
        if fits == dimension or (fits == "share" and si == "percent"):
            return asked, ()
        if fits == "area" and si == "percent":
            raise Unsettled(f'It asks for a share in "{asked}". Next: ask "what area", or for no unit.')
        if not (fits == "share" and si in ("ratio", "percent")):
            raise Unsettled(f'What it asks for is not measured in "{asked}". Next: ask for another unit, or for none.')
        return "percent", ()
    if dimension not in ("area", "length") or isinstance(measure, q.SeenMeasure):
        return si, ()
    typed = _typed_unit(question.answer, dimension)
    if typed:
        return typed, ()
    chosen = _usual(measure) if dimension == "area" else "m"
    names = {"m2": "square metres", "ha": "hectares"}
    return chosen, (f"In {names[chosen]}, as the question names no unit.",) if chosen in names else ()


_DENSITIES = ("per km2", "per ha", "per acre", "per sqmi")


def si_unit(measure: q.Measure) -> str:
    """The unit of a measure's value in the program."""
    if isinstance(measure, q.Area | q.AreaStatistic):
        return "px" if measure.in_pixels else "m2"
    if isinstance(measure, q.ImageFact):
        return image_fact(measure.name)[1]
    if isinstance(measure, q.SeenMeasure):
        return measure.unit
    if isinstance(measure, q.Difference):
        return si_unit(measure.a)
    if isinstance(measure, q.Times):
        return si_unit(measure.of)
    if isinstance(measure, q.Ratio) and isinstance(measure.b, q.Count) and isinstance(measure.a, q.Area):
        return "m2"
    return SI_OF[type(measure)]


def _typed_unit(answer: Any, dimension: str) -> str | None:
    """The unit of the first amount of the dimension that the question holds."""
    for part in parts_in(answer):
        if isinstance(part, m.Amount) and part.key and units()[part.key].dimension == dimension:
            return part.key
    return None


def _usual(measure: q.Measure) -> str:
    """Square metres for single objects of small things, hectares for covers."""
    things = list(all_things_in(measure))
    small = all(vocabulary.concept_of(word.word) in _SMALL for thing in things[:1] for word in thing.classes)
    return "m2" if small and things else "ha"


def converted(value: str, measure: q.Measure, unit: str | None) -> str:
    """An expression in SI units in the unit of the answer."""
    si = si_unit(measure)
    if unit in (None, si):
        return value
    if si == "ratio" and unit == "percent":
        return f"100 * {value}"
    if unit.startswith("per "):
        return f"{value} * {plain(units()[unit[4:]].size / units()['km2'].size)}"
    if " - " in value and not value.startswith("abs("):
        value = f"({value})"
    if unit in _TIMES_TEN:
        return f"{value} / {_TIMES_TEN[unit]}"
    return f'convert({value}, from_unit="{si}", to_unit="{unit}")'
