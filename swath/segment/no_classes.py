"""A source that knows no class: size, bands and valid share of an image can be asked for all the same."""

from __future__ import annotations

from typing import Any

from swath.errors import Refused
from swath.segment.protocol import Segmentation


class NoClasses:
    """Stands in where no labels are given and the image's bands tell no class.

    Attributes:
        why: the refusal of the source that was tried.
    """

    name = "none"

    def __init__(self, why: Refused) -> None:
        self.why = why

    def classes(self) -> tuple[str, ...]:
        """None at all."""
        return ()

    def known(self) -> None:
        """Every valid pixel counts."""

    def segment(self, class_name: str) -> Segmentation:
        """Refused, with the reason why no class is known.

        Raises:
            Refused: always.
        """
        raise self.why

    def describe(self) -> dict[str, Any]:
        """JSON-ready record: why there are no classes."""
        return {"name": self.name, "why": str(self.why)}
