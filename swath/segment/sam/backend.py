"""Classes of outlined things: which class from another source, which outline from Segment Anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from swath.errors import Refused
from swath.raster.reader import Raster
from swath.segment.networks.landcover import LandCover
from swath.segment.networks.objects import onto
from swath.segment.networks.view import View, is_rgb
from swath.segment.protocol import Backend, Segmentation, SegmentOptions, unknown_class
from swath.segment.sam.objects import Objects, means, outlined
from swath.segment.sam.outliner import Outliner, Rule, SegmentAnything
from swath.segment.sam.weights import checkpoint, load

MINE = 0.5
"""Mean score of a class in an outline, from which on the outline is of the class: where it wins."""
Source = Callable[[Raster, SegmentOptions], Backend]


class OutlinedBackend:
    """Every outline is of the class that scores highest on the average of its pixels.

    A backend of one's own outlines and classes: `OutlinedBackend(raster, options, source, outliner)`.
    """

    name = "sam"
    everywhere = False
    """Whether pixels in no outline keep the class that their source gives them."""

    def __init__(
        self, raster: Raster, options: SegmentOptions, source: Backend | None = None, outliner: Outliner | None = None
    ) -> None:
        """Open weights and the source of classes.

        Args:
            raster: the image.
            options: `card` is the checkpoint.
            source: who knows classes; the embedded network if left out.
            outliner: who outlines; Segment Anything if left out.

        Raises:
            InputError: the checkpoint cannot be used, or a package is missing.
            Refused: there is no checkpoint, or the image is not red, green and blue.
        """
        if not is_rgb(raster):
            raise Refused(
                f"{self.name} sees red, green and blue, which are not known in {raster.path.name}. "
                "Next: name the bands with --bands red=N,green=N,blue=N, or give --labels FILE."
            )
        self._raster, self._progress = raster, options.progress
        self._outliner = SegmentAnything(load(checkpoint(options.card)), Rule()) if outliner is None else outliner
        self._source = LandCover(raster, replace(options, card=None)) if source is None else source

    def classes(self) -> tuple[str, ...]:
        """The classes that the source of classes knows."""
        return self._source.classes()

    def known(self) -> Any:
        """Where the source of classes says anything."""
        return self._source.known()

    def segment(self, class_name: str) -> Segmentation:
        """The pixels of a class.

        Raises:
            Refused: the class is not one of `classes()`.
        """
        if class_name not in self.classes():
            raise unknown_class(class_name, self)
        found = self._source.segment(class_name)
        score = np.asarray(found.mask[:] if found.score is None else found.score[:], dtype=np.float32)
        objects = self.objects
        of_object = means(objects.ids, objects.count, score).astype(np.float32)
        of_object[0] = 0.0
        averaged = of_object[objects.ids]
        if self.everywhere:
            averaged = np.where(objects.ids > 0, averaged, np.nan_to_num(score))
        used = found.thresholds[1] if found.thresholds is not None else MINE
        mask = averaged >= np.float32(used)
        return Segmentation(
            mask,
            averaged,
            found.thresholds,
            self._ids(found, mask),
            method=f"{found.method}, in the outlines of {self._outliner.describe().get('checkpoint', 'an outliner')}",
            warnings=(*found.warnings, *self._sentences(mask)),
        )

    def describe(self) -> dict[str, Any]:
        """JSON-ready record: what gave the outlines, what the classes."""
        return {"name": self.name, "outlines": self._outliner.describe(), "classes_of": self._source.describe()}

    @cached_property
    def objects(self) -> Objects:
        """The outlines of the whole image, computed once."""
        view = View(self._raster, (1.0, 1.0))
        return outlined(self._raster.shape, view.read, self._outliner, self._progress)

    def _ids(self, found: Segmentation, mask: Any) -> Any:
        if not self.everywhere:
            return np.where(mask, self.objects.ids, 0).astype(np.int32)
        return None if found.instance_ids is None else onto(found.instance_ids, mask)

    def _sentences(self, mask: Any) -> tuple[str, ...]:
        objects = self.objects
        said = []
        if not self.everywhere:
            share = 100 * float((objects.ids > 0).mean())
            said.append(f"Outlines cover {share:.3g} % of the image; the rest is taken to be of no class.")
        if objects.cut and not self.everywhere:
            said.append(f"{objects.cut} outlines were left out: they reach beyond every picture that shows them.")
        return tuple(said)


class Refined(OutlinedBackend):
    """Classes of the embedded network, with the outlines of Segment Anything where it has any."""

    name = "landcover+sam"
    everywhere = True
