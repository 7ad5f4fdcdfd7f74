"""Pictures for vision models."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image


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
