"""Pictures for vision models."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from swath.raster.reader import Raster
from swath.raster.stretch import apply_stretch, display, global_stretch

LONGEST_SIDE_PX = 1024


def message_of(text: str, picture: NDArray[np.uint8]) -> dict[str, Any]:
    """A user's message of a text and a picture, as PNG.

    Args:
        text: what is asked.
        picture: (rows, columns, 3).
    """
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    url = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
    parts = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]
    return {"role": "user", "content": parts}


def crop(raster: Raster, rows: slice, cols: slice, longest_side: int) -> NDArray[np.uint8]:
    """A part of an image as people see it, under the stretch of the whole; every nth pixel where it is large.

    Args:
        raster: the image.
        rows: of the part.
        cols: of the part.
        longest_side: most pixels along either side.

    Returns:
        uint8 (rows, columns, 3).
    """
    if raster.palette() is not None:
        part = display(raster)[0][rows, cols]
    else:
        stretch = global_stretch(raster)
        part = apply_stretch(raster.read(*dict.fromkeys(stretch.bands), rows=rows, cols=cols), stretch)
    step = -(-max(part.shape[:2]) // longest_side)
    return np.ascontiguousarray(part[::step, ::step])
