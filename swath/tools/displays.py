"""Masks and regions as HTML, for notebooks."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from swath.raster.tiled import PixelSet

if TYPE_CHECKING:
    from swath.tools.handles import Mask, Regions

LONGEST_SIDE_PX = 480
MOST_ROWS = 20
INSIDE, OUTSIDE, INVALID = (0, 114, 178), (240, 240, 240), (170, 170, 170)
"""Colours of the set, of what is not in it, and of pixels that do not count."""


def mask_html(mask: Mask) -> str:
    """A mask as a picture, at most `LONGEST_SIDE_PX` wide or high, with its name and size."""
    said = f"{mask.name}: {mask.size_px:,} px"
    if mask.grid.ground is not None:
        said += f", {mask.area_m2:,.6g} m2"
    return f"<figure>{_picture(mask.pixels, mask.valid)}<figcaption>{escape(said)}</figcaption></figure>"


def regions_html(regions: Regions) -> str:
    """The first `MOST_ROWS` objects as a table, below a picture of all of them."""
    ground = regions.grid.ground is not None
    head = "".join(f"<th>{name}</th>" for name in ("id", "area (m2)" if ground else "area (px)", "box (px)"))
    first = regions.take(np.arange(min(len(regions), MOST_ROWS)), regions.name)
    rows = ""
    if len(first):
        areas = first.column("areas_m2" if ground else "areas_px")
        for name, area, box in zip(first.column("source_ids"), areas, first.column("boxes"), strict=True):
            cells = (escape(str(name)), f"{area:,.6g}", ", ".join(f"{side:d}" for side in box))
            rows += f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    more = f"<p>and {len(regions) - MOST_ROWS:,} more</p>" if len(regions) > MOST_ROWS else ""
    named = f"<figcaption>{escape(regions.name)}: {len(regions):,}</figcaption>"
    picture = f"<figure>{_picture(regions.mask.pixels, regions.valid)}{named}</figure>"
    return f"{picture}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _picture(pixels: PixelSet, valid: PixelSet) -> str:
    """An image element; a pixel of a reduced picture is of the set if the pixel of the image at its place is."""
    step = max(1, -(-max(pixels.shape) // LONGEST_SIDE_PX))
    inside, counts = pixels[::step, ::step], valid[::step, ::step]
    colours = np.where(inside[..., None], INSIDE, np.where(counts[..., None], OUTSIDE, INVALID)).astype(np.uint8)
    file = BytesIO()
    Image.fromarray(colours).save(file, "PNG")
    return f'<img alt="mask" src="data:image/png;base64,{b64encode(file.getvalue()).decode()}">'
