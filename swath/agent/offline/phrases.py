"""Noun phrases for what is measured: things with what narrows them down, and numbers of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.amounts import units
from swath.agent.offline.image_facts import image_fact
from swath.agent.offline.seen import sentences as seen_sentences
from swath.segment import vocabulary
from swath.segment.dates import DATES

_STATISTICS = {
    "mean": "average",
    "median": "median",
    "std": "standard deviation of the",
    "min": "smallest",
    "max": "largest",
}
_DISTANCES = {None: "shortest", "mean": "average", "max": "largest", "min": "smallest"}
_PARTS = {
    "north": "northern half", "south": "southern half", "east": "eastern half", "west": "western half",
    "top": "upper half", "bottom": "lower half", "left": "left half", "right": "right half",
}  # fmt: skip


def is_plain(of: m.Thing) -> bool:
    """Whether a name says all of a thing."""
    return not (of.steps or of.inverted or of.without or of.also)


def one_of(word: m.ClassWord) -> str:
    """One thing of a class: "building", "water region"."""
    name = joined(word.names)
    return name if _many(name, word.names) == f"{name}s" else f"{name} region"


def with_article(measure: q.Measure) -> str:
    """A measure as a noun phrase with its article."""
    said = number(measure)
    return said if isinstance(measure, q.Times) else f"the {said}"


def number(measure: q.Measure) -> str:
    """A measure as a noun phrase without an article."""
    if isinstance(measure, q.Count):
        return f"number of {_counted(measure.thing)}"
    if isinstance(measure, q.Area):
        return f"{'pixel count' if measure.in_pixels else 'area'} of {thing(measure.thing)}"
    if isinstance(measure, q.Share):
        return _share(measure)
    if isinstance(measure, q.AreaStatistic):
        return f"{_STATISTICS[measure.statistic]} area of {_counted(measure.thing)}"
    if isinstance(measure, q.Perimeter):
        return f"length of the outline of {thing(measure.thing)}"
    if isinstance(measure, q.Distance):
        which = _DISTANCES.get(measure.statistic, measure.statistic)
        return f"{which} distance from {thing(measure.a)} to {thing(measure.b)}"
    if isinstance(measure, q.Spacing):
        if measure.statistic == "min":
            return f"shortest distance between any two of the {_counted(measure.thing)}"
        which = _DISTANCES.get(measure.statistic, measure.statistic)
        return f"{which} distance from each of the {_counted(measure.thing)} to the nearest other one"
    return _other_number(measure)


def _counted(of: m.Thing) -> str:
    return things(plainly(of))


def plainly(of: m.Thing) -> m.Thing:
    """A thing without saying that its objects are whole, where nothing else could be meant."""
    return replace(of, steps=tuple(step for step in of.steps if not isinstance(step, m.Whole)))


def _share(share: q.Share) -> str:
    if share.by_count and isinstance(share.whole, m.Thing):
        return f"share, by number, of {_counted(share.part)} among {_counted(share.whole)}"
    if share.whole is None:
        part = share.part
        said = narrowed("", part.steps).strip() if part.everything else thing(part)
        return f"share of the image that is {said}"
    if isinstance(share.whole, m.InPart):
        said = narrowed(
            class_names(share.part, plural=False), [step for step in share.part.steps if step != share.whole]
        )
        return f"share of the {part_words(share.whole.part)} that is {said}"
    whole = thing(share.whole) if share.whole.everything or share.whole.inverted else _covered(share.whole)
    inside = share.part.steps[-1] if share.part.steps else None
    if isinstance(inside, m.Inside) and share.part == share.whole.having(inside):
        return f"share of {whole} that is {'in ' if share.part.picked else ''}{thing(inside.target)}"
    return f"share of {whole} that is {thing(share.part)}"


def _covered(of: m.Thing) -> str:
    said = thing(of)
    return said if said.startswith("the ") else f"the {said}"


def _other_number(measure: q.Measure) -> str:
    if isinstance(measure, q.Density):
        per = f"area of {thing(measure.whole)}" if measure.whole else "area of the image"
        return f"number of {things(measure.thing)} per {per}"
    if isinstance(measure, q.Power):
        irradiance = measure.irradiance if measure.irradiance is not None else Decimal(1000)
        efficiency = measure.efficiency if measure.efficiency is not None else Decimal("0.2")
        return (
            f"peak power of {thing(measure.thing)} at {_digits(irradiance)} W/m2 "
            f"and an efficiency of {_digits(efficiency)}"
        )
    if isinstance(measure, q.ImageFact):
        return image_fact(measure.name)[2]
    if isinstance(measure, q.Times):
        return f"{_digits(measure.factor)} times {with_article(measure.of)}"
    if isinstance(measure, q.Growth):
        verb = "shrank" if measure.down else "grew"
        return f"percent by which the {number(measure.before)} {verb} to the {number(measure.after)}"
    if isinstance(measure, q.Ratio):
        return f"{number(measure.a)} divided by the {number(measure.b)}"
    if isinstance(measure, q.Difference):
        points = "in percentage points, " if isinstance(measure.a, q.Share) else ""
        if measure.absolute:
            return f"{points}difference between the {number(measure.a)} and the {number(measure.b)}"
        return f"{points}{number(measure.a)} less the {number(measure.b)}"
    if isinstance(measure, q.SeenMeasure):
        return seen_sentences.number(measure, thing)
    raise TypeError(f"no words for {type(measure).__name__}")


def thing(of: m.Thing) -> str:
    """A thing as a cover: "vegetation within 30 m of road"."""
    if of.picked or any(isinstance(step, m.Size | m.Overlapping | m.Whole) or _is_but(step) for step in of.steps):
        return things(of)
    return narrowed(class_names(of, plural=False), of.steps)


def _is_but(step: m.Step) -> bool:
    """Whether a step takes off what is picked."""
    return isinstance(step, m.Not) and isinstance(step.step, m.Pick)


def things(of: m.Thing) -> str:
    """A thing as objects: "buildings larger than 0.008 ha"."""
    picks = [step for step in of.steps if isinstance(step, m.Pick)]
    before = of.steps if not picks else of.steps[: of.steps.index(picks[0])]
    after = () if not picks else of.steps[of.steps.index(picks[0]) + 1 :]
    single = (bool(picks) and picks[0].n == 1) or any("nth" in pick.which for pick in picks)
    plain = is_plain(replace(of, steps=())) and not of.everything
    name = joined([one_of(word) for word in of.classes]) if single and plain else class_names(of, plural=not single)
    said = narrowed(name, before)
    for pick in picks:
        said = _picked(pick, said)
    return narrowed(said, tuple(step for step in after if not isinstance(step, m.Pick)))


def _picked(pick: m.Pick, said: str) -> str:
    if pick.target is not None:
        return f"the {said} {pick.which} {'to' if pick.which == 'nearest' else 'from'} {thing(pick.target)}"
    if pick.which.startswith("nth"):
        return f"the {_ordinal(pick.n)} {pick.which.removeprefix('nth ')} {said}".replace("first ", "")
    return f"the {pick.which} {said}" if pick.n == 1 else f"the {pick.n} {pick.which} {said}"


def _ordinal(n: int) -> str:
    words = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
    return words[n - 1] if 1 <= n <= len(words) else f"{n}th"


def class_names(of: m.Thing, *, plural: bool) -> str:
    """The classes of a thing, what is taken off them included."""
    if of.everything:
        return "the image"
    words = [joined(word.names) for word in of.classes]
    if plural:
        words = [_many(word, names) for word, names in zip(words, (word.names for word in of.classes), strict=True)]
    said = joined(words)
    if of.inverted:
        said = f"everything but {said}"
    if of.without:
        said += f" that is not {joined([name for word in of.without for name in word.names])}"
    if of.also:
        said += f" that is {joined([name for word in of.also for name in word.names])}"
    return said


def _many(word: str, names: Sequence[str]) -> str:
    """The plural of a class name: "buildings"; "water regions" for what has none; "buildings before"."""
    name, _, date = word.rpartition(" ")
    if date in DATES and name:
        return f"{_many(name, [name])} {date}"
    if len(names) == 1 and vocabulary.concept_of(word) in (
        "building",
        "house",
        "warehouse",
        "solar",
        "car",
        "ship",
        "lake",
    ):
        return f"{word}s" if not word.endswith("s") else word
    return f"{word} regions"


def joined(words: Sequence[str]) -> str:
    """Words as a list: "road, water and forest"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def narrowed(said: str, steps: Sequence[m.Step]) -> str:
    """A noun with what narrows it down, each condition once."""
    return " ".join([said, *dict.fromkeys(_step(step) for step in steps)])


def _step(step: m.Step) -> str:  # noqa: C901 -- one line for each kind of step
    if isinstance(step, m.Size):
        return _range(step.low, step.high, ("larger than", "at least", "smaller than", "at most"))
    if isinstance(step, m.Near):
        words = ("further than", "at least", "closer than", "within")
        said = _range(step.low, step.high, words)
        return f"{said} {'of' if said.startswith('within') and step.low is None else 'from'} {_target(step.target)}"
    if isinstance(step, m.Touching):
        return f"touching {_target(step.target)}"
    if isinstance(step, m.Overlapping):
        return f"that overlap {'no ' if step.absent else ''}{_target(step.target)}"
    if isinstance(step, m.Inside):
        return f"in {thing(step.target)}"
    if isinstance(step, m.InPart):
        return f"in the {part_words(step.part)}"
    if isinstance(step, m.Not) and isinstance(step.step, m.Pick):
        return f"without {_picked(step.step, 'one' if step.step.n == 1 else 'ones')}"
    if isinstance(step, m.Not):
        return f"not {_step(step.step)}"
    if isinstance(step, m.Pick | m.Whole):
        return step.which if isinstance(step, m.Pick) else "(whole objects)"
    if isinstance(step, m.SeenStep):
        return seen_sentences.step(step, thing)
    if isinstance(step, m.EitherOf):
        return step.said or " or ".join(" ".join(_step(one) for one in option) for option in step.options)
    raise TypeError(f"no words for {type(step).__name__}")


def _target(of: m.Thing) -> str:
    """What something is near to: any of its classes."""
    return thing(of) if len(of.classes) == 1 else narrowed(" or ".join(_names_of(of)), of.steps)


def _names_of(of: m.Thing) -> list[str]:
    return [joined(word.names) for word in of.classes]


def _range(low: m.Bound | None, high: m.Bound | None, words: tuple[str, str, str, str]) -> str:
    over, at_least, under, at_most = words
    if low and high and low.inclusive and high.inclusive:
        return f"between {_limit(low.limit)} and {_limit(high.limit)}"
    said = []
    if low:
        said.append(f"{at_least if low.inclusive else over} {_limit(low.limit)}")
    if high:
        said.append(f"{at_most if high.inclusive else under} {_limit(high.limit)}")
    return " and ".join(said)


def _limit(limit: m.Amount | Any) -> str:
    return amount(limit) if isinstance(limit, m.Amount) else with_article(limit)


def amount(of: m.Amount) -> str:
    """An amount in the unit in which it was typed."""
    if not of.key:
        return f"{_digits(of.value)}{' %' if of.unit == 'percent' else ''}"
    unit = units()[of.key]
    return f"{_digits(of.value / unit.size)} {'%' if of.key == 'percent' else of.key}"


def _digits(value: Decimal) -> str:
    return f"{value.normalize():f}" if value == round(value, 9) else f"{value:.6g}"


def part_words(part: str) -> str:
    """A part of the image: "northern half", "north-west quadrant"."""
    if part.endswith("-third"):
        return _PARTS[part.removesuffix("-third")].replace("half", "third")
    return _PARTS.get(part, f"{part} quadrant")
