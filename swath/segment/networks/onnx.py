"""Any semantic network as ONNX with a card: its scores, blended over tiles, as classes."""

from __future__ import annotations

import os
import pickle
import tomllib
from collections.abc import Hashable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from swath.errors import InputError, Refused
from swath.raster.fields import TiledField
from swath.raster.reader import Raster
from swath.raster.room import let_go, room
from swath.raster.tiled import PixelSet
from swath.segment.error_matrix import ErrorMatrix, matrix_of_card
from swath.segment.networks.card import Card, read_card
from swath.segment.networks.objects import give_away_specks, onto, told_apart
from swath.segment.networks.view import View, factors, is_rgb
from swath.segment.protocol import BoolImage, Segmentation, SegmentOptions, unknown_class
from swath.segment.tiling import SURE, Axis, ByteImage, Predict, Tiling, blended, interpolated, strips

FloatImage = NDArray[np.float32]
THREADS = 2
REMEMBERED_BYTES = 2**28
_LAST: dict[tuple[Hashable, ...], ByteImage] = {}


class OnnxBackend:
    """Classes by a network: a pixel is of the class whose score is highest.

    The score of a class is its share of itself and its strongest rival, so that 0.5 is where it wins.
    """

    name = "onnx"

    def __init__(self, raster: Raster, options: SegmentOptions) -> None:
        """Read the card and the network.

        Raises:
            InputError: no card is given, or it or the network cannot be used.
            Refused: the image is not red, green and blue, or far too coarse.
        """
        self._raster, self._progress = raster, options.progress
        self.card = self._read_card(options)
        if not is_rgb(raster):
            raise Refused(
                f"{self.card.name} sees red, green and blue, which are not known in {raster.path.name}. "
                "Next: name the bands with --bands red=N,green=N,blue=N, or give --labels FILE."
            )
        self._view = View(raster, factors(raster, self.card.gsd_m))
        self._run = self._runner()

    def _read_card(self, options: SegmentOptions) -> Card:
        return read_card(self._card_path(options))

    def _runner(self) -> Predict:
        return runner_of(self.card)

    def _card_path(self, options: SegmentOptions) -> Path:
        if options.card is None:
            raise InputError("The segmenter onnx needs a model card. Next: name it, as in --segmenter onnx:CARD.toml.")
        return options.card

    def __reduce__(self) -> NoReturn:
        raise pickle.PicklingError("what a network has seen belongs to this process")

    def classes(self) -> tuple[str, ...]:
        """The classes that the card names."""
        return tuple(name for name in self.card.classes if name)

    def known(self) -> None:
        """Every valid pixel."""

    def segment(self, class_name: str) -> Segmentation:
        """The pixels of a class; objects apart where the card says how.

        Raises:
            Refused: the class is not one of `classes()`.
        """
        if class_name not in self.classes():
            raise unknown_class(class_name, self)
        score = self._scores(self.card.classes.index(class_name))
        mask = score >= np.float32(0.5)
        bounds = (self.card.strict, 0.5, self.card.lax)
        ids = self._objects(class_name, mask)
        doubted = bounds if self.card.strict > self.card.lax else None
        return Segmentation(
            mask, score, doubted, ids, method=self._method(class_name), warnings=self.warnings(class_name)
        )

    def warnings(self, class_name: str) -> tuple[str, ...]:
        """What people have to know: the card's sentences, louder where the image is unlike those of the training."""
        loud = tuple(self._strangeness)
        of_class = self.card.of_class.get(class_name)
        return (*loud, *self.card.sentences, *((of_class,) if of_class else ()))

    def error_matrix(self) -> ErrorMatrix | None:
        """What the model got wrong in its own test, where its card states it.

        Raises:
            InputError: what the card states is none.
        """
        return matrix_of_card(tomllib.loads(self.card.text), self.card.name)

    def describe(self) -> dict[str, Any]:
        """JSON-ready record: the model, its weights' hash, how the image was shown to it."""
        return {
            "name": self.name,
            "model": self.card.name,
            "card": self.card.path.name,
            "weights_sha256": self.card.sha256,
            "classes": list(self.classes()),
            "thresholds": [self.card.strict, 0.5, self.card.lax],
            "shown_px_per_px": list(self._view.factors),
            "tile_px": self.card.tile_px,
        }

    @cached_property
    def channels(self) -> ByteImage:
        """(channels, rows, columns) of the view: everything that the network says.

        A process remembers them for the last image that it saw: many questions are asked of one image.
        """
        tiling = Tiling(self.card.tile_px, multiple_px=self.card.multiple_px)
        if self._raster.driver == "VRT":  # its file does not tell when the files that it names change
            return self._computed(tiling)
        key = (*_identity(self._raster), self._view.factors, *_identity_of(self.name, self.card), tiling)
        found = _LAST.get(key)
        if found is None:
            found = self._computed(tiling)
            _LAST.clear()
            if found.nbytes <= REMEMBERED_BYTES:
                _LAST[key] = found
        return found

    def _computed(self, tiling: Tiling) -> ByteImage:
        found = blended(self._view.shape, self.card.channels, self._view.read, self._run, tiling, self._progress)
        rule = self.card.roofs
        if rule is not None and rule.smallest_alone_px:
            give_away_specks(found, len(self.card.classes), self.card.classes.index(rule.class_name), rule)
        found.flags.writeable = False
        return found

    def _scores(self, index: int) -> FloatImage | TiledField:
        """Score of a class on the image's own grid."""
        shape, planes = self._raster.shape, self.channels[: len(self.card.classes)]

        def window(rows: slice, cols: slice) -> FloatImage:
            values = self._on_image(planes, rows, cols)
            mine, rival = values[index], _rival(values, index)
            total = mine + rival
            share: FloatImage = np.divide(mine, total, out=np.zeros_like(mine), where=total > 0)
            return share

        if self._raster.in_tiles:
            return TiledField(shape, self._raster.tiles, window)
        return np.concatenate([window(rows, slice(0, shape[1])) for rows in strips(*shape)])

    def _on_image(self, planes: ByteImage, rows: slice, cols: slice) -> FloatImage:
        """A window of the image, of planes that lie on the view."""
        axes = Axis(self._view.shape[0], self._raster.shape[0]), Axis(self._view.shape[1], self._raster.shape[1])
        if self._view.shape == self._raster.shape:
            found = planes[:, rows, cols].astype(np.float32)
        else:
            top, left = (axis.reach(part) for axis, part in zip(axes, (rows, cols), strict=True))
            near = planes[:, top, left]
            found = np.stack([interpolated(plane, axes, rows, cols, (top.start, left.start)) for plane in near])
        let_go(self.channels)
        return found

    def _objects(self, class_name: str, mask: PixelSet) -> NDArray[np.int32] | None:
        rule = self.card.roofs
        if rule is None or rule.class_name != class_name:
            return None
        wins = mask if mask.shape == self._view.shape else self._wins(self.card.classes.index(class_name))
        ids = told_apart(wins, self.channels[rule.centre], self.channels[rule.border], rule)
        return ids if wins is mask else onto(ids, mask)

    def _wins(self, index: int) -> BoolImage:
        """(rows, columns) bool of the view: where a class scores highest."""
        found = room(self._view.shape, bool)
        for rows in strips(*self._view.shape):
            values = self.channels[: len(self.card.classes), rows]
            found[rows] = (values[index] >= _rival(values, index)) & (values[index] > 0)
            let_go(found)
            let_go(self.channels)
        return found

    def _method(self, class_name: str) -> str:
        shown = "" if self._view.factors == (1.0, 1.0) else ", shown to it at another ground size"
        return f"{class_name} where the network {self.card.name} scores it highest{shown}"

    @cached_property
    def _strangeness(self) -> list[str]:
        return [*_strange_size(self._raster, self.card), *_strange_look(self._view, self.card)]


def _rival(values: NDArray[Any], index: int) -> NDArray[Any]:
    """The highest score of any other class; what is missing to 255 where there is no other."""
    others = np.delete(values, index, 0)
    return np.asarray(others.max(0) if len(others) else SURE - values[index])


def _identity(raster: Raster) -> tuple[Hashable, ...]:
    """What an image's pixels depend on; of the files beside it (masks, world files) the time is enough."""
    beside = sorted(raster.path.parent.glob(f"{raster.path.name}.*"))
    times = tuple(file.stat().st_mtime_ns for file in beside)
    return raster.sha256, raster.name, raster.bands, times


def _identity_of(name: str, card: Card) -> tuple[Hashable, ...]:
    """What a network's scores depend on: who runs which weights, and all that its card states."""
    return name, str(card.path), card.sha256, card.text, card.roofs


def runner_of(card: Card) -> Predict:
    """What gives the scores of a network for (rows, columns, 3) uint8 RGB: (channels, rows, columns), 0 to 1.

    Raises:
        InputError: onnxruntime is not installed, or cannot run it.
    """
    session = _session(card)
    name = session.get_inputs()[0].name
    mean, std = np.array(card.mean, np.float32), np.array(card.std, np.float32)

    def predict(image: ByteImage) -> FloatImage:
        batch = np.ascontiguousarray(((image - mean) / std).transpose(2, 0, 1)[None])
        try:
            out = session.run(None, {name: batch})[0]
        except Exception as why:  # onnxruntime's own errors share no base of their own
            raise InputError(
                f"The network {card.network.name} cannot be run on {image.shape[0]} x {image.shape[1]} pixels "
                f"({_first_line(why)}). Next: check tile and multiple in its card."
            ) from None
        return _activated(np.asarray(out[0], np.float32), card)

    return predict


def _strange_size(raster: Raster, card: Card) -> Iterator[str]:
    trained = card.trained_gsd_m
    if trained is None:
        return
    ground = raster.grid.ground
    if ground is None:
        yield (
            f"DOUBTFUL: the ground size of a pixel is not known, and {card.name} was trained for {trained[0]:g} to "
            f"{trained[1]:g} m; state it with --gsd METRES."
        )
    elif not all(trained[0] * 0.999 <= size <= trained[1] * 1.001 for size in ground.size_xy_m):
        yield (
            f"DOUBTFUL: a pixel measures {max(ground.size_xy_m):.3g} m, outside the {trained[0]:g} to {trained[1]:g} m "
            f"that {card.name} was trained for."
        )


def _strange_look(view: View, card: Card) -> Iterator[str]:
    if card.domain is None:
        return
    distance = card.domain.distance(view.features())
    if distance > card.domain.limit:
        yield (
            f"DOUBTFUL: the image's colours and sharpness are unlike those that {card.name} was trained on "
            f"(distance {distance:.1f}, 99 % of the training images are below {card.domain.limit:.1f})."
        )


def _activated(out: FloatImage, card: Card) -> FloatImage:
    """Scores from 0 to 1; channels beyond the classes are logits of their own."""
    classes, more = out[: len(card.classes)], out[len(card.classes) :]
    if card.activation == "softmax":
        powers = np.exp(classes - classes.max(0))
        classes = powers / powers.sum(0)
    elif card.activation == "sigmoid":
        classes = _sigmoid(classes)
    return np.concatenate([classes, _sigmoid(more)])


def _sigmoid(values: FloatImage) -> FloatImage:
    found: FloatImage = 1 / (1 + np.exp(-values.clip(-60, 60)))
    return found


def _session(card: Card) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise InputError(
            f"The network {card.name} is run by onnxruntime, which is not installed. Next: pip install 'swath[eyes]'."
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(THREADS, os.cpu_count() or 1)
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(card.network, options, providers=["CPUExecutionProvider"])
    except Exception as why:  # onnxruntime's own errors share no base of their own
        raise InputError(
            f"{card.network} is no network that onnxruntime can run ({_first_line(why)}). Next: export it as ONNX anew."
        ) from None


def _first_line(why: Exception) -> str:
    return str(why).strip().split("\n")[0][:160]
