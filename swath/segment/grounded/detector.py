"""Boxes for a phrase in one picture, by OWLv2 or Grounding DINO from a local folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from swath.errors import InputError, ModelMissing, SwathError
from swath.segment.networks.catalogue import folder
from swath.segment.tiling import ByteImage

FloatArray = NDArray[np.float32]
NEEDED = (
    ("config.json",), ("model.safetensors",), ("preprocessor_config.json", "processor_config.json"),
    ("tokenizer_config.json",),
)  # fmt: skip
"""Files of a model; of some one of two suffices, an older and a newer layout."""
KINDS = {"owlv2": "Owlv2", "grounding-dino": "GroundingDino"}
PICTURE_PX = 960
"""Side of the pictures that are looked at; that of OWLv2's own input."""


class Detector(Protocol):
    """Who finds what a phrase names in a picture."""

    def find(self, picture: ByteImage, phrase: str) -> tuple[FloatArray, FloatArray]:
        """Boxes (n, 4), x_min, y_min, x_max, y_max in pixels, and scores (n,) from 0 to 1, of RGB uint8."""

    def describe(self) -> dict[str, Any]:
        """JSON-ready record: model and weights."""


def usual_folder() -> Path:
    """Where a detector is looked for unless a folder is named."""
    return folder() / "grounded"


def model_folder(given: Path | None) -> Path:
    """The folder of the detector.

    Raises:
        ModelMissing: files are missing in it; the sentence says which and where to put them.
    """
    place = given if given is not None else usual_folder()
    missing = [" or ".join(names) for names in NEEDED if not any((place / name).is_file() for name in names)]
    if missing:
        raise ModelMissing(
            f"Free phrases need the files of OWLv2 or Grounding DINO: {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not in {place}. Next: put the model's files there."
        )
    return place


@dataclass(frozen=True, eq=False)
class LocalDetector:
    """A model of `transformers`, read from a folder; nothing is ever fetched, and no code of the folder's is run.

    Attributes:
        kind: "owlv2" or "grounding-dino".
        model: the network.
        processor: prepares pictures and phrases for it.
        sha256: of the weights.
    """

    kind: str
    model: Any
    processor: Any
    sha256: str

    @classmethod
    def load(cls, place: Path) -> LocalDetector:
        """Read a folder.

        Raises:
            InputError: transformers is not installed, or it holds no such model.
        """
        try:
            import transformers
            from transformers import AutoConfig, AutoProcessor
        except ImportError as why:
            raise InputError(
                f"Free phrases need torch and transformers ({why}). Next: pip install 'swath[grounded]'."
            ) from None
        local: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        try:
            kind = AutoConfig.from_pretrained(place, **local).model_type
            if kind not in KINDS:
                raise ValueError(f'it is of the kind "{kind}", not one of {", ".join(KINDS)}')
            made = getattr(transformers, f"{KINDS[kind]}ForObjectDetection")
            model = made.from_pretrained(place, use_safetensors=True, **local)
            processor = AutoProcessor.from_pretrained(place, **local)
        except Exception as why:  # whatever transformers raises of a folder that holds something else
            said = (str(why).strip().splitlines() or [type(why).__name__])[0][:200]
            raise InputError(
                f"{place} holds no model of OWLv2 or Grounding DINO ({said}). Next: copy its files anew."
            ) from None
        model.eval()
        with (place / "model.safetensors").open("rb") as file:
            return cls(kind, model, processor, hashlib.file_digest(file, "sha256").hexdigest())

    def find(self, picture: ByteImage, phrase: str) -> tuple[FloatArray, FloatArray]:
        """Every query's box with its score; the caller chooses."""
        import torch
        from PIL import Image

        text = [[f"a photo of a {phrase}"]] if self.kind == "owlv2" else f"{phrase.lower().rstrip('.')}."
        given = self.processor(images=Image.fromarray(picture), text=text, return_tensors="pt")
        with torch.no_grad():
            out = self.model(**given)
        scores = np.asarray(out.logits[0].sigmoid().max(-1).values, np.float32)
        relative = np.asarray(out.pred_boxes[0], np.float32)
        if not (np.isfinite(scores).all() and np.isfinite(relative).all()):
            raise SwathError("The detector gives no numbers for a part of the image, so nothing is looked for at all.")
        return corners(relative, picture.shape[:2], square=self.kind == "owlv2"), scores

    def describe(self) -> dict[str, Any]:
        """The kind and the weights."""
        return {"detector": self.kind, "weights_sha256": self.sha256}


def corners(relative: FloatArray, shape: tuple[int, int], *, square: bool) -> FloatArray:
    """Boxes x_min, y_min, x_max, y_max in pixels, within the picture.

    Args:
        relative: (n, 4) x and y of the centre, width, height, from 0 to 1.
        shape: (rows, columns) of the picture.
        square: whether it was padded below and on the right to a square, to which boxes then relate.
    """
    rows, cols = shape
    size = np.array([max(shape)] * 2 if square else [cols, rows], np.float32)
    centre, half = relative[:, :2] * size, relative[:, 2:] * size / 2
    low = np.clip(centre - half, 0, [cols, rows])
    high = np.clip(centre + half, 0, [cols, rows])
    return np.concatenate([low, high], axis=1).astype(np.float32)
