"""Outlines in one picture: automatic ones, and those that boxes and points ask for."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from swath.errors import SwathError
from swath.segment.networks.catalogue import folder
from swath.segment.protocol import BoolImage
from swath.segment.sam.weights import Network
from swath.segment.tiling import ByteImage

Boxes = NDArray[np.floating[Any]]
KEPT_EMBEDDINGS = 256
"""Files of up to 4 MB each: a gigabyte. Embedding 1024 x 1024 pixels takes seconds, reading one milliseconds."""


@dataclass(frozen=True)
class Rule:
    """Which automatic outlines are taken; the package's own defaults.

    Attributes:
        points_per_side: prompts along each side of a picture.
        least_quality: of the network's own guess of an outline's IoU.
        least_stability: IoU of the outline under a stricter and a laxer cut.
    """

    points_per_side: int = 32
    least_quality: float = 0.88
    least_stability: float = 0.95


@dataclass(frozen=True, eq=False)
class Outlined:
    """One outline in a picture.

    Attributes:
        rows: of the picture that `pixels` covers.
        cols: columns that it covers.
        pixels: (rows, columns) bool.
        quality: larger is better.
    """

    rows: slice
    cols: slice
    pixels: BoolImage
    quality: float


class Outliner(Protocol):
    """Who outlines things in a picture, whatever they are."""

    @property
    def side_px(self) -> int:
        """Side of the largest picture that is looked at without being shrunk."""

    def everything(self, picture: ByteImage) -> list[Outlined]:
        """Outlines of all that stands out in (rows, columns, 3) uint8 RGB."""

    def in_boxes(self, picture: ByteImage, boxes: Boxes) -> list[BoolImage]:
        """What each of (n, 4) boxes x_min, y_min, x_max, y_max frames, as (rows, columns) bool."""

    def at_points(self, picture: ByteImage, points: Boxes) -> list[BoolImage]:
        """What lies at each of (n, 2) points x, y, as (rows, columns) bool."""

    def describe(self) -> dict[str, Any]:
        """JSON-ready record: weights and parameters."""


class SegmentAnything:
    """The network; a picture is embedded once, whoever asks for it, and kept by its content."""

    def __init__(self, network: Network, rule: Rule = Rule(), kept: Path | None = None) -> None:
        """Take a network.

        Args:
            network: from `swath.segment.sam.weights.load`.
            rule: which automatic outlines are taken.
            kept: folder of embeddings; one among the models if left out.
        """
        self._network, self._rule = network, rule
        self._kept = kept if kept is not None else folder() / "embeddings"

    @property
    def side_px(self) -> int:
        """Side of the network's input."""
        return int(self._network.model.image_encoder.img_size)

    def everything(self, picture: ByteImage) -> list[Outlined]:
        """Outlines that a grid of points asks for, duplicates left out; best first."""
        found = self._generator.generate(picture)
        return [_cut(one) for one in sorted(found, key=lambda one: -_quality(one))]

    def in_boxes(self, picture: ByteImage, boxes: Boxes) -> list[BoolImage]:
        """The network's one answer to each box."""
        self._predictor.set_image(picture)
        return [self._predictor.predict(box=np.asarray(box, float), multimask_output=False)[0][0] for box in boxes]

    def at_points(self, picture: ByteImage, points: Boxes) -> list[BoolImage]:
        """Of the network's three answers to each point the one that it thinks best."""
        self._predictor.set_image(picture)
        found = []
        for point in points:
            masks, qualities, _ = self._predictor.predict(np.asarray([point], float), np.array([1]))
            found.append(masks[int(np.argmax(qualities))])
        return found

    def describe(self) -> dict[str, Any]:
        """The checkpoint and the rule."""
        return {"checkpoint": self._network.name, "weights_sha256": self._network.sha256, **asdict(self._rule)}

    @cached_property
    def _predictor(self) -> Any:
        return _remembering(self._network, self._kept)

    @cached_property
    def _generator(self) -> Any:
        from segment_anything import SamAutomaticMaskGenerator

        made = SamAutomaticMaskGenerator(
            self._network.model,
            points_per_side=self._rule.points_per_side,
            pred_iou_thresh=self._rule.least_quality,
            stability_score_thresh=self._rule.least_stability,
        )
        made.predictor = self._predictor
        return made


def _quality(found: dict[str, Any]) -> float:
    return float(found["predicted_iou"] * found["stability_score"])


def _cut(found: dict[str, Any]) -> Outlined:
    mask = np.asarray(found["segmentation"], bool)
    rows, cols = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    if not rows.size:
        return Outlined(slice(0, 0), slice(0, 0), mask[:0, :0], 0.0)
    down, right = slice(int(rows[0]), int(rows[-1]) + 1), slice(int(cols[0]), int(cols[-1]) + 1)
    return Outlined(down, right, mask[down, right].copy(), _quality(found))


def _remembering(network: Network, kept: Path) -> Any:
    """A predictor whose embeddings are kept by the content of what is embedded and by the weights."""
    import torch
    from segment_anything import SamPredictor

    class Remembering(SamPredictor):  # type: ignore[misc]  # the package has no types
        """Embeds each picture once."""

        def set_torch_image(self, transformed_image: Any, original_image_size: tuple[int, ...]) -> None:
            """Embed, or take the embedding that is kept."""
            self.reset_image()
            self.original_size = original_image_size
            self.input_size = tuple(transformed_image.shape[-2:])
            key = _key(network.sha256, transformed_image.numpy())
            found = _read(kept / f"{key}.npy")
            if found is None:
                with torch.no_grad():
                    made = self.model.image_encoder(self.model.preprocess(transformed_image))
                found = made.numpy()
                if not np.isfinite(found).all():
                    raise SwathError(
                        f"{network.name} gives no numbers for a part of the image, so it is not outlined at all. "
                        "Next: get the checkpoint anew with swath models pull sam-vit-b."
                    )
                _write(kept / f"{key}.npy", found)
            self.features = torch.from_numpy(found)
            self.is_image_set = True

    return Remembering(network.model)


def _key(weights: str, pixels: NDArray[np.uint8]) -> str:
    digest = hashlib.sha256(f"{weights} {pixels.shape} {pixels.dtype}".encode())
    digest.update(np.ascontiguousarray(pixels).tobytes())
    return digest.hexdigest()


def _read(path: Path) -> NDArray[np.float32] | None:
    """A kept embedding; None where there is none, or what lies there is none any more."""
    try:
        found = np.load(path, allow_pickle=False)
        path.touch()
    except (OSError, ValueError, EOFError):
        return None
    return found if found.dtype == np.float32 and found.ndim == 4 and np.isfinite(found).all() else None


def _write(path: Path, embedding: NDArray[np.float32]) -> None:
    """Keep an embedding; where no file can be written it is computed again next time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            np.save(file, embedding)
        Path(file.name).replace(path)
        for old in _oldest(path.parent):
            old.unlink(missing_ok=True)
    except OSError:
        return


def _oldest(kept: Path) -> Iterator[Path]:
    found = sorted(kept.glob("*.npy"), key=lambda path: path.stat().st_mtime, reverse=True)
    yield from found[KEPT_EMBEDDINGS:]
