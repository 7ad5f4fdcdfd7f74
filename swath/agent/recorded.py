"""What a run kept, as a source of classes: a segmenter that answers exactly what it answered then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.agent.kept_masks import read_segmentation, sha256_of
from swath.errors import InputError, Refused
from swath.raster.held import IN_ARRAYS, USUAL_TILES, Tiles
from swath.raster.reader import Raster, masked_windows, open_raster
from swath.raster.tiled import PixelSet, tiled
from swath.segment.error_matrix import ErrorMatrix, recorded_matrix
from swath.segment.protocol import Segmentation
from swath.tools.clip import Clip
from swath.trace.reading import Run


class RecordedBackend:
    """The segmentations of a run that was kept in full; every file is checked before it is used."""

    def __init__(self, run: Run, shape: tuple[int, int], tiles: Tiles = USUAL_TILES) -> None:
        """Look the run up; files are read when their class is asked for.

        Args:
            run: a run that has kept its masks.
            shape: (rows, columns) of its image.
            tiles: when and how its pixels are held in tiles.
        """
        self._run = run
        self._shape, self._tiles = shape, tiles
        self._kept: Mapping[str, Any] = run.record["segmentations"]
        self.name = str(run.answer.get("segmenter") or "recorded")

    def classes(self) -> tuple[str, ...]:
        """The classes that the segmenter knew then."""
        return tuple(self._run.record["classes"] or ())

    def known(self) -> PixelSet:
        """(rows, columns) bool: the pixels that counted then, area of interest included.

        Raises:
            InputError: the file is missing or has changed.
        """
        return self._set(self._run.record["valid"])

    def clip(self) -> Clip | None:
        """The area of interest of the run, None where it had none.

        Raises:
            InputError: the file is missing or has changed.
        """
        kept = self._run.record.get("clip")
        if kept is None:
            return None
        return Clip(str(kept["name"]), self._set(kept["beyond"]), tuple(kept["notes"]))

    def errors(self) -> ErrorMatrix | None:
        """The error matrix that corrected the answer then, None where there was none."""
        kept = self._run.record.get("errors")
        return None if kept is None else recorded_matrix(kept)

    def segment(self, class_name: str) -> Segmentation:
        """The segmentation of a class as it was.

        Raises:
            Refused: the run did not look at this class.
            InputError: a file is missing or has changed.
        """
        if class_name not in self._kept:
            kept = ", ".join(self._kept) or "nothing"
            raise Refused(
                f'"{class_name}" was not looked at in run {self._run.id}, which kept {kept}. '
                "Next: replay it with --resegment."
            )
        return read_segmentation(self._kept[class_name], self._set, self._pixels, self._lines)

    def vocabulary(self) -> RecordedBackend | None:
        """Who found free phrases: this, where the run kept what was found for one; never a model."""
        return self if set(self._kept) - set(self.classes()) else None

    def ground(self, phrase: str) -> Segmentation:
        """What was found for a free phrase; errors as for `segment`."""
        return self.segment(phrase)

    def describe(self) -> dict[str, Any]:
        """What the segmenter said of itself then."""
        return dict(self._run.record["segmenter"])

    def _set(self, entry: Mapping[str, str]) -> PixelSet:
        if not self._tiles.hold(self._shape):
            return np.asarray(self._pixels(entry) > 0)
        windows = masked_windows(self._opened(entry), 1)
        return tiled(self._shape, self._tiles, lambda rows, cols: np.asarray(windows(rows, cols).data[0] > 0))

    def _pixels(self, entry: Mapping[str, str]) -> NDArray[Any]:
        """All values of a file at once: ids of objects are held so in the run too."""
        return np.ascontiguousarray(self._opened(entry, IN_ARRAYS).read(1).data.data[0])

    def _opened(self, entry: Mapping[str, str], tiles: Tiles | None = None) -> Raster:
        raster = open_raster(checked(self._run, entry), tiles=tiles or self._tiles)
        if raster.shape != self._shape:
            raise InputError(
                f"{entry['file']} of run {self._run.id} has {raster.shape} rows and columns, its image {self._shape}. "
                "Next: replay it with --resegment."
            )
        return raster

    def _lines(self, entry: Mapping[str, str]) -> list[str]:
        text = checked(self._run, entry).read_text(encoding="utf-8")
        return [line for line in text.split("\n") if line]


def checked(run: Run, entry: Mapping[str, str]) -> Any:
    """The path of a kept file, whose bytes are the ones that were written.

    Raises:
        InputError: it is missing, or has changed since.
    """
    path = run.file(entry["file"])
    if sha256_of(path) != entry["sha256"]:
        raise InputError(
            f"{entry['file']} of run {run.id} has changed since it was kept. Next: replay it with --resegment."
        )
    return path
