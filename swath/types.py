"""Frozen values that every room may hold: quantities, intervals, boxes, legends, answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

Kind = Literal["count", "quantity", "percent", "boolean", "category", "text", "point", "boxes", "mask", "ranking"]
Status = Literal["answered", "refused", "failed"]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Interval:
    """What the value may be, and which doubts were considered.

    Attributes:
        low: lowest value, in the answer's unit.
        high: highest value, in the answer's unit.
        covers: the doubts considered: "boundary", "proximity", "segmentation", "scale".
    """

    low: float
    high: float
    covers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that never travels without its unit."""

    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Box:
    """A half-open pixel box: x is the column, y the row, `x_max` and `y_max` lie outside."""

    x_min: int
    y_min: int
    x_max: int
    y_max: int


@dataclass(frozen=True, slots=True)
class Legend:
    """What the values of a class raster mean.

    Attributes:
        names: value to class name, void values left out.
        void: values that mean "nothing known here".
    """

    names: Mapping[int, str]
    void: frozenset[int] = frozenset({0})


@dataclass(frozen=True, slots=True)
class ObjectsSummary:
    """How many objects stand behind an answer, and the file that lists them (None where not kept)."""

    count: int
    path: str | None = None


@dataclass(frozen=True, slots=True)
class MaskSummary:
    """An answer that is a mask.

    Attributes:
        classes: names of the pixel values 1, 2, ... of the map.
        path: GeoTIFF on the image's grid, 0 where none of the classes is; None until it is written.
        picture: the same as a PNG; None until it is written.
    """

    classes: tuple[str, ...]
    path: str | None = None
    picture: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What `swath.ask` returns and `ask --json` prints.

    Attributes:
        status: answered, refused or failed.
        answer: the value as asked: a number, "yes" or "no", a name, a list; None unless answered.
        kind: one of `Kind`, None unless answered.
        unit: the unit of `answer`: "ha", "percent", "count", "ratio" ...; None where it has none.
        text: one sentence for people that leads with the value.
        interval: what the value may be; None where there is nothing to vary.
        reason: why it was refused or failed, and what would help.
        reading: what was measured, in words, with the choices made where the question left one.
        method: how pixels became ground lengths and areas.
        crs: name of the image's coordinate reference system, None without one.
        warnings: what a careful reader should know before using the number.
        program: the program that measured it.
        objects: the counted objects.
        mask: the map that an answer of kind mask is; None for others.
        run: folder of the run.
        planner: name of the planner.
        segmenter: name of the segmenter.
        seconds: wall time of the whole question.
    """

    status: Status
    question: str
    image: str
    answer: Any = None
    kind: Kind | None = None
    unit: str | None = None
    text: str = ""
    interval: Interval | None = None
    reason: str | None = None
    reading: str | None = None
    method: str | None = None
    crs: str | None = None
    warnings: tuple[str, ...] = ()
    program: str | None = None
    objects: ObjectsSummary | None = None
    mask: MaskSummary | None = None
    run: str | None = None
    planner: str | None = None
    segmenter: str | None = None
    seconds: float = field(default=0.0, compare=False)

    def to_json(self) -> dict[str, Any]:
        """The answer as one JSON-ready object."""
        return asdict(self)
