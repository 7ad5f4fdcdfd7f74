"""`grounded`: objects that any phrase names, as boxes, or as outlines where Segment Anything has weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
import shapely.affinity
import shapely.geometry

from swath.errors import InputError, Refused
from swath.raster.reader import Raster
from swath.segment.burn import burn
from swath.segment.grounded.detector import PICTURE_PX, Detector, FloatArray, LocalDetector, model_folder
from swath.segment.networks.view import View, is_rgb
from swath.segment.protocol import Feature, Segmentation, SegmentOptions, unknown_class
from swath.segment.sam.objects import EDGE_PX, pictures, prompted
from swath.segment.sam.outliner import Outliner, SegmentAnything
from swath.segment.sam.weights import checkpoint, load

LEAST_SCORE = 0.3
SAME = 0.5
"""IoU of two boxes from which on they are of one object."""
LONGEST_PHRASE = 200


class Grounded:
    """Finds what a phrase names; it has no classes of its own."""

    name = "grounded"

    def __init__(
        self,
        raster: Raster,
        options: SegmentOptions,
        detector: Detector | None = None,
        outliner: Outliner | None = None,
    ) -> None:
        """Look for the model; it is read when the first phrase is asked for.

        Args:
            raster: the image.
            options: `card` is the folder of the detector.
            detector: who finds boxes; the model in the folder if left out.
            outliner: who outlines them; Segment Anything where it has weights if left out.

        Raises:
            ModelMissing: files of the model are missing.
            Refused: the image is not red, green and blue.
        """
        self._place = model_folder(options.card) if detector is None else None
        if not is_rgb(raster):
            raise Refused(
                f"Phrases are looked for in red, green and blue, which are not known in {raster.path.name}. "
                "Next: name the bands with --bands red=N,green=N,blue=N."
            )
        self._raster, self._progress = raster, options.progress
        self._detector, self._outliner = detector, outliner

    def classes(self) -> tuple[str, ...]:
        """None: there is no list of what a phrase may name."""
        return ()

    def known(self) -> None:
        """Every valid pixel."""

    def segment(self, class_name: str) -> Segmentation:
        """Refused: there are no classes.

        Raises:
            Refused: always.
        """
        raise unknown_class(class_name, self)

    def ground(self, phrase: str) -> Segmentation:
        """The objects that a phrase names, each with its outline and score.

        Raises:
            Refused: the phrase is too long.
            InputError: a model cannot be used.
        """
        if not phrase.strip() or len(phrase) > LONGEST_PHRASE:
            raise Refused(f"A phrase has 1 to {LONGEST_PHRASE} letters. Next: name the thing in a few words.")
        if self._detector is None:
            self._detector, self._outliner = self._opened()
        boxes, scores = self._boxes(phrase)
        outlines = self._outlines(boxes)
        features = tuple(
            Feature(str(number), outline, float(score))
            for number, (outline, score) in enumerate(zip(outlines, scores, strict=True), start=1)
        )
        mask = burn(outlines, self._raster.shape, areal=True)
        how = "boxes" if self._outliner is None else "outlines by Segment Anything"
        said = (
            f'"{phrase}" was looked for by a detector that was never checked on such images: {len(features)} {how} '
            f"with a score of at least {LEAST_SCORE:g}.",
        )
        return Segmentation(
            mask, features=features, method=f'{how} of what a detector takes for "{phrase}"', warnings=said
        )

    def describe(self) -> dict[str, Any]:
        """JSON-ready record: the models."""
        found = {} if self._detector is None else self._detector.describe()
        outlines = None if self._outliner is None else self._outliner.describe()
        return {"name": self.name, **found, "least_score": LEAST_SCORE, "outlines": outlines}

    def _opened(self) -> tuple[Detector, Outliner | None]:
        if self._place is None:
            raise RuntimeError("there is neither a detector nor its folder")
        detector = LocalDetector.load(self._place)
        try:
            return detector, SegmentAnything(load(checkpoint(None)))
        except (Refused, InputError):
            return detector, None  # boxes are an answer too; the method says which they are

    def _boxes(self, phrase: str) -> tuple[FloatArray, FloatArray]:
        """Boxes in the whole image, best first, each object once."""
        if self._detector is None:
            raise RuntimeError("the detector has not been opened")
        view = View(self._raster, (1.0, 1.0))
        windows = pictures(self._raster.shape, PICTURE_PX)
        found: list[FloatArray] = [np.zeros((0, 5), np.float32)]
        for done, (rows, cols) in enumerate(windows, start=1):
            boxes, scores = self._detector.find(view.read(rows, cols), phrase)
            kept = (scores >= LEAST_SCORE) & ~_cut(boxes, (rows, cols), self._raster.shape)
            kept &= (boxes[:, 2] - boxes[:, 0] >= 1) & (boxes[:, 3] - boxes[:, 1] >= 1)
            moved = boxes[kept] + np.array([cols.start, rows.start] * 2, np.float32)
            found.append(np.concatenate([moved, scores[kept, None]], axis=1).astype(np.float32))
            if self._progress is not None:
                self._progress(done, len(windows))
        each = _once(np.concatenate(found))
        return each[:, :4], each[:, 4]

    def _outlines(self, boxes: FloatArray) -> list[Any]:
        """A polygon for each box; the box itself where nothing outlines it."""
        frames = [shapely.box(*map(float, box)) for box in boxes]
        if self._outliner is None or not len(boxes):
            return frames
        view = View(self._raster, (1.0, 1.0))
        masks = prompted(self._raster.shape, view.read, self._outliner.side_px, boxes, self._outliner.in_boxes)
        return [
            _polygon(mask, rows.start, cols.start) or frame
            for frame, (rows, cols, mask) in zip(frames, masks, strict=True)
        ]


def _cut(boxes: FloatArray, window: tuple[slice, slice], shape: tuple[int, int]) -> Any:
    """(n,) bool: boxes that reach an edge of the picture behind which the image goes on."""
    rows, cols = window
    height, width = rows.stop - rows.start, cols.stop - cols.start
    cut = np.zeros(len(boxes), bool)
    cut |= (cols.start > 0) & (boxes[:, 0] < EDGE_PX)
    cut |= (rows.start > 0) & (boxes[:, 1] < EDGE_PX)
    cut |= (cols.stop < shape[1]) & (boxes[:, 2] > width - EDGE_PX)
    cut |= (rows.stop < shape[0]) & (boxes[:, 3] > height - EDGE_PX)
    return cut


def _once(found: FloatArray) -> FloatArray:
    """(n, 5) boxes with scores, best first, without those that overlap a better one."""
    left = found[np.argsort(-found[:, 4], kind="stable")]
    kept = []
    while len(left):
        best, left = left[0], left[1:]
        kept.append(best)
        low, high = np.maximum(best[:2], left[:, :2]), np.minimum(best[2:4], left[:, 2:4])
        shared = np.prod(np.clip(high - low, 0, None), axis=1)
        areas = np.prod(left[:, 2:4] - left[:, :2], axis=1)
        left = left[shared < SAME * (np.prod(best[2:4] - best[:2]) + areas - shared)]
    return np.array(kept, np.float32).reshape(-1, 5)


def _polygon(mask: Any, top: int, left: int) -> Any | None:
    """The outline of a mask in pixels of the image; None of an empty one."""
    if not mask.any():
        return None
    from rasterio.features import shapes

    parts = [shapely.geometry.shape(shape) for shape, value in shapes(mask.astype(np.uint8), mask, 8) if value]
    return shapely.affinity.translate(shapely.unary_union(parts), left, top)
