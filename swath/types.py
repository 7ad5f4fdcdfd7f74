"""Frozen values that every room may hold: quantities, intervals, boxes, legends, answers."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from swath.errors import InputError

if TYPE_CHECKING:
    from geopandas import GeoDataFrame
    from PIL.PngImagePlugin import PngImageFile

Kind = Literal["count", "quantity", "percent", "boolean", "category", "text", "point", "boxes", "mask", "ranking"]
Status = Literal["answered", "refused", "failed"]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Interval:
    """What the value may be, and which doubts were considered.

    Attributes:
        low: lowest value, in the answer's unit.
        high: highest value, in the answer's unit.
        covers: the doubts considered: "boundary", "proximity", "segmentation", "reference sample" ...
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
        counted: how many objects stand behind it, and the file that lists them; `objects` reads it.
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
    counted: ObjectsSummary | None = None
    mask: MaskSummary | None = None
    run: str | None = None
    planner: str | None = None
    segmenter: str | None = None
    seconds: float = field(default=0.0, compare=False)

    def to_json(self) -> dict[str, Any]:
        """The answer as one JSON-ready object; what `counted` holds stands under "objects"."""
        return {"objects" if name == "counted" else name: value for name, value in asdict(self).items()}

    @property
    def objects(self) -> GeoDataFrame:
        """The objects behind the answer, in the image's CRS; in pixel coordinates where it has none.

        Raises:
            InputError: none stand behind it, its run did not keep them, or GeoPandas is not installed.
        """
        if self.counted is None:
            raise InputError("No objects stand behind this answer. Next: ask for a count, or see its text.")
        if self.counted.path is None:
            raise InputError("The run did not keep its objects. Next: ask with keep='full', or use swath trace export.")
        try:
            from geopandas import read_file
        except ImportError:
            raise InputError("Tables of objects need GeoPandas. Next: pip install 'swath[notebook]'.") from None
        return read_file(self.counted.path, layer="counted")

    def show(self) -> PngImageFile:
        """The picture of the run: what was counted over the image.

        Raises:
            InputError: the run kept no picture.
        """
        from PIL import Image

        path = self._picture
        if path is None:
            raise InputError("The run kept no picture. Next: ask with keep='full', or use swath trace show.")
        with Image.open(path, formats=("PNG",)) as picture:
            picture.load()
            return cast("PngImageFile", picture)

    @property
    def _picture(self) -> Path | None:
        path = None if self.run is None else Path(self.run) / "overlay.png"
        return path if path is not None and path.is_file() else None

    def _repr_html_(self) -> str:
        """For notebooks: the answer, what was measured, what to know before using it, the picture."""
        notes = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        parts = [f'<p style="font-size:1.3em"><strong>{escape(self.text)}</strong></p>',
                 f"<p>{escape(self.question)}</p>", f"<ul>{notes}</ul>" if notes else ""]  # fmt: skip
        if self._picture is not None:
            data = b64encode(self._picture.read_bytes()).decode()
            parts.append(f'<img alt="what was counted" style="max-width:100%" src="data:image/png;base64,{data}">')
        if self.program:
            parts.append(f"<details><summary>Program</summary><pre>{escape(self.program)}</pre></details>")
        return "".join(parts)
