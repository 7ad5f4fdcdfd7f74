"""Who turns pixels into classes: the protocol and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from swath.errors import UnknownClass
from swath.raster.fields import TiledField
from swath.raster.tiled import PixelSet
from swath.segment.codes import listed

BoolImage = NDArray[np.bool_]
SHOWN_CLASSES = 40


@dataclass(frozen=True)
class Feature:
    """One object with an identity of its own (a vector feature, an annotated box).

    Attributes:
        id: the source's own identifier, as text.
        outline: its geometry in pixel coordinates of the raster: x = column, y = row, (0, 0) = outer image corner.
        score: confidence in [0, 1], None where the source gives none.
    """

    id: str
    outline: BaseGeometry
    score: float | None = None


@dataclass(frozen=True)
class Segmentation:
    """The pixels of one class, on the raster's own grid.

    Attributes:
        mask: (rows, columns) bool; in tiles where the raster is held so.
        score: (rows, columns) float32, larger is surer, NaN where the source says nothing; None where it gives none.
        thresholds: (strict, used, lax) thresholds on `score`: `mask` is `score >= used`; the other two bound how far
            the threshold could be argued, and the answer's interval spans them. None where there is nothing to argue:
            no score, or a threshold that a person stated.
        instance_ids: (rows, columns) int32, 0 = none, where the source tells touching objects apart by pixel.
        features: the objects where the source holds outlines; they may overlap.
        areal: False for lines and points, which have a place but no area.
        method: how the class was found, for people, thresholds included.
        warnings: sentences for people.
    """

    mask: PixelSet
    score: NDArray[np.float32] | TiledField | None = None
    thresholds: tuple[float, float, float] | None = None
    instance_ids: NDArray[np.int32] | None = None
    features: tuple[Feature, ...] | None = None
    areal: bool = True
    method: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class SegmentOptions:
    """What a person may say about where classes come from; each backend takes what concerns it.

    Attributes:
        labels: class raster or vector file.
        legend: JSON file of value to name.
        label_class: class name of a vector file without a class column.
        layers: further classes, name to vector or raster file.
        thresholds: index name to threshold ("NDWI" to 0.1).
        card: card, checkpoint or folder of the model that a segmenter of networks runs.
        address: the same as it was typed, where it is no file: "http://..."
        progress: told how many tiles of how many are done, by segmenters that work in tiles.
    """

    labels: Path | None = None
    legend: Path | None = None
    label_class: str | None = None
    layers: Mapping[str, Path] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    card: Path | None = None
    address: str | None = None
    progress: Callable[[int, int], None] | None = field(default=None, compare=False)


@runtime_checkable
class Backend(Protocol):
    """A source of classes for one raster.

    A factory registered under the entry-point group `swath.segmenters` builds it: `factory(raster, options)`. It
    raises `Refused` where it has nothing to say about this raster, `InputError` where a file it was given is unusable.
    """

    @property
    def name(self) -> str:
        """Name of the backend, as it was registered."""

    def classes(self) -> tuple[str, ...]:
        """Canonical names of the classes that `segment` knows on this raster, whether or not they occur."""

    def known(self) -> PixelSet | None:
        """(rows, columns) bool: where the source says anything at all; None where it covers every valid pixel."""

    def segment(self, class_name: str) -> Segmentation:
        """The pixels of a class of `classes()`.

        Raises:
            Refused: the class is not one of `classes()`; the message lists them.
        """

    def describe(self) -> dict[str, Any]:
        """JSON-ready record for the run folder: name, parameters, input files with their sha256."""


@runtime_checkable
class OpenVocabulary(Protocol):
    """A source that finds whatever a phrase names, such as "the red lorry".

    A backend may be one as well. Where the backend in force is none, the one that is registered as "grounded" is asked.
    """

    def ground(self, phrase: str) -> Segmentation:
        """The objects that a phrase names, with features or instance ids, so that each is one; none is an empty mask.

        Args:
            phrase: in plain words, without an article.

        Raises:
            Refused: nothing can be looked for; the message says what is missing and where to put it.
        """


def listed_classes(names: Sequence[str]) -> str:
    """Names of classes for a sentence."""
    return listed(names, SHOWN_CLASSES) or "none"


def unknown_class(class_name: str, backend: Backend) -> UnknownClass:
    """The refusal of a class that a backend does not know."""
    return UnknownClass(
        f'"{class_name}" is not a class of {backend.name}, which knows {listed_classes(backend.classes())}. '
        "Next: ask about one of these, or add the class with --layer NAME=FILE."
    )
