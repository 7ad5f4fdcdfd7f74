"""A detector whose boxes are known by construction, and real ones with tiny random weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from swath.segment.grounded.detector import FloatArray
from swath.segment.tiling import ByteImage

WORDS = ("photo", "of", "storage", "tank", "tennis", "court", "a", ".")


class ColourDetector:
    """Finds every patch of the colour that a phrase stands for.

    Attributes:
        pictures: how many it has looked at.
    """

    def __init__(self, colours: Mapping[str, tuple[int, int, int]], score: float = 0.9) -> None:
        """Say which colour a phrase stands for, and how sure it is."""
        self._colours, self._score = dict(colours), score
        self.pictures = 0

    def find(self, picture: ByteImage, phrase: str) -> tuple[FloatArray, FloatArray]:
        """Boxes around the patches, all with one score."""
        self.pictures += 1
        colour = self._colours.get(phrase)
        if colour is None:
            return np.zeros((0, 4), np.float32), np.zeros(0, np.float32)
        same = (picture == np.array(colour)).all(2).astype(np.uint8)
        _, _, stats, _ = cv2.connectedComponentsWithStats(same, connectivity=8)
        x, y, width, height = stats[1:, :4].T
        boxes = np.stack([x, y, x + width, y + height], axis=1).astype(np.float32)
        return boxes, np.full(len(boxes), self._score, np.float32)

    def describe(self) -> dict[str, Any]:
        """Its name."""
        return {"detector": "colours"}


def tiny_owl(place: Path) -> Path:
    """Write OWLv2 with a tiny random configuration into a folder, as its own files.

    Raises:
        ImportError: transformers is not installed.
    """
    import torch
    from transformers import CLIPTokenizer, Owlv2Config, Owlv2ForObjectDetection, Owlv2ImageProcessor, Owlv2Processor

    torch.manual_seed(0)
    place.mkdir(parents=True, exist_ok=True)
    letters = [chr(code) for code in range(33, 127)]
    tokens = [*letters, *(letter + "</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    (place / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    (place / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    tokenizer = CLIPTokenizer(str(place / "vocab.json"), str(place / "merges.txt"), model_max_length=64)
    text = {
        "vocab_size": len(tokens), "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1,
        "num_attention_heads": 2, "max_position_embeddings": 64, "bos_token_id": len(tokens) - 2,
        "eos_token_id": len(tokens) - 1, "pad_token_id": 0,
    }  # fmt: skip
    vision = {
        "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
        "image_size": 96, "patch_size": 16,
    }  # fmt: skip
    config = Owlv2Config(text_config=text, vision_config=vision, projection_dim=32)
    model = Owlv2ForObjectDetection(config)
    with torch.no_grad():  # scores of random weights would all be 1 or 0, whatever the phrase
        for layer in (model.class_head.logit_shift, model.class_head.logit_scale):
            layer.weight.zero_()
            layer.bias.zero_()
    model.save_pretrained(place)
    images = Owlv2ImageProcessor(size={"height": 96, "width": 96})
    Owlv2Processor(image_processor=images, tokenizer=tokenizer).save_pretrained(place)
    return place


def tiny_dino(place: Path) -> Path:
    """Write Grounding DINO with a tiny random configuration into a folder, as its own files.

    Raises:
        ImportError: transformers is not installed.
    """
    import torch
    from transformers import (
        BertTokenizer,
        GroundingDinoConfig,
        GroundingDinoForObjectDetection,
        GroundingDinoImageProcessor,
        GroundingDinoProcessor,
        SwinConfig,
    )  # fmt: skip

    torch.manual_seed(0)
    place.mkdir(parents=True, exist_ok=True)
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (place / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    tokenizer = BertTokenizer(str(place / "vocab.txt"))
    text = {
        "model_type": "bert", "vocab_size": 1100, "hidden_size": 32, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": 32, "max_position_embeddings": 256,
    }  # fmt: skip
    backbone = SwinConfig(
        image_size=64, embed_dim=8, depths=[1, 1, 1, 1], num_heads=[1, 2, 2, 4], window_size=4,
        out_features=["stage2", "stage3", "stage4"],
    )  # fmt: skip
    config = GroundingDinoConfig(
        backbone_config=backbone, text_config=text, d_model=32, encoder_layers=1, decoder_layers=2,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, num_queries=20,
        max_text_len=32,
    )  # fmt: skip
    GroundingDinoForObjectDetection(config).save_pretrained(place)
    images = GroundingDinoImageProcessor(size={"shortest_edge": 64, "longest_edge": 96})
    GroundingDinoProcessor(image_processor=images, tokenizer=tokenizer).save_pretrained(place)
    return place
