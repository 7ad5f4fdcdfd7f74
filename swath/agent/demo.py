"""Six real questions about a real GeoTIFF that ships in the package, and four about an image of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

from swath.agent.ask import ask
from swath.types import Answer

SCENE = "olinda_l7.tif"
BANDS = {"blue": 1, "green": 2, "red": 3, "nir": 4, "swir1": 5, "swir2": 6}
"""Landsat 7 ETM+ bands 1 to 5 and 7; the file itself does not say so."""

QUESTIONS = (
    "What percentage of the image is water?",
    "How many separate water bodies larger than 2 hectares are there?",
    "What is the total vegetation area (in hectares) within 300 m of water?",
    "How long is the shoreline, in kilometres?",
    "Is the vegetation connected or fragmented? Ignore patches smaller than 5 hectares.",
    "How far is the largest vegetation patch from the nearest water, in metres?",
)

EYES_QUESTIONS = (
    "What percentage of the image is vegetation?",
    "What percentage of the image is building?",
    "How many buildings are there?",
    "Is there any water in the image?",
)


def demo_answers(out: Path) -> Iterator[Answer]:
    """Ask the demo's questions, one run folder each.

    Args:
        out: parent of the run folders.
    """
    with as_file(files("swath") / "data" / SCENE) as image:
        for question in QUESTIONS:
            yield ask(image, question, bands=BANDS, out=out)


def eyes_answers(image: Path, gsd_m: float | None, out: Path) -> Iterator[Answer]:
    """Ask of a colour image what its pixels alone tell the embedded network, one run folder each.

    Args:
        image: red, green and blue; no labels.
        gsd_m: ground size of a pixel, where the image does not tell it.
        out: parent of the run folders.
    """
    for question in EYES_QUESTIONS:
        yield ask(image, question, segmenter="landcover", gsd_m=gsd_m, out=out)
