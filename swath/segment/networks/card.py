"""The card of a model: what it takes, what it gives, how far it may be believed."""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.errors import InputError

ACTIVATIONS = ("softmax", "sigmoid", "none")
MOST_CLASSES = 256
LARGEST_ALONE_PX = 1024
MOST_SMOOTHED_PX = 32


@dataclass(frozen=True)
class Roofs:
    """How a model tells touching objects of a class apart.

    Attributes:
        class_name: the class.
        centre: channel that is high in the middle of an object.
        border: channel that is high between two objects.
        seed: least score of the centre, less that of the border, in what starts an object.
        smallest_px: pixels that a start has at least.
        smallest_alone_px: pixels that a patch without any start has at least to be taken for the class.
        smooth_px: standard deviation of the Gaussian by which the centre less the border is smoothed first.
    """

    class_name: str
    centre: int
    border: int
    seed: float
    smallest_px: int
    smallest_alone_px: int = 0
    smooth_px: float = 0.0


@dataclass(frozen=True, eq=False)
class Domain:
    """What the images that a model was trained on look like, as a normal distribution of simple features.

    Attributes:
        mean: (n,) of the features.
        inverse: (n, n) inverse of their covariance.
        limit: Mahalanobis distance that 99 % of the training images stay below.
    """

    mean: NDArray[np.float64]
    inverse: NDArray[np.float64]
    limit: float

    def distance(self, features: NDArray[np.float64]) -> float:
        """Mahalanobis distance of some features."""
        away = features - self.mean
        return math.sqrt(max(float(away @ self.inverse @ away), 0.0))


@dataclass(frozen=True, eq=False)
class Card:
    """A model's card.

    Attributes:
        path: of the card.
        name: of the model.
        network: the ONNX file.
        sha256: of that file; checked where the card states it.
        classes: in the order of the output's first channels; an empty name for a channel that is no class.
        channels: of the output.
        activation: what turns the output into scores: "softmax" over the classes, "sigmoid", "none".
        tile_px: side of a tile.
        multiple_px: sides of the input are multiples of this.
        mean: subtracted from red, green and blue from 0 to 255.
        std: then divided by this.
        gsd_m: ground sizes at which an image is shown to the model as it is; others are resampled to the nearer end.
        trained_gsd_m: ground sizes that it was trained for.
        strict: least score of the class under the strict threshold; the usual one is 0.5.
        lax: the same under the lax threshold.
        roofs: how touching objects are told apart, None where they are not.
        domain: what the training images look like, None where that is not known.
        sentences: what people are told with every answer.
        of_class: what they are told when a class is used.
        licence: of the weights, empty where the card states none.
        text: the card as it stands.
    """

    path: Path
    name: str
    network: Path
    sha256: str
    classes: tuple[str, ...]
    channels: int
    activation: str
    tile_px: int = 512
    multiple_px: int = 32
    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    std: tuple[float, float, float] = (1.0, 1.0, 1.0)
    gsd_m: tuple[float, float] | None = None
    trained_gsd_m: tuple[float, float] | None = None
    strict: float = 0.5
    lax: float = 0.5
    roofs: Roofs | None = None
    domain: Domain | None = None
    sentences: tuple[str, ...] = ()
    of_class: Mapping[str, str] = field(default_factory=dict)
    licence: str = ""
    text: str = field(default="", repr=False)


def read_card(path: Path) -> Card:
    """Read a card and check the network beside it.

    Raises:
        InputError: a file is missing, or says what no model can be run by.
    """
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as why:
        raise InputError(f"{path} is no model card ({why}). Next: see docs/models.md for one.") from None
    try:
        return _card(path, table, text)
    except (KeyError, TypeError, ValueError) as why:
        missing = f"it lacks {why}" if isinstance(why, KeyError) else str(why)
        raise InputError(f"The model card {path} cannot be used: {missing}. Next: see docs/models.md.") from None


def _card(path: Path, table: dict[str, Any], text: str) -> Card:
    inside, outside = table["input"], table["output"]
    classes = tuple(class_name(name) for name in outside["classes"])
    named = [name for name in classes if name]
    if not named or len(set(named)) < len(named) or len(classes) > MOST_CLASSES:
        raise ValueError(f"output.classes has to name 1 to {MOST_CLASSES} different classes")
    activation = outside.get("activation", "softmax")
    if activation not in ACTIVATIONS:
        raise ValueError(f"output.activation is none of {', '.join(ACTIVATIONS)}")
    bounds = table.get("thresholds", {})
    strict, lax = float(bounds.get("strict", 0.5)), float(bounds.get("lax", 0.5))
    if not 1 > strict >= 0.5 >= lax > 0:
        raise ValueError("thresholds are not strict >= 0.5 >= lax")
    said = table.get("sentences", {})
    return Card(
        path,
        str(table["name"]),
        network := _network(path, str(table["file"])),
        _checked(network, table.get("sha256")),
        classes,
        int(outside.get("channels", len(classes))),
        activation,
        _positive(inside, "tile", 512),
        _positive(inside, "multiple", 32),
        _three(inside.get("mean", [0, 0, 0])),
        _three(inside.get("std", [1, 1, 1])),
        _range(inside.get("gsd_m")),
        _range(inside.get("trained_gsd_m")),
        strict,
        lax,
        _roofs(table["objects"], named) if "objects" in table else None,
        _domain(table["domain"]) if "domain" in table else None,
        tuple(str(sentence) for sentence in said.get("always", ())),
        {str(name): str(sentence) for name, sentence in said.get("of_class", {}).items()},
        str(table.get("licence", "")),
        text,
    )


def class_name(name: Any) -> str:
    """A class as it is called here; empty for what is no class."""
    text = " ".join(str(name).lower().split())
    return "" if text in ("background", "void", "other") else text


def _network(path: Path, name: str) -> Path:
    network = path.parent / name
    if Path(name).name != name or not network.is_file():
        raise ValueError(f'the network "{name}" does not lie beside it')
    return network


def _checked(network: Path, stated: Any) -> str:
    with network.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if stated is not None and stated != found:
        raise ValueError(f"the sha256 of {network.name} is not the one that it states; the file was changed or cut off")
    return found


def _positive(table: dict[str, Any], key: str, default: int) -> int:
    found = int(table.get(key, default))
    if not 1 <= found <= 8192:
        raise ValueError(f"input.{key} is no number of pixels")
    return found


def _three(values: Any) -> tuple[float, float, float]:
    red, green, blue = (float(value) for value in values)
    if not np.isfinite([red, green, blue]).all():
        raise ValueError("mean and std take three numbers")
    return red, green, blue


def _range(values: Any) -> tuple[float, float] | None:
    if values is None:
        return None
    low, high = (float(value) for value in values)
    if not 0 < low <= high < np.inf:
        raise ValueError("ground sizes are two numbers of metres, the smaller one first")
    return low, high


def _roofs(table: dict[str, Any], classes: list[str]) -> Roofs:
    if table["class"] not in classes:
        raise ValueError(f'objects.class "{table["class"]}" is no class of the model')
    alone = int(table.get("smallest_alone_px", 0))
    if not 0 <= alone <= LARGEST_ALONE_PX:
        raise ValueError(f"objects.smallest_alone_px is no number from 0 to {LARGEST_ALONE_PX}")
    smooth = float(table.get("smooth_px", 0))
    if not 0 <= smooth <= MOST_SMOOTHED_PX:
        raise ValueError(f"objects.smooth_px is no number from 0 to {MOST_SMOOTHED_PX}")
    return Roofs(
        str(table["class"]),
        int(table["centre"]),
        int(table["border"]),
        float(table["seed"]),
        int(table["smallest_px"]),
        alone,
        smooth,
    )


def _domain(table: dict[str, Any]) -> Domain:
    mean, inverse = np.array(table["mean"], dtype=float), np.array(table["inverse"], dtype=float)
    if inverse.shape != (mean.size, mean.size):
        raise ValueError("domain.inverse is no square matrix that fits domain.mean")
    return Domain(mean, inverse, float(table["limit"]))
