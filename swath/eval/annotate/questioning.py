"""Questions of the offline writer, over the ten types, and quantities with the answers that count as right."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from swath.agent.captions import plural
from swath.eval.annotate.attributes import Attributes
from swath.eval.annotate.describing import cell_of, colour_of, count_of, pick
from swath.eval.annotate.measuring import Measuring
from swath.eval.annotate.patches import Patch
from swath.eval.annotate.statements import Statement, shown, wordings
from swath.eval.squid.ranges import count_range

LEAST, MOST = 3, 10
"""Questions of one patch."""

AREA_SHARE, DISTANCE_PX = 0.1, 2.0
"""Acceptable answers: within 10 % of an area, within two pixels of a distance; counts as SQuID's card has them."""


@dataclass(frozen=True)
class _Asker:
    patch: Patch
    said: Sequence[Attributes]
    measuring: Measuring
    rng: random.Random
    names: Sequence[str]

    @property
    def present(self) -> list[str]:
        return [name for name, _ in Counter(own.class_name for own in self.patch.objects).most_common()]

    def asked(self, form: str, program: str, **words: Any) -> Statement | None:
        measured = self.measuring.run(program)
        if measured.value is None:
            return None
        text = str(self.rng.choice(wordings()["questions"][form])).format(**words)
        objects = tuple(int(own) for own in measured.objects)
        return Statement("question", text, form, program, in_words(measured.value), objects, status="confirmed")

    def quantity(self, form: str, program: str, unit: str, margin: float | None, **words: Any) -> Statement | None:
        measured = self.measuring.run(program)
        if measured.value is None:
            return None
        value = float(measured.value)
        low, high = count_range(value) if margin is None else (max(0.0, value - margin), value + margin)
        text = str(self.rng.choice(wordings()["quantities"][form])).format(**words)
        objects = tuple(int(own) for own in measured.objects)
        return Statement("quantity", text, form, program, shown(value) if margin else str(round(value)), objects, unit,
                         low, high, "confirmed")  # fmt: skip


def in_words(value: Any) -> str:
    """An answer as the data set writes it: yes, no, a whole number, a word."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(round(value)) if isinstance(value, int | float) else str(value)


def ask_about(
    patch: Patch, said: Sequence[Attributes], measuring: Measuring, rng: random.Random, names: Sequence[str]
) -> list[Statement]:
    """Questions about a patch, with their measured answers.

    Args:
        patch: the patch.
        said: attributes of its objects.
        measuring: runs programs on it.
        rng: chooses classes, wordings, and which of many questions to keep.
        names: classes of the whole data set.
    """
    asker = _Asker(patch, said, measuring, rng, names)
    found = [statement for statement in _questions(asker) if statement is not None]
    rng.shuffle(found)
    by_type: dict[str, list[Statement]] = {}
    for statement in found:
        by_type.setdefault(statement.type, []).append(statement)
    kept: list[Statement] = []
    while len(kept) < MOST and any(by_type.values()):
        for same in by_type.values():  # one of each type before a second of any
            if same and len(kept) < MOST:
                kept.append(same.pop())
    return kept


def quantities(patch: Patch, measuring: Measuring, rng: random.Random) -> list[Statement]:
    """Quantitative questions about a patch, each with its range of acceptable answers."""
    asker = _Asker(patch, (), measuring, rng, ())
    found = [asker.quantity("count", count_of(name), "count", None, cs=plural(name)) for name in asker.present[:2]]
    if patch.gsd_m is not None:
        found += [_area(asker, name) for name in asker.present[:2]] + [_distance(asker)]
    return [statement for statement in found if statement is not None]


def _questions(asker: _Asker) -> Iterator[Statement | None]:
    for name in asker.present[:3]:
        yield asker.asked("object quantity", count_of(name), cs=plural(name))
        yield from _about(asker, name)
    absent = [name for name in asker.names if name not in asker.present]
    for name in asker.rng.sample(asker.present, 1) + asker.rng.sample(absent, min(1, len(absent))):
        program = f'it = ground({name!r})\nreply(count(it) > 0, kind="boolean", objects=it)\n'
        yield asker.asked("object existence", program, c=name)
    yield _most_frequent(asker)
    yield asker.asked("scene type", 'reply("color" if has_true_colour() else "grey", kind="category")\n')
    yield _more_than(asker)


def _about(asker: _Asker, name: str) -> Iterator[Statement | None]:
    thing, rank = pick(asker.patch, name)
    words = {"c": name, "cs": plural(name), "rank": rank}
    yield asker.asked("object color", colour_of(thing), **words)
    yield asker.asked("object position", cell_of(thing), **words)
    for form, tool in (("object shape", "shape_of"), ("object direction", "direction_of")):
        yield asker.asked(form, f'it = {thing}\nreply({tool}(it), kind="category", objects=it)\n', **words)
    side = asker.rng.choice(["left", "right", "top", "bottom"])
    program = (
        f'every = ground({name!r})\nit = extreme(every, side="{side}")\n'
        'reply(size_of(it, among=every), kind="category", objects=it)\n'
    )
    size = asker.asked("object size", program, side=f"{side}-most", **words)
    yield size if size is not None and size.answer in ("large", "small") else None


def _most_frequent(asker: _Asker) -> Statement | None:
    counts = Counter(own.class_name for own in asker.patch.objects).most_common(2)
    if len(counts) < 2 or counts[0][1] == counts[1][1]:
        return None
    program = (
        f"names = {asker.present!r}\ncounts = [count(ground(name)) for name in names]\n"
        "most = [name for number, name in zip(counts, names) if number == max(counts)]\n"
        'reply(most[0], kind="category")\n'
    )
    return asker.asked("object category", program)


def _more_than(asker: _Asker) -> Statement | None:
    if len(asker.present) < 2:
        return None
    one, other = asker.rng.sample(asker.present, 2)
    program = f'reply(count(ground({one!r})) > count(ground({other!r})), kind="boolean")\n'
    return asker.asked("reasoning", program, cs=plural(one), ds=plural(other))


def _area(asker: _Asker, name: str) -> Statement | None:
    thing, rank = pick(asker.patch, name)
    program = f'it = {thing}\nreply(area_m2(it), kind="quantity", unit="m2", objects=it)\n'
    value = asker.measuring.run(program).value
    return None if value is None else asker.quantity("area", program, "m2", AREA_SHARE * value, c=name, rank=rank)


def _distance(asker: _Asker) -> Statement | None:
    counts = Counter(own.class_name for own in asker.patch.objects)
    alone = sorted(name for name, number in counts.items() if number == 1)
    if len(alone) < 2:
        return None
    one, other = asker.rng.sample(alone, 2)
    a, b = f"only(ground({one!r}))", f"only(ground({other!r}))"
    program = f'reply(distance_m({a}, {b}), kind="quantity", unit="m")\n'
    margin = DISTANCE_PX * float(asker.patch.gsd_m or 0)
    return asker.quantity("distance", program, "m", margin, c=one, d=other)
