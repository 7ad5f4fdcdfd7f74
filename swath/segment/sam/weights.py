"""Checkpoints of Segment Anything: where they lie, and the network that their weights describe."""

from __future__ import annotations

import hashlib
import pickle
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from swath.errors import InputError, Refused
from swath.segment.networks.catalogue import folder

PATTERN = "sam_vit_*.pth"
"""Names of the official checkpoints."""
NO_WEIGHTS = (
    OSError, EOFError, RuntimeError, LookupError, ValueError, TypeError, AttributeError, pickle.UnpicklingError,
)  # fmt: skip
"""What reading or using a file raises that holds something else."""


@dataclass(frozen=True, eq=False)
class Network:
    """A network ready to run.

    Attributes:
        model: `segment_anything.modeling.Sam`.
        name: of the checkpoint's file.
        sha256: of that file.
    """

    model: Any
    name: str
    sha256: str


def checkpoint(given: Path | None) -> Path:
    """The checkpoint that was named, else the one in the folder of models.

    Raises:
        InputError: the one that was named is not there.
        Refused: none was named, and none lies there.
    """
    if given is not None:
        if not given.is_file():
            raise InputError(f"There is no checkpoint {given}. Next: check the path behind --segmenter sam:.")
        return given
    found = sorted(folder().glob(PATTERN), key=lambda path: path.stat().st_size)
    if not found:
        raise Refused(
            f"Segment Anything has no weights here: no {PATTERN} lies in {folder()}. "
            "Next: swath models pull sam-vit-b, or name a checkpoint as in --segmenter sam:sam_vit_b_01ec64.pth."
        )
    return found[0]


def load(path: Path) -> Network:
    """Read a checkpoint; what cannot be weights is refused before anything of it is run.

    Raises:
        InputError: torch or segment-anything is not installed, or it is no checkpoint.
    """
    try:
        import segment_anything  # noqa: F401  # both are needed; say so before 2 GB are read
        import torch
    except ImportError as why:
        raise InputError(
            f"Segment Anything needs torch and segment-anything ({why}). Next: pip install 'swath[sam]'."
        ) from None
    try:
        with warnings.catch_warnings(action="ignore"):  # of torch, about files that are refused anyway
            weights = torch.load(path, map_location="cpu", weights_only=True)
        model = _built(weights)
        model.load_state_dict(weights)
    except NO_WEIGHTS as why:
        said = (str(why).strip().splitlines() or [type(why).__name__])[0][:160]
        raise InputError(
            f"{path} is no checkpoint of Segment Anything ({said}). Next: get it anew with swath models pull sam-vit-b."
        ) from None
    model.eval()
    with path.open("rb") as file:
        return Network(model, path.name, hashlib.file_digest(file, "sha256").hexdigest())


def _built(weights: Mapping[str, Any]) -> Any:
    """The network whose shape the weights have: the official sizes differ in width, depth, heads and global layers."""
    from segment_anything.modeling import MaskDecoder, PromptEncoder, Sam, TwoWayTransformer
    from torch import nn

    width, _, patch, _ = weights["image_encoder.patch_embed.proj.weight"].shape
    tokens = weights["image_encoder.pos_embed"].shape[1]
    reaches = _reaches(weights)
    channels = weights["image_encoder.neck.0.weight"].shape[0]
    windows = [reach for reach in reaches if reach != tokens]
    from segment_anything.modeling import ImageEncoderViT

    encoder = ImageEncoderViT(
        img_size=tokens * patch,
        patch_size=patch,
        embed_dim=width,
        depth=len(reaches),
        num_heads=width // weights["image_encoder.blocks.0.attn.rel_pos_h"].shape[1],
        mlp_ratio=weights["image_encoder.blocks.0.mlp.lin1.weight"].shape[0] / width,
        out_chans=channels,
        norm_layer=partial(nn.LayerNorm, eps=1e-6),
        use_rel_pos=True,
        window_size=windows[0] if windows else 0,
        global_attn_indexes=[i for i, reach in enumerate(reaches) if reach == tokens],
    )
    prompts = PromptEncoder(channels, (tokens, tokens), (tokens * patch, tokens * patch), mask_in_chans=16)
    hidden = weights["mask_decoder.transformer.layers.0.mlp.lin1.weight"].shape[0]
    attention = TwoWayTransformer(depth=2, embedding_dim=channels, num_heads=8, mlp_dim=hidden)
    decoder = MaskDecoder(transformer_dim=channels, transformer=attention)
    return Sam(encoder, prompts, decoder)


def _reaches(weights: Mapping[str, Any]) -> list[int]:
    """How many tokens every layer of the image encoder looks across."""
    found: list[int] = []
    while (key := f"image_encoder.blocks.{len(found)}.attn.rel_pos_h") in weights:
        found.append((weights[key].shape[0] + 1) // 2)
    if not found:
        raise KeyError("image_encoder.blocks.0.attn.rel_pos_h")
    return found
