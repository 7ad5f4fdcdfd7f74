"""Says what a program of the second grammar measures: "height above ground of building, the tallest"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.amounts import units
from swath.agent.offline.seen import meaning as s
from swath.agent.offline.seen import question as sq

Say = Callable[[m.Thing], str]
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_STATISTICS = {
    "mean": "mean",
    "median": "median",
    "min": "lowest",
    "max": "highest",
    "std": "standard deviation of the",
}


def step(of: m.SeenStep, say: Say) -> str:
    """A step behind the name of a thing."""
    if isinstance(of, s.Between):
        return _range(of, say)
    if isinstance(of, s.Flooded):
        return f"below a water level of {amount(of.level)}"
    if isinstance(of, s.Look):
        return f"that are {of.word}{' for their class' if of.what == 'size' else ''}"
    if isinstance(of, s.InCell):
        return f"in the {of.cell} of the image cut into three"
    if isinstance(of, s.Known):
        return ""
    if isinstance(of, s.Only):
        return "" if of.first else "(the only one)"
    if isinstance(of, s.Ranked):
        return f", {_rank(of, say)}"
    if isinstance(of, s.Related):
        return _related(of, say)
    raise TypeError(f"no words for {type(of).__name__}")


def _range(of: s.Between, say: Say) -> str:
    words = {"height": ("taller than", "at least", "lower than", "at most"),
             "elevation": ("higher up than", "at least", "further down than", "at most"),
             "slope": ("steeper than", "at least", "less steep than", "at most")}[of.field]  # fmt: skip
    noun = {"height": "high", "elevation": "in elevation", "slope": "steep"}[of.field]
    said = []
    for bound, exclusive, inclusive in ((of.low, words[0], words[1]), (of.high, words[2], words[3])):
        if bound is None:
            continue
        limit = amount(bound.limit) if isinstance(bound.limit, m.Amount) else number(bound.limit, say)
        said.append(f"{inclusive} {limit} {noun}" if bound.inclusive else f"{exclusive} {limit}")
    return " and ".join(said)


def _related(of: s.Related, say: Say) -> str:
    if of.how == "alone":
        return "with no other of its class next to it"
    if of.how == "not next":
        return f"with no {say(of.targets[0])} next to it"
    if of.how == "side":
        word = of.side if of.side in ("above", "below") else f"{of.side} of"
        return f"{word} {say(of.targets[0])}"
    return f"{s.RELATIONS[of.how][1]} {' and '.join(say(target) for target in of.targets)}"


def _rank(of: s.Ranked, say: Say) -> str:
    count = "" if of.n == 1 else _ORDINALS[of.n - 1] if of.nth and of.n <= len(_ORDINALS) else f"{of.n}"
    words = {"area": ("largest", "smallest"), "height": ("tallest", "lowest"), "length": ("longest", "shortest")}
    if of.by in words:
        said = words[of.by][0 if of.most else 1]
    elif of.by == "side":
        said = f"nearest to the {of.where} edge"
    elif of.target is not None:
        said = f"{of.by} {'to' if of.by == 'nearest' else 'from'} {say(of.target)}"
    else:
        said = f"nearest to the {f'{of.where} ' if of.where else ''}{of.by} of the image"
    return f"the {count} {said}" if count else f"the {said}"


def number(of: Any, say: Say) -> str:
    """A measure as a noun phrase without an article."""
    if isinstance(of, s.At):
        return f"{'height above ground' if of.above_ground else 'elevation'} at {place(of.place)}"
    if isinstance(of, s.HeightDifference):
        kind = "difference in height" if of.absolute else "height"
        joint = "and" if of.absolute else "less that of"
        return f"{kind} {'between' if of.absolute else 'of'} {_side(of.a, say)} {joint} {_side(of.b, say)}"
    if isinstance(of, s.Field):
        return _field(of, say)
    raise TypeError(f"no words for {type(of).__name__}")


def _field(of: s.Field, say: Say) -> str:
    name = s.FIELDS[of.what][2]
    if of.level is not None:
        name += f" up to {amount(of.level)}" if of.what == "flat" else f" below a level of {amount(of.level)}"
    percent = f"{of.percent.normalize():f}th percentile of the" if of.percent is not None else ""
    statistic = percent or _STATISTICS.get(of.among or of.statistic, "")
    where = "the image" if of.of is None else say(of.of)
    each = ", each counting once" if of.among else ""
    return f"{f'{statistic} ' if statistic else ''}{name} of {where}{each}"


def claim(of: q.SeenClaim, say: Say) -> str:
    """A claim as a clause."""
    if isinstance(of, sq.InColour):
        return "the image has red, green and blue bands of 8 bits"
    if isinstance(of, sq.LooksLike):
        what = sq.NAMES[of.what][1]
        return f"the {what}{f' of {say(of.of)}' if of.of else ''} is {of.word}"
    raise TypeError(f"no words for {type(of).__name__}")


def answer(of: Any, say: Say) -> str:
    """What is asked, as a noun phrase."""
    if isinstance(of, sq.Named):
        return f"{sq.NAMES[of.what][1]} of {say(of.of)}" if of.of else sq.NAMES[of.what][1]
    if isinstance(of, sq.Boxes):
        return f"{'oriented boxes' if of.oriented else 'boxes'} of {say(of.of)}"
    if isinstance(of, sq.Masks):
        return f"mask of {', '.join(say(thing) for thing in of.of)}"
    if isinstance(of, sq.Heights):
        return f"heights above ground of {say(of.of)}, {'tallest first' if of.ordered else 'one by one'}"
    if isinstance(of, sq.Profile):
        return f"elevations along the line from {place(of.start)} to {place(of.end)}"
    if isinstance(of, sq.Higher):
        word = "higher" if of.most else "lower"
        return f"which is {word}: {' or '.join(_side(option, say) for option in of.options)}"
    if isinstance(of, sq.OneOfTwo):
        word = _MORE[of.by][0 if of.most else 1]
        return f"side on which the {word} of the two lies: {say(of.of)}"
    if isinstance(of, sq.Caption):
        return "the image described in measured facts"
    raise TypeError(f"no words for {type(of).__name__}")


_MORE = {"area": ("larger", "smaller"), "height": ("taller", "lower"), "length": ("longer", "shorter")}


def _side(of: m.Thing | s.Place, say: Say) -> str:
    return place(of) if isinstance(of, s.Place) else say(of)


def place(of: s.Place) -> str:
    """A place in words."""
    first, second = (f"{number:f}" for number in (of.first, of.second))
    called = f"{of.name} at " if of.name else ""
    if of.kind == "pixel":
        return f"{called}column {first}, row {second}"
    return called + (f"longitude {first}, latitude {second}" if of.kind == "lonlat" else f"x {first}, y {second}")


def amount(of: m.Amount) -> str:
    """An amount in the unit in which it was typed."""
    if of.key not in units() or "(" in of.said:
        return of.said
    return f"{of.value / units()[of.key].size:f} {of.key}"
