"""Segment Anything: coordinates apart from weights, the real code path with tiny random ones, classes of outlines."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import rasterio
from affine import Affine
from numpy.typing import NDArray

from swath.errors import InputError, Refused, SwathError
from swath.raster.reader import Raster, open_raster
from swath.segment.protocol import Segmentation, SegmentOptions
from swath.segment.registry import backend_names
from swath.segment.sam.backend import OutlinedBackend, Refined
from swath.segment.sam.objects import outlined, pictures, prompted
from swath.segment.sam.outliner import Rule, SegmentAnything
from swath.segment.sam.weights import checkpoint, load
from swath.testing.outliner import ColourOutlines, box_mask, exact_network, tiny_checkpoint
from swath.testing.segment import PaintedBackend
from swath.testing.segment_contract import faults

REAL = "SWATH_TEST_SAM"
"""Path of a real checkpoint, for the test that needs one."""
EVERYTHING = Rule(points_per_side=4, least_quality=-10.0, least_stability=0.0)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of models."""
    folder = tmp_path / "models"
    monkeypatch.setenv("SWATH_MODELS", str(folder))
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(tmp_path_factory.mktemp("sam") / "sam_vit_tiny.pth")


def blocks(rows: int = 200, cols: int = 260) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Blocks of 12 x 14 pixels with gaps of 6, each of its own colour, and the number of each pixel's block."""
    image, ids = np.zeros((rows, cols, 3), np.uint8), np.zeros((rows, cols), np.int32)
    number = 0
    for top in range(3, rows - 12, 18):
        for left in range(5, cols - 14, 20):
            number += 1
            ids[top : top + 12, left : left + 14] = number
            image[top : top + 12, left : left + 14] = (number % 256, 100 + number // 256, 200)
    return image, ids


def window_of(image: NDArray[np.uint8]) -> Callable[[slice, slice], NDArray[np.uint8]]:
    return lambda rows, cols: image[rows, cols]


def as_raster(folder: Path, image: NDArray[np.uint8]) -> Raster:
    rows, cols, _ = image.shape
    path = folder / "image.tif"
    place = {"crs": "EPSG:32633", "transform": Affine(0.5, 0, 5e5, 0, -0.5, 4e6)}
    with rasterio.open(
        path, "w", driver="GTiff", width=cols, height=rows, count=3, dtype="uint8", photometric="rgb", **place
    ) as file:
        file.write(image.transpose(2, 0, 1))
    return open_raster(path)


@pytest.mark.parametrize("side", [80, 96, 160, 400])
def test_every_thing_is_one_object_however_the_image_is_cut(side: int) -> None:
    image, truth = blocks()
    outliner = ColourOutlines(side)
    found = outlined(truth.shape, window_of(image), outliner)
    assert len(outliner.pictures) == len(pictures(truth.shape, side))
    assert found.count == truth.max()
    assert found.cut == 0
    assert np.array_equal(found.ids > 0, truth > 0)
    pairs = np.unique(np.stack([found.ids[truth > 0], truth[truth > 0]]), axis=1)
    assert pairs.shape[1] == truth.max()  # ids and blocks are one to one


def test_what_no_picture_shows_whole_is_left_out_and_counted() -> None:
    image = np.zeros((60, 300, 3), np.uint8)
    image[20:40, 10:290] = (9, 9, 9)
    image[50:55, 100:105] = (8, 8, 8)
    found = outlined((60, 300), window_of(image), ColourOutlines(64))
    assert found.count == 1
    assert found.cut > 0
    assert not found.ids[20:40].any()


def test_a_picture_that_fails_leaves_no_hole() -> None:
    class Broken(ColourOutlines):
        def everything(self, picture: NDArray[np.uint8]) -> list[object]:  # type: ignore[override]
            raise SwathError("no numbers")

    with pytest.raises(SwathError, match="no numbers"):
        outlined((60, 60), window_of(np.zeros((60, 60, 3), np.uint8)), Broken(64))


def test_progress_is_told_picture_by_picture() -> None:
    image, truth = blocks(100, 150)
    told: list[tuple[int, int]] = []
    outlined(truth.shape, window_of(image), ColourOutlines(64), lambda done, total: told.append((done, total)))
    total = len(pictures(truth.shape, 64))
    assert told == [(done, total) for done in range(1, total + 1)]


BOXES = [(20.0, 12.0, 60.0, 44.0), (150.0, 90.0, 214.0, 130.0), (230.0, 10.0, 290.0, 70.0), (8.0, 8.0, 292.0, 190.0)]


@pytest.mark.parametrize(("rows", "cols"), [(200, 300), (300, 200), (256, 256), (100, 130), (333, 517)])
def test_boxes_and_masks_agree_through_resize_pad_and_tiles(tiny: Path, tmp_path: Path, rows: int, cols: int) -> None:
    network = load(tiny)
    exact_network(network.model)
    outliner = SegmentAnything(network, kept=tmp_path)
    pixels = np.random.default_rng(1).integers(0, 255, (rows, cols, 3), np.uint8)
    boxes = np.array([box for box in BOXES if box[2] <= cols and box[3] <= rows] or [(10.0, 20.0, 90.0, 80.0)])
    found = list(prompted((rows, cols), window_of(pixels), outliner.side_px, boxes, outliner.in_boxes))
    assert len(found) == len(boxes)
    for box, (down, across, mask) in zip(boxes, found, strict=True):
        whole = np.zeros((rows, cols), bool)
        whole[down, across] = mask
        shrunk = max(down.stop - down.start, across.stop - across.start) / outliner.side_px
        off = whole ^ box_mask((rows, cols), box)
        # The drawn distance is linear, so bilinear upscaling keeps its zero; the corner of two edges may lose one cell.
        grown = box_mask((rows, cols), box + np.array([-1, -1, 1, 1]) * (shrunk * 0.51))
        shrunken = box_mask((rows, cols), box - np.array([-1, -1, 1, 1]) * (shrunk * 0.51))
        corners = off & ~(grown & ~shrunken)
        assert corners.sum() <= 4 * (4 * shrunk) ** 2 * 0.25
        assert off.sum() <= 0.06 * box_mask((rows, cols), box).sum()


def test_the_shape_of_the_network_is_read_from_its_weights(tiny: Path, models: Path) -> None:
    import torch
    from segment_anything import sam_model_registry

    model = load(tiny).model
    assert model.image_encoder.img_size == 256
    assert [block.window_size for block in model.image_encoder.blocks] == [4, 0]
    assert model.image_encoder.blocks[0].attn.num_heads == 2
    with torch.device("meta"):  # no memory: only shapes
        official = sam_model_registry["vit_b"]()
    from swath.segment.sam.weights import _built

    with torch.device("meta"):
        built = _built(official.state_dict())
    same = {name: value.shape for name, value in official.state_dict().items()}
    assert {name: value.shape for name, value in built.state_dict().items()} == same
    for ours, theirs in zip(built.image_encoder.blocks, official.image_encoder.blocks, strict=True):
        assert ours.window_size == theirs.window_size
        assert ours.attn.num_heads == theirs.attn.num_heads
        assert ours.norm1.eps == theirs.norm1.eps


def test_tiny_random_weights_run_the_whole_way_and_are_embedded_once(
    tiny: Path, tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image, _ = blocks(120, 140)
    raster = as_raster(tmp_path, image)
    source = PaintedBackend(raster.shape, {"thing": image[..., 2].astype(np.float32) / 255, "rest": image[..., 2] == 0})
    network = load(tiny)
    outliner = SegmentAnything(network, EVERYTHING)
    backend = OutlinedBackend(raster, SegmentOptions(), source, outliner)
    assert backend.objects.count >= 1
    assert faults(backend, raster) == []
    kept = sorted((models / "embeddings").glob("*.npy"))
    assert len(kept) == 1

    def never(*_: object) -> None:
        raise AssertionError("embedded again")

    again = SegmentAnything(load(tiny), EVERYTHING)
    monkeypatch.setattr(again._network.model.image_encoder, "forward", never)
    same = OutlinedBackend(raster, SegmentOptions(), source, again)
    assert np.array_equal(same.objects.ids, backend.objects.ids)
    with pytest.raises(AssertionError, match="embedded again"):
        again.everything(image[:100])  # another content


def test_other_weights_have_embeddings_of_their_own_and_broken_files_are_made_anew(
    tiny: Path, tmp_path: Path, models: Path
) -> None:
    image, _ = blocks(64, 64)
    box = np.array([[5.0, 5.0, 30.0, 30.0]])
    first = SegmentAnything(load(tiny)).in_boxes(image, box)[0]
    other = tiny_checkpoint(tmp_path / "other.pth", seed=1)
    SegmentAnything(load(other)).in_boxes(image, box)
    kept = sorted((models / "embeddings").glob("*.npy"))
    assert len(kept) == 2
    for path in kept:
        path.write_bytes(b"cut off")
    assert np.array_equal(SegmentAnything(load(tiny)).in_boxes(image, box)[0], first)


def test_weights_that_give_no_numbers_fail_the_run(tiny: Path, models: Path) -> None:
    import torch

    network = load(tiny)
    with torch.no_grad():
        network.model.image_encoder.pos_embed.fill_(float("nan"))
    with pytest.raises(SwathError, match=r"gives no numbers for a part of the image, so it is not outlined at all"):
        SegmentAnything(network, EVERYTHING).everything(blocks(64, 64)[0])


class Evil:
    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, ("/nowhere-at-all",)


@pytest.mark.parametrize("content", [b"", b"<html>", pickle.dumps({"a": 1}), pickle.dumps(Evil())])
def test_what_is_no_checkpoint_is_one_sentence_and_never_run(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sam_vit_b.pth"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"is no checkpoint of Segment Anything .*swath models pull sam-vit-b"):
        load(path)


def test_other_weights_are_no_checkpoint(tmp_path: Path) -> None:
    import torch

    torch.save({"image_encoder.patch_embed.proj.weight": torch.zeros(3)}, tmp_path / "w.pth")
    with pytest.raises(InputError, match="is no checkpoint of Segment Anything"):
        load(tmp_path / "w.pth")


def test_a_missing_checkpoint_says_how_to_get_one(tmp_path: Path, models: Path) -> None:
    with pytest.raises(Refused, match=r"has no weights here: no sam_vit_\*.pth lies in .*swath models pull sam-vit-b"):
        checkpoint(None)
    with pytest.raises(InputError, match=r"There is no checkpoint .*none.pth"):
        checkpoint(tmp_path / "none.pth")
    models.mkdir()
    (models / "sam_vit_b_01ec64.pth").touch()
    assert checkpoint(None) == models / "sam_vit_b_01ec64.pth"


def scored(truth: NDArray[np.int32]) -> dict[str, NDArray[np.float32]]:
    """Odd blocks are houses, even ones trees, each to 80 % of its pixels; houses spill over their edges."""
    house = np.where(truth % 2 == 1, 0.8, 0.1).astype(np.float32)
    house[truth == 0] = 0.2
    house[:, 5:260:20] = np.where(truth[:, 5:260:20] > 0, 1 - house[:, 5:260:20], 0.9)
    return {"house": house, "tree": 1 - house}


def test_outlines_take_the_class_that_most_of_their_pixels_have(tmp_path: Path) -> None:
    image, truth = blocks()
    raster = as_raster(tmp_path, image)
    source = PaintedBackend(raster.shape, scored(truth))
    backend = OutlinedBackend(raster, SegmentOptions(), source, ColourOutlines(96))
    found = backend.segment("house")
    assert np.array_equal(np.asarray(found.mask), truth % 2 == 1)
    assert found.instance_ids is not None
    assert len(np.unique(found.instance_ids)) == 1 + len(np.unique(truth[truth % 2 == 1]))
    assert any(warning.startswith("Outlines cover ") for warning in found.warnings)
    assert faults(backend, raster) == []


def test_refined_classes_keep_what_lies_in_no_outline(tmp_path: Path) -> None:
    image, truth = blocks()
    raster = as_raster(tmp_path, image)
    scores = scored(truth)
    source = PaintedBackend(raster.shape, scores)
    backend = Refined(raster, SegmentOptions(), source, ColourOutlines(96))
    mask = np.asarray(backend.segment("house").mask)
    assert np.array_equal(mask[truth > 0], (truth % 2 == 1)[truth > 0])
    assert np.array_equal(mask[truth == 0], (scores["house"] >= 0.5)[truth == 0])
    assert faults(backend, raster) == []
    assert backend.describe()["classes_of"]["name"] == "painted"


def test_an_image_without_colours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gray.tif"
    with rasterio.open(path, "w", driver="GTiff", width=8, height=8, count=1, dtype="uint8", crs="EPSG:32633",
                       transform=Affine(1, 0, 5e5, 0, -1, 4e6)) as file:  # fmt: skip
        file.write(np.zeros((1, 8, 8), np.uint8))
    raster = open_raster(path)
    source = PaintedBackend((8, 8), {"a": np.ones((8, 8), bool)})
    with pytest.raises(Refused, match=r"sam sees red, green and blue, .*--bands red=N,green=N,blue=N"):
        OutlinedBackend(raster, SegmentOptions(), source, ColourOutlines(64))


def test_both_are_registered() -> None:
    assert {"sam", "landcover+sam"} <= set(backend_names())


def test_segmentation_of_an_unknown_class_is_refused(tmp_path: Path) -> None:
    image, truth = blocks(64, 64)
    source = PaintedBackend(truth.shape, {"a": truth > 0})
    backend = OutlinedBackend(as_raster(tmp_path, image), SegmentOptions(), source, ColourOutlines(64))
    with pytest.raises(Refused, match='"pond" is not a class of sam, which knows a'):
        backend.segment("pond")
    assert isinstance(backend.segment("a"), Segmentation)


@pytest.mark.skipif(not os.environ.get(REAL), reason=f"{REAL} names no real checkpoint of Segment Anything")
def test_a_real_checkpoint_outlines_a_bright_block(tmp_path: Path) -> None:
    image = np.full((300, 400, 3), 60, np.uint8)
    image[90:210, 120:280] = (220, 210, 190)
    outliner = SegmentAnything(load(Path(os.environ[REAL])), kept=tmp_path)
    truth = box_mask((300, 400), np.array([120.0, 90.0, 280.0, 210.0]))
    mask = outliner.in_boxes(image, np.array([[115.0, 85.0, 285.0, 215.0]]))[0]
    assert (mask & truth).sum() / (mask | truth).sum() > 0.9
