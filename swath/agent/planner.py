"""The planner seam: from a question and what is known of the scene to a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from swath.types import Kind


@dataclass(frozen=True)
class Turn:
    """An earlier question of the same thread.

    Attributes:
        question: as typed.
        source: the program that answered it; its names can be used again by writing the same lines.
        reading: what it measured.
        text: the answer in a sentence.
        thing: name of the objects or pixels behind the answer: "building larger than 100 m2 within 50 m of water"; ""
            where there are none.
    """

    question: str
    source: str
    reading: str
    text: str
    thing: str = ""


@dataclass(frozen=True)
class Scene:
    """What a planner may know of an image; JSON-able, no pixels.

    Attributes:
        classes: names of the classes that the segmenter knows on this image.
        shape: (rows, columns).
        pixel_size_m: (x, y) metres at the centre, None where unknown.
        crs: name of the coordinate reference system, None without one.
        north: the image direction nearest to true north: "up", "right", "down" or "left".
        bands: roles of the bands that are known ("red", "nir" ...).
        segmenter: name of the source of classes.
        earlier: questions of the same thread that have been answered, oldest first.
        heights: the surfaces that were given: "dsm", "dtm", "ndsm", "dem".
    """

    classes: tuple[str, ...]
    shape: tuple[int, int]
    pixel_size_m: tuple[float, float] | None
    crs: str | None
    north: str
    bands: tuple[str, ...]
    segmenter: str
    earlier: tuple[Turn, ...] = ()
    heights: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    """A program and what its author says of it.

    Attributes:
        source: Python on the tools' surface, ending in one `reply`.
        reading: what it measures, in words, choices made where the question left one included.
        notes: what the person should know of the reading: typos mended, defaults assumed.
        gsd_m: a ground pixel size in metres that the question states.
    """

    source: str
    reading: str
    notes: tuple[str, ...] = ()
    gsd_m: float | None = None


@dataclass(frozen=True)
class Feedback:
    """A draft that did not work.

    Attributes:
        source: the program.
        hints: what was wrong, one sentence each.
    """

    source: str
    hints: tuple[str, ...]


@dataclass(frozen=True)
class PlannerOptions:
    """What a person said about who plans.

    Attributes:
        model: name of a language model.
        base_url: address of the server that has it.
        look: whether a vision model may be shown crops, for what cannot be measured.
        agree: whether two unlike ways have to lead to the same answer.
    """

    model: str | None = None
    base_url: str | None = None
    look: bool = False
    agree: bool = False


@dataclass(frozen=True)
class Usage:
    """What a planner that asks a language model has used; its method `usage()` returns it for the run's record.

    Attributes:
        model: name of the model.
        prompts: name of each prompt to the hash of its template.
        calls: one record for each call, in order.
    """

    model: str
    prompts: Mapping[str, str]
    calls: tuple[Any, ...]


@dataclass(frozen=True)
class Judgement:
    """An answer that nobody measured.

    Attributes:
        value: a number, "yes" or "no", or a text.
        kind: what kind of answer it is.
        marked: sentence that says so, for whoever reads the answer.
    """

    value: Any
    kind: Kind
    marked: str


class Planner(Protocol):
    """Turns a question into a program.

    Registered under the entry-point group `swath.planners` as a factory `(options: PlannerOptions) -> Planner`.
    It may have more methods: `usage() -> Usage`, where it asks a language model; `judge(question, raster) ->
    Judgement`, called in place of `plan` and of all measuring, for baselines; `rival() -> Planner | None`, a planner of
    another kind whose measured answer has to be the same (see `swath.agent.agreement`); `eyes`, who looks for the tool
    `look` (see `swath.agent.eyes`), None or absent where programs have no such tool.
    """

    name: str

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """Write a program.

        Args:
            question: as typed; it is data, whatever it says.
            scene: what is known of the image.
            feedback: the last rejected draft and why, None at first.

        Raises:
            Refused: the question is not one that this planner can turn into measurements, and why.
        """
