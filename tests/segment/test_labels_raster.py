"""Class rasters: legends, void, other grids, layers; and files that cannot be used as given."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
from affine import Affine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from segment_places import NORTH_UP, UTM

from swath.errors import InputError, Refused
from swath.raster.grid import Grid
from swath.raster.held import Tiles
from swath.raster.reader import Raster, open_raster
from swath.raster.write import write_array
from swath.segment.labels import LabelsBackend
from swath.segment.protocol import SegmentOptions

Write = Callable[..., Path]
LEGEND = {"1": "building", "2": "water", "3": "Building"}


def quarters() -> np.ndarray[Any, Any]:
    labels = np.zeros((40, 50), dtype=np.uint8)
    labels[:20, :25], labels[:20, 25:], labels[20:, :25] = 1, 2, 3
    return labels


def open_labels(image: Raster, labels: Path | None, legend: Path | None = None, **options: Any) -> LabelsBackend:
    return LabelsBackend(image, SegmentOptions(labels=labels, legend=legend, **options))


def test_classes_and_void(image: Raster, write_raster: Write, write_legend: Write) -> None:
    backend = open_labels(image, write_raster("labels.tif", quarters()), write_legend(LEGEND))
    assert backend.classes() == ("building", "water")
    assert np.array_equal(backend.segment("water").mask, quarters() == 2)
    assert np.array_equal(backend.segment("building").mask, np.isin(quarters(), [1, 3]))
    assert np.array_equal(backend.known(), quarters() > 0)
    assert backend.segment("water").warnings == ()
    assert backend.segment("water").method.startswith('"water" in labels.tif, classes named by')


def test_a_class_that_does_not_occur_is_empty(image: Raster, write_raster: Write, write_legend: Write) -> None:
    backend = open_labels(image, write_raster("l.tif", quarters()), write_legend({"1": "house", "9": "lake"}))
    assert not backend.segment("lake").mask.any()


def test_a_class_of_nobody_is_refused_with_the_list(image: Raster, write_raster: Write, write_legend: Write) -> None:
    backend = open_labels(image, write_raster("l.tif", quarters()), write_legend(LEGEND))
    with pytest.raises(Refused, match=r'"forest" is not a class of labels, which knows building, water\. Next: ask'):
        backend.segment("forest")


def test_values_that_the_legend_does_not_name(image: Raster, write_raster: Write, write_legend: Write) -> None:
    backend = open_labels(image, write_raster("l.tif", quarters()), write_legend({"2": "water"}))
    assert backend.segment("water").warnings == (
        "l.tif holds values that the legend does not name, taken as void: 1, 3 (50 % of it).",
    )
    assert np.array_equal(backend.known(), quarters() == 2)


def test_the_most_frequent_of_them_first_then_the_lowest(
    image: Raster, write_raster: Write, write_legend: Write
) -> None:
    values = quarters().copy()
    values[-1, :4] = values[0, :4] = 9, 8, 8, 7
    held = replace(image, tiles=Tiles(0, (1, 2)))
    warnings = [
        open_labels(one, write_raster("l.tif", values), write_legend({"2": "water", "1": "house", "3": "house"}))
        .segment("water")
        .warnings
        for one in (image, held)
    ]
    assert warnings[0] == warnings[1]
    assert "void: 8, 7, 9 (" in warnings[0][0]


def test_a_legend_of_other_labels(image: Raster, write_raster: Write, write_legend: Write) -> None:
    with pytest.raises(InputError, match=r"No value of l\.tif is named by .*legend\.json: it holds 7\. Next: give the"):
        open_labels(image, write_raster("l.tif", np.full((40, 50), 7)), write_legend({"2": "water"}))


def test_labels_that_are_void_everywhere(image: Raster, write_raster: Write, write_legend: Write) -> None:
    with pytest.raises(Refused, match=r"The labels of l\.tif are void everywhere in the image\. Next: give labels"):
        open_labels(image, write_raster("l.tif", np.zeros((40, 50), np.uint8)), write_legend(LEGEND))


def test_nodata_of_the_labels_is_void(image: Raster, write_raster: Write, write_legend: Write) -> None:
    labels = write_raster("l.tif", quarters(), nodata=2)
    backend = open_labels(image, labels, write_legend({"0": "grass", "1": "house", "2": "water", "3": "road"}))
    assert np.array_equal(backend.known(), quarters() != 2)
    assert not backend.segment("water").mask.any()
    assert np.array_equal(backend.segment("grass").mask, quarters() == 0)


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint16", "int32", "uint32", "int64", "float32", "float64"])
def test_every_type_of_whole_numbers(dtype: str, image: Raster, write_raster: Write, write_legend: Write) -> None:
    labels = quarters().astype(dtype)
    labels[labels == 3] = np.iinfo(dtype).max if labels.dtype.kind in "iu" else 1e9
    legend = {"1": "house", str(int(labels.max())): "tower"}
    backend = open_labels(image, write_raster("l.tif", labels), write_legend(legend))
    assert np.array_equal(backend.segment("tower").mask, quarters() == 3)


def test_negative_values(image: Raster, write_raster: Write, write_legend: Write) -> None:
    labels = quarters().astype(np.int16) - 3
    backend = open_labels(image, write_raster("l.tif", labels), write_legend({"-2": "house", "-1": "water"}))
    assert np.array_equal(backend.segment("house").mask, quarters() == 1)
    assert backend.segment("house").warnings[0].startswith("l.tif holds values that the legend does not name")


def test_nan_is_void_and_fractions_are_refused(image: Raster, write_raster: Write, write_legend: Write) -> None:
    labels = quarters().astype(np.float32)
    labels[labels == 2] = np.nan
    backend = open_labels(image, write_raster("nan.tif", labels), write_legend(LEGEND))
    assert np.array_equal(backend.known(), np.isin(quarters(), [1, 3]))
    for legend in (write_legend(LEGEND), None):
        with pytest.raises(
            InputError, match=r"half\.tif holds 0\.5, but the values of a class raster are whole numbers"
        ):
            open_labels(image, write_raster("half.tif", quarters() / 2), legend)


def test_a_raster_without_names(image: Raster, write_raster: Write) -> None:
    with pytest.raises(
        InputError,
        match=r"l\.tif names no classes for its values \(0, 1, 2, 3\)\. Next: write a legend like "
        r'\{"1": "building", "2": "water"\} to a JSON file and give it with --legend FILE\.',
    ):
        open_labels(image, write_raster("l.tif", quarters()))


def test_a_colour_table_alone_has_no_names(image: Raster, write_raster: Write) -> None:
    labels = write_raster("l.tif", quarters(), colormap={1: (255, 0, 0), 2: (0, 0, 255)})
    with pytest.raises(InputError, match=r"l\.tif has a colour table but names no classes for its values \(0, 1, 2, 3"):
        open_labels(image, labels)


def test_category_names_of_the_file(image: Raster, write_raster: Write) -> None:
    labels = write_raster("l.tif", quarters())
    names = "".join(f"<Category>{name}</Category>" for name in ("Void", "House", "Water", ""))
    Path(f"{labels}.aux.xml").write_text(
        f'<PAMDataset><PAMRasterBand band="1"><CategoryNames>{names}</CategoryNames></PAMRasterBand></PAMDataset>'
    )
    backend = open_labels(image, labels)
    assert backend.classes() == ("house", "water")
    assert np.array_equal(backend.segment("house").mask, quarters() == 1)
    assert np.array_equal(backend.known(), np.isin(quarters(), [1, 2]))


def test_a_legend_of_colours(image: Raster, write_raster: Write, write_legend: Write) -> None:
    colours = np.array([(0, 0, 0), (255, 0, 0), (0, 0, 255), (9, 9, 9)], dtype=np.uint8)
    legend = write_legend({"#ff0000": "building", "0,0,255": "water"})
    backend = open_labels(image, write_raster("rgb.tif", np.moveaxis(colours[quarters()], -1, 0)), legend)
    assert np.array_equal(backend.segment("water").mask, quarters() == 2)
    assert np.array_equal(backend.known(), np.isin(quarters(), [1, 2]))
    assert "taken as void: #090909 (25 % of it)" in backend.segment("water").warnings[0]
    table = write_raster("palette.tif", quarters(), colormap=dict(enumerate(map(tuple, colours.tolist()))))
    assert np.array_equal(open_labels(image, table, legend).segment("building").mask, quarters() == 1)


def test_colours_and_values_do_not_mix_up(image: Raster, write_raster: Write, write_legend: Write) -> None:
    plain = write_raster("l.tif", quarters())
    with pytest.raises(InputError, match=r"names colours, but l\.tif is no 8-bit RGB image and has no colour table"):
        open_labels(image, plain, write_legend({"#ff0000": "building"}))
    rgb = write_raster("rgb.tif", np.ones((3, 40, 50), np.uint8))
    with pytest.raises(InputError, match=r"rgb\.tif has 3 bands, but the legend legend\.json names the values of one"):
        open_labels(image, rgb, write_legend(LEGEND))
    with pytest.raises(InputError, match=r'rgb\.tif names no classes\. Next: write a legend like \{"#ff0000": "build'):
        open_labels(image, rgb)


def test_complex_labels(image: Raster, write_raster: Write, write_legend: Write) -> None:
    with pytest.raises(InputError, match=r"c\.tif holds complex numbers, not classes"):
        open_labels(image, write_raster("c.tif", quarters().astype(np.complex64)), write_legend(LEGEND))


def test_files_that_are_not_there(image: Raster, tmp_path: Path, write_legend: Write) -> None:
    for name in ("none.tif", "none.geojson"):
        with pytest.raises(InputError, match=rf"There is no file .*{name}\. Next: check the path\."):
            open_labels(image, tmp_path / name, write_legend(LEGEND) if name.endswith("tif") else None)


def test_options_that_mean_nothing(image: Raster, write_raster: Write, write_legend: Write) -> None:
    labels, legend = write_raster("l.tif", quarters()), write_legend(LEGEND)
    with pytest.raises(Refused, match=r"There are no labels to take classes from\. Next: give --labels FILE or"):
        open_labels(image, None)
    with pytest.raises(InputError, match=r"--legend is about labels, but none are given\. Next: name them with --lab"):
        open_labels(image, None, legend, layers={"wet": labels})
    with pytest.raises(InputError, match=r"--label-class is about labels, but none are given"):
        open_labels(image, None, label_class="house", layers={"wet": labels})
    with pytest.raises(InputError, match=r"--label-class names a single class and --legend several"):
        open_labels(image, labels, legend, label_class="house")
    with pytest.raises(InputError, match=r"but l\.tif is a raster\. Next: give --legend FILE, or --layer house=l\.tif"):
        open_labels(image, labels, label_class="house")
    with pytest.raises(InputError, match=r"--label-class is empty"):
        open_labels(image, labels, label_class=" ")


def test_layers_add_classes(image: Raster, write_raster: Write, write_legend: Write) -> None:
    wet = write_raster("wet.tif", np.eye(40, 50, dtype=np.float32) * 0.5)
    labels = write_raster("l.tif", quarters())
    backend = open_labels(image, labels, write_legend(LEGEND), layers={"Flood Zone": wet})
    assert backend.classes() == ("building", "water", "flood zone")
    assert np.array_equal(backend.segment("flood zone").mask, np.eye(40, 50, dtype=bool))
    assert np.array_equal(backend.known(), quarters() > 0)
    assert open_labels(image, None, layers={"wet": wet}).known() is None
    record = backend.describe()
    assert json.loads(json.dumps(record)) == record
    assert record["labels"]["legend"] == {"1": "building", "2": "water", "3": "building"}
    assert record["labels"]["sha256"] == open_raster(labels).sha256
    assert record["layers"]["flood zone"]["path"] == str(wet)


def test_nodata_of_a_layer_is_not_the_class(image: Raster, write_raster: Write) -> None:
    layer = write_raster("wet.tif", quarters(), nodata=3)
    assert np.array_equal(
        open_labels(image, None, layers={"wet": layer}).segment("wet").mask, np.isin(quarters(), [1, 2])
    )


@pytest.mark.parametrize("name", ["building", "Buildings"])
def test_a_layer_must_not_share_a_name(name: str, image: Raster, write_raster: Write, write_legend: Write) -> None:
    labels = write_raster("l.tif", quarters())
    with pytest.raises(InputError, match=rf'The layer "{name.lower()}" has the name of a class .*: "building"\. Next'):
        open_labels(image, labels, write_legend(LEGEND), layers={name: labels})


def test_layers_that_cannot_be(image: Raster, write_raster: Write) -> None:
    labels, rgb = write_raster("l.tif", quarters()), write_raster("rgb.tif", np.ones((3, 40, 50), np.uint8))
    with pytest.raises(InputError, match=r"The layer rgb\.tif has 3 bands\. Next: give a raster of one band"):
        open_labels(image, None, layers={"wet": rgb})
    with pytest.raises(InputError, match=r'Two layers are named "wet"\. Next: name them apart\.'):
        open_labels(image, None, layers={"wet": labels, "Wet ": labels})
    with pytest.raises(InputError, match=r"A layer has an empty name\. Next: write --layer NAME=FILE\."):
        open_labels(image, None, layers={" ": labels})


# Where labels lie


def _nearest(labels: np.ndarray[Any, Any], grid: Grid, image: Grid) -> np.ndarray[Any, Any]:
    """The label pixel that holds each image pixel's centre, one by one; -1 outside."""
    to_labels = pyproj.Transformer.from_crs(image.crs, grid.crs, always_xy=True)
    found = np.full(image.shape, -1, dtype=int)
    for row in range(image.shape[0]):
        for col in range(image.shape[1]):
            x, y = image.affine @ (col + 0.5, row + 0.5)
            at_col, at_row = np.array(~grid.affine @ to_labels.transform(x, y)) + 1e-6
            if 0 <= at_col < grid.shape[1] and 0 <= at_row < grid.shape[0]:
                found[row, col] = labels[int(at_row), int(at_col)]
    return found


@pytest.mark.parametrize(
    ("epsg", "step"),
    [
        (32645, (30, 0, 0, -30)),
        (32645, (7, 2, 2, -7)),
        (32645, (10, 0, 0, 10)),
        (32644, (9, 0, 0, -9)),
        (4326, (9e-5, 0, 0, -8e-5)),
        (3857, (11.3, 0, 0, -11.3)),
    ],
)
def test_labels_on_another_grid_are_the_nearest_label_pixel(
    epsg: int, step: tuple[float, float, float, float], tmp_path: Path, image: Raster, write_legend: Write
) -> None:
    labels = np.random.default_rng(epsg).integers(1, 5, (40, 45)).astype(np.uint8)
    crs = pyproj.CRS.from_epsg(epsg)
    x, y = pyproj.Transformer.from_crs(UTM, crs, always_xy=True).transform(*(NORTH_UP @ (26.3, 19.2)))
    a, b, d, e = step
    grid = Grid(Affine(a, b, x, d, e, y) @ Affine.translation(-22.5, -20), labels.shape, crs)
    expected = _nearest(labels, grid, image.grid)
    assert (expected > 0).mean() > 0.4, "the test's own grids should overlap"
    write_array(tmp_path / "l.tif", labels, grid)
    backend = open_labels(image, tmp_path / "l.tif", write_legend({"1": "a", "2": "b", "3": "c", "4": "d"}))
    for value, name in enumerate("abcd", start=1):
        assert np.array_equal(backend.segment(name).mask, expected == value)
    assert np.array_equal(backend.known(), expected > 0)
    outside = 100 * np.mean(expected < 0)
    sentences = (f"l.tif does not cover {outside:.2g} % of the image's valid pixels.",) if outside else ()
    assert backend.segment("a").warnings == sentences


def test_labels_around_the_pole(tmp_path: Path, write_legend: Write) -> None:
    """Longitudes jump at the date line, so that positions cannot be interpolated."""
    polar = Grid(Affine(100_000, 0, -2_000_000, 0, -100_000, 2_000_000), (40, 40), pyproj.CRS.from_epsg(3413))
    write_array(tmp_path / "i.tif", np.ones(polar.shape, np.uint8), polar)
    labels = np.random.default_rng(0).integers(1, 4, (45, 90)).astype(np.uint8)
    world = Grid(Affine(4, 0, -180, 0, -4, 90), labels.shape, pyproj.CRS.from_epsg(4326))
    write_array(tmp_path / "l.tif", labels, world)
    backend = open_labels(
        open_raster(tmp_path / "i.tif"), tmp_path / "l.tif", write_legend({"1": "a", "2": "b", "3": "c"})
    )
    expected = _nearest(labels, world, polar)
    assert [backend.segment(name).mask.sum() for name in "abc"] == [(expected == i).sum() for i in (1, 2, 3)]
    assert np.array_equal(backend.segment("b").mask, expected == 2)


def test_a_shift_of_half_the_image_is_not_hidden(image: Raster, write_raster: Write, write_legend: Write) -> None:
    labels = write_raster("l.tif", quarters(), affine=NORTH_UP @ Affine.translation(25, 0))
    backend = open_labels(image, labels, write_legend(LEGEND))
    assert not backend.known()[:, :25].any()
    assert np.array_equal(backend.segment("building").mask[:, 25:], np.isin(quarters(), [1, 3])[:, :25])
    assert backend.segment("water").warnings == ("l.tif does not cover 50 % of the image's valid pixels.",)


@pytest.mark.parametrize("crs", [UTM, pyproj.CRS.from_epsg(32633), pyproj.CRS.from_epsg(3857)])
def test_labels_of_another_place(crs: Any, image: Raster, write_raster: Write, write_legend: Write) -> None:
    labels = write_raster("l.tif", quarters(), crs=crs, affine=Affine(10, 0, 500_000, 0, -10, 3_060_000))
    with pytest.raises(
        InputError,
        match=r"The labels do not overlap the image: l\.tif covers x 500000 to 500500, y 3059600 to 3060000 in "
        rf".*{crs.to_epsg()}; image\.tif covers x 300000 to 300500, .* in .*32645\. Next: give labels",
    ):
        open_labels(image, labels, write_legend(LEGEND))


def test_labels_without_crs_and_of_the_same_shape(image: Raster, write_raster: Write, write_legend: Write) -> None:
    backend = open_labels(image, write_raster("l.tif", quarters(), crs=None), write_legend(LEGEND))
    assert np.array_equal(backend.segment("water").mask, quarters() == 2)
    assert backend.segment("water").warnings == ()


def test_labels_without_crs_and_of_another_shape(image: Raster, write_raster: Write, write_legend: Write) -> None:
    with pytest.raises(
        InputError,
        match=r"l\.tif names no CRS, and l\.tif has 20 x 50 pixels where image\.tif has 40 x 50 \(rows",
    ):
        open_labels(image, write_raster("l.tif", quarters()[:20], crs=None), write_legend(LEGEND))


def test_an_image_without_crs(plain_image: Raster, write_raster: Write, write_legend: Write) -> None:
    backend = open_labels(plain_image, write_raster("l.tif", quarters()), write_legend(LEGEND))
    assert np.array_equal(backend.segment("water").mask, quarters() == 2)
    assert backend.segment("water").warnings == (
        "plain.tif names no CRS while l.tif does; "
        "as both have 40 x 50 pixels, label pixels were taken for image pixels.",
    )
    with pytest.raises(InputError, match=r"plain\.tif names no CRS, and s\.tif has 40 x 20 pixels where plain\.tif"):
        open_labels(plain_image, write_raster("s.tif", quarters()[:, :20]), write_legend(LEGEND))


def test_a_geotransform_that_says_otherwise(image: Raster, tmp_path: Path, write_legend: Write) -> None:
    labels = tmp_path / "l.tif"
    write_array(labels, quarters(), Grid(NORTH_UP @ Affine.translation(10, 0), (40, 50)))
    with pytest.raises(InputError, match=r"the geotransform of l\.tif differs from that of image\.tif, so the"):
        open_labels(image, labels, write_legend(LEGEND))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(labels=arrays.arrays(np.int16, (7, 9), elements=st.integers(-3, 6)), void=st.sampled_from([-1, 0, 5]))
def test_classes_part_what_is_known(labels: Any, void: int, tmp_path: Path) -> None:
    grid = Grid(NORTH_UP, labels.shape, UTM)
    write_array(tmp_path / "i.tif", np.ones(labels.shape, np.uint8), grid)
    write_array(tmp_path / "l.tif", labels, grid)
    legend = {str(value): f"class {value}" for value in range(-3, 7) if value != void} | {str(void): "void"}
    (tmp_path / "legend.json").write_text(json.dumps(legend))
    if (labels == void).all():
        return
    backend = open_labels(open_raster(tmp_path / "i.tif"), tmp_path / "l.tif", tmp_path / "legend.json")
    masks = [backend.segment(name).mask for name in backend.classes()]
    assert np.array_equal(np.sum(masks, axis=0) == 1, backend.known())
    assert np.array_equal(backend.known(), labels != void)


# Real data


def test_real_masks_of_dubai(shared_data: Path) -> None:
    folder = shared_data / "landcover_dubai"
    mask = folder / "masks" / "group2_tile01.png"
    image = open_raster(folder / "images" / "group2_tile01.jpg")
    backend = open_labels(image, mask, folder / "legend.json")
    assert backend.classes() == ("building", "land", "road", "vegetation", "water")
    values = open_raster(mask).read(1).data[0].data
    assert backend.segment("road").mask.sum() == np.count_nonzero(values == 3)
    assert np.array_equal(backend.known(), values > 0)


def test_a_real_chip_of_nepal_on_its_own_grid_and_on_another(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "buildings_hot"
    chip = sorted((folder / "masks").glob("*.tif"))[0]
    image = open_raster(folder / "images" / chip.name)
    backend = open_labels(image, chip, folder / "legend.json")
    share = json.loads((folder / "legend.json").read_text())["building_pixel_share"][chip.stem]
    assert backend.classes() == ("background", "building")
    assert backend.segment("building").mask.mean() == pytest.approx(share, abs=1e-4)
    assert backend.known().all()
