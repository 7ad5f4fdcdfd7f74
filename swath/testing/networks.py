"""Networks whose answers are known by construction, as ONNX files with a card; needs the package `onnx`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SHARPNESS = 8.0
"""How fast a class's logit falls with the distance of a colour from the class's own, both from 0 to 1."""


def colour_network(
    folder: Path,
    colours: dict[str, tuple[int, int, int]],
    *,
    reach_px: int = 0,
    roofs: str | None = None,
    more: str = "",
) -> Path:
    """Write a network that gives each pixel the class of the nearest colour, and its card.

    Args:
        folder: where to write `colours.onnx` and `colours.toml`.
        colours: class name to red, green, blue.
        reach_px: a pixel's logits are means over the pixels this near, so that a tile's edges matter.
        roofs: a class whose objects are told apart: middles are blue above 192, borders blue below 64.
        more: lines added to the card.

    Returns:
        The card.
    """
    centres = np.array(list(colours.values()), np.float32) / 255
    # -|x - c|^2 without the x^2 that all classes share is linear in x: a 1 x 1 convolution.
    kernel = (2 * SHARPNESS * centres / 255)[:, :, None, None]
    offset = -SHARPNESS * (centres**2).sum(1)
    if roofs is not None:
        middles = np.array([[0, 0, 0.1], [0, 0, -0.1]], np.float32)[:, :, None, None]
        kernel, offset = np.concatenate([kernel, middles]), np.concatenate([offset, [-19.2, 6.4]])
    side = 2 * reach_px + 1
    spread = np.ones((1, 1, side, side), np.float32) / side**2
    _write(folder / "colours.onnx", (kernel * spread).astype(np.float32), offset.astype(np.float32))
    count = len(colours)
    objects = f'[objects]\nclass = "{roofs}"\ncentre = {count}\nborder = {count + 1}\nseed = 0.5\nsmallest_px = 1\n'
    card = folder / "colours.toml"
    card.write_text(
        f'name = "colours"\nfile = "colours.onnx"\n{more}\n[input]\ntile = 128\nmultiple = 1\n'
        f"[output]\nclasses = {_quoted(list(colours))}\nchannels = {len(kernel)}\n" + (objects if roofs else ""),
        encoding="utf-8",
    )
    return card


def _quoted(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def _write(path: Path, kernel: NDArray[np.float32], offset: NDArray[np.float32]) -> None:
    from onnx import TensorProto, checker, helper, numpy_helper, save

    pad = kernel.shape[-1] // 2
    node = helper.make_node("Conv", ["image", "kernel", "offset"], ["logits"], pads=[pad] * 4)
    graph = helper.make_graph(
        [node],
        "colours",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, None, None])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, kernel.shape[0], None, None])],
        [numpy_helper.from_array(kernel, "kernel"), numpy_helper.from_array(offset, "offset")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model)
    save(model, path)
