"""An outliner whose outlines are known by construction, and Segment Anything with tiny random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from swath.segment.protocol import BoolImage
from swath.segment.sam.outliner import Boxes, Outlined
from swath.segment.tiling import ByteImage


class ColourOutlines:
    """Outlines every 8-connected patch of one colour.

    Attributes:
        pictures: (rows, columns) of every picture that was looked at.
    """

    def __init__(self, side_px: int, background: tuple[int, int, int] = (0, 0, 0)) -> None:
        """Choose what is seen.

        Args:
            side_px: side of the largest picture that is looked at as it is.
            background: the colour of what is no thing.
        """
        self._side_px, self._background = side_px, background
        self.pictures: list[tuple[int, int]] = []

    @property
    def side_px(self) -> int:
        """As it was given."""
        return self._side_px

    def everything(self, picture: ByteImage) -> list[Outlined]:
        """Every patch; smaller ones are a little better, so that the order is known."""
        self.pictures.append((picture.shape[0], picture.shape[1]))
        return [_outlined(patch) for patch in self._patches(picture)]

    def in_boxes(self, picture: ByteImage, boxes: Boxes) -> list[BoolImage]:
        """The pixels in each box that are no background."""
        self.pictures.append((picture.shape[0], picture.shape[1]))
        thing = (picture != np.array(self._background)).any(2)
        found = []
        for box in boxes:
            x_min, y_min, x_max, y_max = (round(float(value)) for value in box)
            inside = np.zeros(thing.shape, bool)
            inside[max(y_min, 0) : y_max, max(x_min, 0) : x_max] = True
            found.append(inside & thing)
        return found

    def at_points(self, picture: ByteImage, points: Boxes) -> list[BoolImage]:
        """The patch at each point; nothing on background."""
        self.pictures.append((picture.shape[0], picture.shape[1]))
        patches = self._patches(picture)
        nothing = np.zeros(picture.shape[:2], bool)
        return [next((patch for patch in patches if patch[int(y), int(x)]), nothing) for x, y in points]

    def describe(self) -> dict[str, Any]:
        """Its name."""
        return {"checkpoint": "colours", "side_px": self._side_px}

    def _patches(self, picture: ByteImage) -> list[BoolImage]:
        colours = np.unique(picture.reshape(-1, 3), axis=0)
        found = []
        for colour in colours[(colours != np.array(self._background)).any(1)]:
            same = (picture == colour).all(2).astype(np.uint8)
            count, labels = cv2.connectedComponents(same, connectivity=8)
            found += [labels == number for number in range(1, count)]
        return found


def _outlined(patch: BoolImage) -> Outlined:
    rows, cols = np.flatnonzero(patch.any(1)), np.flatnonzero(patch.any(0))
    down, right = slice(int(rows[0]), int(rows[-1]) + 1), slice(int(cols[0]), int(cols[-1]) + 1)
    return Outlined(down, right, patch[down, right], 1.0 / (1 + float(patch.sum())))


def tiny_checkpoint(path: Path, side_px: int = 256, seed: int = 0) -> Path:
    """Write Segment Anything with random weights and a small image encoder, in the layout of the official checkpoints.

    Args:
        path: file to write.
        side_px: side of its input, a multiple of 16.
        seed: of the weights.

    Raises:
        ImportError: torch or segment-anything is not installed.
    """
    import torch
    from segment_anything.modeling import ImageEncoderViT, MaskDecoder, PromptEncoder, Sam, TwoWayTransformer

    torch.manual_seed(seed)
    tokens = side_px // 16
    encoder = ImageEncoderViT(
        img_size=side_px, embed_dim=32, depth=2, num_heads=2, out_chans=256, use_rel_pos=True, window_size=4,
        global_attn_indexes=(1,),
    )  # fmt: skip
    prompts = PromptEncoder(256, (tokens, tokens), (side_px, side_px), 16)
    attention = TwoWayTransformer(depth=2, embedding_dim=256, num_heads=8, mlp_dim=64)
    model = Sam(encoder, prompts, MaskDecoder(transformer_dim=256, transformer=attention))
    torch.save(model.state_dict(), path)
    return path


def exact_network(model: Any) -> Any:
    """Make a network answer each box prompt with that box itself, so that only coordinates decide where a mask lies.

    Args:
        model: a `Sam`; its prompt encoder and mask decoder are replaced.
    """
    import torch
    from torch import nn

    side = model.image_encoder.img_size

    class Prompts(nn.Module):  # type: ignore[misc]  # torch is not read for types
        """Hands box corners on, as they arrive in the network's frame."""

        def forward(self, points: Any, boxes: Any, masks: Any) -> Any:
            return boxes.reshape(-1, 2, 2), None

        def get_dense_pe(self) -> Any:
            return None

    class Decoder(nn.Module):  # type: ignore[misc]  # torch is imported late: untyped here
        """Draws each box on the low-resolution grid: positive inside, by the distance to its edges."""

        def forward(self, image_embeddings: Any, sparse_prompt_embeddings: Any, **_: Any) -> Any:
            centres = torch.arange(side // 4) * 4 + 2.0
            drawn = []
            for (x_min, y_min), (x_max, y_max) in sparse_prompt_embeddings:
                across = torch.minimum(centres - x_min, x_max - centres)
                down = torch.minimum(centres - y_min, y_max - centres)
                drawn.append(torch.minimum(down[:, None], across[None, :])[None])
            return torch.stack(drawn), torch.ones(len(drawn), 1)

    model.prompt_encoder, model.mask_decoder = Prompts(), Decoder()
    return model


def box_mask(shape: tuple[int, int], box: NDArray[np.floating[Any]]) -> BoolImage:
    """(rows, columns) bool: the pixels whose centres lie in a box x_min, y_min, x_max, y_max."""
    down, across = np.arange(shape[0]) + 0.5, np.arange(shape[1]) + 0.5
    inside: BoolImage = ((down > box[1]) & (down < box[3]))[:, None] & ((across > box[0]) & (across < box[2]))[None, :]
    return inside
