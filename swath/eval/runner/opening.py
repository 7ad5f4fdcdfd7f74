"""One image for many questions: opened, segmented and labelled once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swath.agent.desk import Desk
from swath.batch.asked import named_files
from swath.raster.local_files import stamp
from swath.raster.reader import Raster
from swath.tools.site import Site
from swath.trace.strict_json import json_text

KEPT_SITES = 4
"""Ground sizes of one image that are kept at once; its questions seldom state two."""


@dataclass
class OpenedImage:
    """An image under one set of options; what is known of it is shared by all its questions.

    Attributes:
        key: the image and the options, with the state of their files.
        sites: raster and site by the ground size that a question stated, None for the file's own.
    """

    key: str
    sites: dict[float | None, tuple[Raster, Site]] = field(default_factory=dict)

    def site(self, gsd_m: float | None, raster: Raster, site: Site) -> tuple[Raster, Site]:
        """Raster and site for a further question: those that are known, or else the given ones from now on.

        Classes, their objects and distances are shared. What was derived from them is not: it would fill the memory,
        and the warnings that came with it belong to the question that derived it.
        """
        if gsd_m not in self.sites:
            while len(self.sites) >= KEPT_SITES:
                self.sites.pop(next(iter(self.sites)))
            self.sites[gsd_m] = raster, site
        raster, site = self.sites[gsd_m]
        return raster, site.again()


@dataclass
class SharingDesk(Desk):
    """A desk for one of many questions of an image."""

    opened_image: OpenedImage = field(default_factory=lambda: OpenedImage(""))

    def open(self) -> Site:
        """The image as it lies open, or opened now.

        Raises:
            InputError: a file cannot be used.
            Refused: nothing can be measured from such an image.
        """
        if None in self.opened_image.sites:
            self.raster, self.site = self.opened_image.sites[None]
        first = super().open()
        self.raster, self.site = self.opened_image.site(None, self.raster or first.raster, first)
        self.backend = self.site.backend
        return self.site

    def state_gsd(self, gsd_m: float) -> str | None:
        """As for any desk; the site of this ground size is the one that earlier questions left."""
        before = self.site
        clash = super().state_gsd(gsd_m)
        if self.site is not before and self.site is not None:
            self.raster, self.site = self.opened_image.site(gsd_m, self.raster or self.site.raster, self.site)
        return clash


class LastImage:
    """The image that a process asked about last, so that the next question of it finds it open."""

    def __init__(self) -> None:
        self._opened = OpenedImage("")

    def under(self, image: Path, options: Mapping[str, Any]) -> OpenedImage:
        """An image under some options of `swath.ask`; the one before it is let go."""
        key = json_text([str(image), options, stamp([image, *named_files(options)])])
        if key != self._opened.key:
            self._opened = OpenedImage(key)
        return self._opened
