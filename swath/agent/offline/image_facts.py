"""Facts about the image itself: its area, its size, its bands."""

from __future__ import annotations

from swath.agent.offline.unsettled import Unsettled

IMAGE_FACTS: dict[str, tuple[str, str, str]] = {
    "area": ("image_area_m2()", "m2", "area of the image (its valid pixels)"),
    "pixel size": ("pixel_size_m()", "m", "ground size of a pixel"),
    "bands": ("band_count()", "count", "bands of the image"),
    "width": ('image_size_px(axis="width") * pixel_size_m()', "m", "width of the image on the ground"),
    "height": ('image_size_px(axis="height") * pixel_size_m()', "m", "height of the image on the ground"),
    "width px": ('image_size_px(axis="width")', "px", "width of the image"),
    "height px": ('image_size_px(axis="height")', "px", "height of the image"),
    "valid": ("valid_percent()", "percent", "share of the image that is valid"),
    "nodata": ("100 - valid_percent()", "percent", "share of the image that is not valid"),
}
"""What each fact about the image is: expression, unit, words."""


def image_fact(name: str) -> tuple[str, str, str]:
    """Expression, unit and words of a fact about the image.

    Raises:
        Unsettled: there is no such fact.
    """
    if name not in IMAGE_FACTS:
        raise Unsettled("What it asks about the image has no such unit. Next: ask for no unit.")
    return IMAGE_FACTS[name]
