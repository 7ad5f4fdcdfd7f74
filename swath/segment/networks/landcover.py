"""The embedded network: building, land, road, vegetation and water from colour images of 0.1 to 1 m."""

from __future__ import annotations

from pathlib import Path

from swath.segment.networks.onnx import OnnxBackend
from swath.segment.protocol import SegmentOptions

CARD = Path(__file__).with_name("landcover.toml")


class LandCover(OnnxBackend):
    """What `--segmenter landcover` opens; its numbers and limits stand in its card."""

    name = "landcover"

    def _card_path(self, options: SegmentOptions) -> Path:
        return CARD
