"""Networks as sources of classes, with networks whose answers are known by construction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import PIL.Image
import pytest
import rasterio
import scipy.ndimage
from affine import Affine
from numpy.typing import NDArray

from swath.errors import InputError, Refused, SwathError
from swath.raster.reader import Raster, open_raster
from swath.segment.networks.card import Roofs, read_card
from swath.segment.networks.objects import give_away_specks, heights, number_of, onto, told_apart, united
from swath.segment.networks.view import View, factors
from swath.segment.protocol import BoolImage, SegmentOptions
from swath.segment.registry import open_backend
from swath.segment.tiling import ByteImage, Tiling
from swath.testing.networks import colour_network
from swath.testing.segment_contract import faults

COLOURS = {"building": (220, 40, 40), "water": (20, 60, 200), "vegetation": (40, 160, 50)}
SIZED = "[input]\ngsd_m = [0.5, 0.5]\ntrained_gsd_m = [0.3, 1.0]\n"


@pytest.fixture
def write_image(tmp_path: Path) -> Callable[..., Raster]:
    """Write red, green, blue pixels (rows, columns, 3) as an image: name, pixels, ground size or None."""

    def write(name: str, pixels: NDArray[np.uint8], gsd_m: float | None = 0.5) -> Raster:
        rows, cols, _ = pixels.shape
        path = tmp_path / name
        if gsd_m is None:
            PIL.Image.fromarray(pixels).save(path)
            return open_raster(path)
        place = {"crs": "EPSG:32633", "transform": Affine(gsd_m, 0, 5e5, 0, -gsd_m, 4e6)}
        with rasterio.open(
            path, "w", driver="GTiff", width=cols, height=rows, count=3, dtype="uint8", photometric="rgb", **place
        ) as file:
            file.write(pixels.transpose(2, 0, 1))
        return open_raster(path)

    return write


def painted(rows: int = 150, cols: int = 130) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Blocks of the three colours with some noise, and which class each pixel is."""
    random = np.random.default_rng(3)
    blocks = random.integers(0, 3, (rows // 10 + 1, cols // 10 + 1))
    which = np.kron(blocks, np.ones((10, 10), int))[:rows, :cols]
    colours = np.array(list(COLOURS.values()))[which]
    return (colours + random.integers(-15, 16, colours.shape)).clip(0, 255).astype(np.uint8), which


def test_classes_are_those_of_the_pixels_colours(tmp_path: Path, write_image: Callable[..., Raster]) -> None:
    pixels, which = painted()
    card = colour_network(tmp_path, COLOURS)
    backend = open_backend(f"onnx:{card}", write_image("blocks.tif", pixels), SegmentOptions())
    assert backend.classes() == tuple(COLOURS)
    for index, name in enumerate(COLOURS):
        assert np.array_equal(backend.segment(name).mask, which == index)
    assert faults(backend, open_raster(tmp_path / "blocks.tif")) == []
    assert backend.describe()["model"] == "colours"
    assert len(backend.describe()["weights_sha256"]) == 64


@pytest.mark.parametrize("side", [32, 48, 128, 256])
@pytest.mark.parametrize("offset", [0, 7])
def test_mask_and_objects_do_not_depend_on_the_tiles(
    tmp_path: Path, write_image: Callable[..., Raster], monkeypatch: pytest.MonkeyPatch, side: int, offset: int
) -> None:
    pixels, _ = painted()
    card = colour_network(tmp_path, COLOURS, roofs="building")
    raster = write_image("blocks.tif", pixels)
    reference = open_backend(f"onnx:{card}", raster, SegmentOptions()).segment("building")
    monkeypatch.setattr(
        "swath.segment.networks.onnx.Tiling",
        lambda side_px, multiple_px: Tiling(side, 4, 4, multiple_px, offset_px=offset),
    )
    found = open_backend(f"onnx:{card}", raster, SegmentOptions()).segment("building")
    assert np.array_equal(found.mask, reference.mask)
    assert found.instance_ids is not None
    assert reference.instance_ids is not None
    assert np.array_equal(found.instance_ids, reference.instance_ids)
    assert reference.instance_ids.max() > 1


def test_an_image_is_seen_once_and_anew_when_it_has_changed(
    tmp_path: Path, write_image: Callable[..., Raster], monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels, which = painted()
    card = colour_network(tmp_path, COLOURS)
    tiles: list[int] = []

    def open_anew(image: Raster) -> BoolImage:
        options = SegmentOptions(card=card, progress=lambda done, total: tiles.append(done))
        return open_backend("onnx", image, options).segment("building").mask

    first = open_anew(write_image("blocks.tif", pixels))
    seen = len(tiles)
    assert np.array_equal(open_anew(open_raster(tmp_path / "blocks.tif")), first)
    assert len(tiles) == seen > 0
    changed = open_anew(write_image("blocks.tif", pixels[::-1]))
    assert len(tiles) > seen
    assert np.array_equal(changed, (which == 0)[::-1])


def test_touching_objects_are_told_apart_by_middles_and_borders() -> None:
    mask = np.zeros((20, 40), bool)
    mask[2:18, 2:38] = True  # one block: two roofs that touch at column 20
    centre, border = np.zeros((20, 40), np.uint8), np.zeros((20, 40), np.uint8)
    centre[6:14, 6:16] = 250
    centre[6:14, 24:34] = 250
    border[2:18, 19:21] = 250
    ids = told_apart(mask, centre, border, Roofs("building", 0, 1, 0.5, 4))
    assert set(np.unique(ids)) == {0, 1, 2}
    assert (ids[mask] > 0).all()
    assert (ids[2:18, 2:19] == ids[8, 8]).all()
    assert (ids[2:18, 21:38] == ids[8, 30]).all()
    assert number_of(mask, centre, border, Roofs("building", 0, 1, 0.5, 4)) == 2


def test_a_patch_without_a_middle_is_one_object_and_specks_start_none() -> None:
    mask = np.zeros((20, 40), bool)
    mask[2:8, 2:8] = mask[10:18, 20:38] = True
    centre = np.zeros((20, 40), np.uint8)
    centre[12:16, 24:32] = 250
    centre[11, 36] = 250
    ids = told_apart(mask, centre, np.zeros_like(centre), Roofs("building", 0, 1, 0.5, 4))
    assert len(np.unique(ids[mask])) == 2
    assert len(np.unique(ids[10:18, 20:38])) == 1
    assert number_of(mask, centre, np.zeros_like(centre), Roofs("building", 0, 1, 0.5, 4)) == 2


SPECKS = Roofs("building", 3, 4, 0.5, 4, smallest_alone_px=60)


def scattered(side: int = 300) -> ByteImage:
    """Scores of a class, two rivals, middles, borders: patches of many sizes, a third of them with a middle."""
    random = np.random.default_rng(5)
    own = np.zeros((side, side), np.uint8)
    centre = np.zeros_like(own)
    for top, left, size in zip(*random.integers(0, side - 16, (2, 150)), random.integers(1, 16, 150), strict=True):
        own[top : top + size, left : left + size] = 200
        if random.random() < 0.3:
            centre[top : top + size, left : left + size] = 250
    return np.stack([own, np.full_like(own, 100), np.full_like(own, 20), centre, np.zeros_like(own)])


@pytest.mark.parametrize("smooth", [0.0, 1.5, 4.0])
def test_smoothed_heights_are_the_same_in_any_window(smooth: float) -> None:
    channels, rule = scattered(), replace(SPECKS, smooth_px=smooth)
    centre, border = channels[3], channels[3, ::-1]
    whole = heights(centre, border, (slice(0, 300), slice(0, 300)), rule)
    expected = cv2.subtract(centre, np.ascontiguousarray(border))
    if smooth:
        expected = scipy.ndimage.gaussian_filter(expected.astype(float), smooth, mode="mirror", truncate=3)
    assert np.abs(whole - expected.astype(float)).max() <= 3
    for rows, cols in ((slice(0, 40), slice(100, 300)), (slice(37, 38), slice(0, 7)), (slice(200, 300), slice(3, 290))):
        assert np.array_equal(heights(centre, border, (rows, cols), rule), whole[rows, cols])


def test_small_patches_without_a_middle_are_given_to_their_rival() -> None:
    before = scattered()
    own, rival, _, centre, border = before
    after = before.copy()
    give_away_specks(after, 3, 0, SPECKS)
    found = after[0]
    labels, count = scipy.ndimage.label(own >= rival, np.ones((3, 3)))
    dropped = 0
    for patch in range(1, count + 1):
        mine = labels == patch
        middles, most = scipy.ndimage.label(mine & (centre > 127), np.ones((3, 3)))
        starts = any((middles == i).sum() >= 4 for i in range(1, most + 1))
        expected = 99 if mine.sum() < 60 and not starts else 200
        assert (found[mine] == expected).all()
        dropped += expected == 99
    assert 5 < dropped < count - 5
    assert np.array_equal(found[own < rival], own[own < rival])
    assert np.array_equal(after[1:], before[1:])
    ids = told_apart(found >= rival, centre, border, SPECKS)
    assert number_of(own >= rival, centre, border, SPECKS) == len(np.unique(ids[ids > 0]))


@pytest.mark.parametrize("window", [37, 64, 299])
def test_dropped_patches_do_not_depend_on_the_windows(monkeypatch: pytest.MonkeyPatch, window: int) -> None:
    whole, cut = scattered(), scattered()
    give_away_specks(whole, 3, 0, SPECKS)
    monkeypatch.setattr("swath.segment.networks.objects.WINDOW_PX", window)
    give_away_specks(cut, 3, 0, SPECKS)
    assert np.array_equal(cut, whole)


def same_objects(one: NDArray[np.int32], other: NDArray[np.int32]) -> bool:
    """Whether two images of ids tell the same objects apart, whatever their numbers."""
    pairs = np.unique(np.stack([one.ravel(), other.ravel()]), axis=1)
    return pairs.shape[1] == len(np.unique(one)) == len(np.unique(other)) and bool(((one > 0) == (other > 0)).all())


@pytest.mark.parametrize("window", [37, 64, 299])
def test_objects_told_apart_do_not_depend_on_the_windows(monkeypatch: pytest.MonkeyPatch, window: int) -> None:
    own, rival, _, centre, border = scattered()
    mask = own >= rival
    whole = told_apart(mask, centre, border, SPECKS)
    assert len(np.unique(whole)) > 50
    monkeypatch.setattr("swath.segment.networks.objects.WINDOW_PX", window)
    monkeypatch.setattr("swath.segment.tiling.STRIP_PX", 300 * 7)
    cut = told_apart(mask, centre, border, SPECKS)
    assert same_objects(cut, whole)
    finer = np.kron(mask, np.ones((2, 2), bool))
    moved = onto(cut, finer)
    assert same_objects(moved, np.kron(whole, np.ones((2, 2), np.int32)))


@pytest.mark.parametrize("rows_of_a_strip", [1, 3, 40])
def test_patches_are_united_across_strips(monkeypatch: pytest.MonkeyPatch, rows_of_a_strip: int) -> None:
    mask = np.random.default_rng(2).random((90, 70)) < 0.35  # about where patches begin to span the image
    mask[:, :3] = mask[-1] = True
    monkeypatch.setattr("swath.segment.tiling.STRIP_PX", 70 * rows_of_a_strip)
    found = united(mask.shape, lambda rows, cols: mask[rows, cols])
    truth, count = scipy.ndimage.label(mask, np.ones((3, 3)))
    ids = found.window(slice(None), slice(None))
    assert len(found.sizes_px) == count + 1
    assert same_objects(ids, truth.astype(np.int32))
    assert np.array_equal(found.sizes_px[1:], np.bincount(ids.ravel())[1:])


def test_ids_on_a_finer_grid_reach_every_pixel_of_the_mask() -> None:
    ids = np.zeros((4, 4), np.int32)
    ids[1:3, 0:2], ids[1:3, 2:4] = 1, 2
    mask = np.zeros((8, 8), bool)
    mask[1:7, 0:8] = True  # one row more on each side than the coarse ids
    moved = onto(ids, mask)
    assert np.array_equal(moved > 0, mask)
    assert (moved[1:7, :4] == 1).all()
    assert (moved[1:7, 4:] == 2).all()
    assert onto(np.zeros((4, 4), np.int32), mask).max() == 1


def test_a_finer_image_is_shown_at_the_networks_ground_size(tmp_path: Path, write_image: Callable[..., Raster]) -> None:
    pixels, which = painted()
    card = colour_network(tmp_path, COLOURS, more="")
    card.write_text(card.read_text().replace("[input]", SIZED))
    fine = write_image("fine.tif", np.kron(pixels, np.ones((2, 2, 1), np.uint8)), 0.25)
    backend = open_backend(f"onnx:{card}", fine, SegmentOptions())
    assert backend.describe()["shown_px_per_px"] == [0.5, 0.5]
    found = backend.segment("water").mask
    truth = np.kron(which == 1, np.ones((2, 2), bool))
    both, either = (found & truth).sum(), (found | truth).sum()
    assert both / either > 0.8  # blocks of ten pixels lose a rim to the averaging
    assert faults(backend, fine) == []


def test_windows_of_a_view_fit_together(write_image: Callable[..., Raster]) -> None:
    pixels, _ = painted()
    view = View(write_image("blocks.tif", pixels), (0.4, 0.7))
    rows, cols = view.shape
    assert (rows, cols) == (60, 91)
    whole = view.read(slice(0, rows), slice(0, cols))
    parts = [view.read(slice(0, 23), slice(0, cols)), view.read(slice(23, rows), slice(0, cols))]
    assert np.abs(np.concatenate(parts).astype(int) - whole).max() <= 1


def test_far_too_coarse_an_image_is_refused(tmp_path: Path, write_image: Callable[..., Raster]) -> None:
    raster = write_image("coarse.tif", painted()[0], 30.0)
    with pytest.raises(Refused, match=r"coarse.tif measure 30 m on the ground: too coarse for a network that sees 0.1"):
        factors(raster, (0.1, 0.5))


def test_an_image_of_unknown_or_foreign_ground_size_brings_a_louder_warning(
    tmp_path: Path, write_image: Callable[..., Raster]
) -> None:
    card = colour_network(tmp_path, COLOURS)
    said = '[sentences]\nalways = ["Trained on paint."]\n[sentences.of_class]\nwater = "Ink passes for water."\n'
    card.write_text(card.read_text().replace("[input]", SIZED) + said)
    pixels = painted()[0]

    def warnings(name: str, gsd_m: float | None, class_name: str) -> tuple[str, ...]:
        backend = open_backend(f"onnx:{card}", write_image(name, pixels, gsd_m), SegmentOptions())
        return backend.segment(class_name).warnings

    assert warnings("usual.tif", 0.5, "building") == ("Trained on paint.",)
    assert warnings("usual.tif", 0.5, "water") == ("Trained on paint.", "Ink passes for water.")
    assert warnings("bare.png", None, "building")[0].startswith("DOUBTFUL: the ground size of a pixel is not known")
    assert "a pixel measures 2 m, outside the 0.3 to 1 m" in warnings("large.tif", 2.0, "building")[0]


def test_an_image_unlike_the_training_images_brings_a_louder_warning(
    tmp_path: Path, write_image: Callable[..., Raster]
) -> None:
    card = colour_network(tmp_path, COLOURS)
    usual = write_image("usual.tif", painted()[0])
    mean = View(usual, (1.0, 1.0)).features()
    inverse = np.diag(1 / (0.05 * np.abs(mean) + 0.5) ** 2)
    domain = f"[domain]\nmean = {mean.tolist()}\ninverse = {inverse.tolist()}\nlimit = 4.0\n"
    card.write_text(card.read_text() + domain)
    assert open_backend(f"onnx:{card}", usual, SegmentOptions()).segment("water").warnings == ()
    night = write_image("night.tif", (painted()[0] // 6).astype(np.uint8))
    (said,) = open_backend(f"onnx:{card}", night, SegmentOptions()).segment("water").warnings
    assert said.startswith("DOUBTFUL: the image's colours and sharpness are unlike those that colours was trained on")


def test_the_strict_and_lax_thresholds_span_the_used_one(tmp_path: Path, write_image: Callable[..., Raster]) -> None:
    card = colour_network(tmp_path, COLOURS, more="[thresholds]\nstrict = 0.8\nlax = 0.2")
    between = np.linspace(0, 1, 101)[None, :, None] * (np.array(COLOURS["water"]) - np.array(COLOURS["building"]))
    ramp = np.repeat(np.array(COLOURS["building"]) + between, 20, axis=0).round().astype(np.uint8)
    found = open_backend(f"onnx:{card}", write_image("ramp.tif", ramp), SegmentOptions()).segment("water")
    assert found.score is not None
    assert found.thresholds == (0.8, 0.5, 0.2)
    sizes = [int((found.score >= threshold).sum()) for threshold in found.thresholds]
    assert sizes[0] < sizes[1] == int(found.mask.sum()) < sizes[2]
    assert sizes[1] == pytest.approx(ramp.shape[0] * ramp.shape[1] / 2, rel=0.03)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('name = "colours"', "", "it lacks 'name'"),
        ('file = "colours.onnx"', 'file = "../colours.onnx"', "does not lie beside it"),
        ('file = "colours.onnx"', 'file = "other.onnx"', 'the network "other.onnx" does not lie beside it'),
        ('file = "colours.onnx"', 'file = "colours.onnx"\nsha256 = "00"', "is not the one that it states"),
        ('"water"', '"building"', "1 to 256 different classes"),
        ("tile = 128", "tile = 0", "input.tile is no number of pixels"),
        ("[output]", '[output]\nactivation = "magic"', "none of softmax, sigmoid, none"),
        ("[output]", "gsd_m = [2.0, 1.0]\n[output]", "the smaller one first"),
        ("[input]", "[thresholds]\nstrict = 0.2\n[input]", "strict >= 0.5 >= lax"),
        ("[input]", "[input", "is no model card"),
    ],
)
def test_a_card_that_cannot_be_used_is_one_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    card = colour_network(tmp_path, COLOURS)
    assert old in card.read_text()
    card.write_text(card.read_text().replace(old, new))
    with pytest.raises(InputError, match=sentence) as raised:
        read_card(card)
    assert "docs/models.md" in str(raised.value)


def test_a_missing_card_and_a_broken_network_are_sentences(tmp_path: Path, write_image: Callable[..., Raster]) -> None:
    raster = write_image("blocks.tif", painted()[0])
    with pytest.raises(InputError, match=r"needs a model card. Next: name it, as in --segmenter onnx:CARD.toml"):
        open_backend("onnx", raster, SegmentOptions())
    card = colour_network(tmp_path, COLOURS)
    (tmp_path / "colours.onnx").write_bytes(b"no network")
    with pytest.raises(InputError, match="is no network that onnxruntime can run"):
        open_backend(f"onnx:{card}", raster, SegmentOptions())


def test_an_image_without_colours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gray.png"
    PIL.Image.fromarray(np.ones((9, 9), np.uint8)).save(path)
    card = colour_network(tmp_path, COLOURS)
    with pytest.raises(Refused, match="sees red, green and blue, which are not known in gray.png"):
        open_backend(f"onnx:{card}", open_raster(path), SegmentOptions())


def test_scores_that_are_no_scores_fail_the_image(tmp_path: Path, write_image: Callable[..., Raster]) -> None:
    card = colour_network(tmp_path, COLOURS)
    card.write_text(card.read_text().replace("[output]", '[output]\nactivation = "none"'))
    backend = open_backend(f"onnx:{card}", write_image("blocks.tif", painted()[0]), SegmentOptions())
    with pytest.raises(SwathError, match="no numbers from 0 to 1"):
        backend.segment("water")


def test_progress_is_told(tmp_path: Path, write_image: Callable[..., Raster]) -> None:
    told: list[tuple[int, int]] = []
    options = SegmentOptions(progress=lambda done, of: told.append((done, of)))
    card = colour_network(tmp_path, COLOURS)
    card.write_text(card.read_text().replace("tile = 128", "tile = 96"))
    backend = open_backend(f"onnx:{card}", write_image("blocks.tif", painted()[0]), options)
    backend.segment("water")
    backend.segment("building")
    assert told[-1] == (9, 9)
    assert len(told) == 9
