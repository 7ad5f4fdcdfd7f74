"""Annotation files of data sets: objects with identities, classes by category, and files that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from affine import Affine

from swath.errors import InputError
from swath.raster.grid import Grid
from swath.raster.reader import Raster, open_raster
from swath.raster.write import write_array
from swath.segment.labels import LabelsBackend
from swath.segment.protocol import SegmentOptions
from swath.testing.segment_contract import faults

WIDTH, HEIGHT = 200, 100


@pytest.fixture
def plain(tmp_path: Path) -> Raster:
    """An image of 200 x 100 pixels without CRS."""
    path = tmp_path / "P0003.tif"
    write_array(path, np.ones((HEIGHT, WIDTH), np.uint8), Grid(Affine.identity(), (HEIGHT, WIDTH), None))
    return open_raster(path)


def opened(image: Raster, name: str, content: str | dict[str, Any], **options: Any) -> LabelsBackend:
    path = image.path.with_name(name)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return LabelsBackend(image, SegmentOptions(labels=path, **options))


def objects_of(backend: LabelsBackend, name: str) -> dict[str, Any]:
    """Outlines by identifier."""
    features = backend.segment(name).features
    assert features is not None
    return {feature.id: feature.outline for feature in features}


def same(outline: Any, wanted: Any) -> bool:
    return bool(shapely.symmetric_difference(outline, wanted).area < 1e-9)


DOTA = """imagesource:GoogleEarth
gsd:0.146
10 10 40 10 40 30 10 30 small-vehicle 0
40 10 60 10 60 30 40 30 small-vehicle 1

100.5 50 120 69.5 110 79.5 90.5 60 ship
"""


def vrsbench(*corners: list[float], name: str = "storage-tank") -> dict[str, Any]:
    objects = [{"obj_id": 10 + i, "obj_cls": name, "obj_corner": own} for i, own in enumerate(corners)]
    return {"image": "P0003.png", "caption": "c", "objects": objects, "qa_pairs": []}


def coco(annotations: list[dict[str, Any]], **image: Any) -> dict[str, Any]:
    return {
        "images": [
            {"id": 7, "file_name": "train/P0003.tif", "width": WIDTH, "height": HEIGHT} | image,
            {"id": 8, "file_name": "train/other.tif"},
        ],
        "categories": [{"id": 1, "name": "Tree"}, {"id": 2, "name": "swimming-pool"}],
        "annotations": [{"id": 100 + i, "image_id": 7, "category_id": 1} | own for i, own in enumerate(annotations)],
    }


# What they hold


def test_dota_objects_are_quadrilaterals_and_touching_ones_stay_two(plain: Raster) -> None:
    backend = opened(plain, "P0003.txt", DOTA)
    assert backend.classes() == ("ship", "small vehicle")
    cars = objects_of(backend, "small vehicle")
    assert list(cars) == ["1", "2"]
    assert same(cars["1"], shapely.box(10, 10, 40, 30))
    assert same(cars["2"], shapely.box(40, 10, 60, 30))
    ship = shapely.Polygon([(100.5, 50), (120, 69.5), (110, 79.5), (90.5, 60)])
    assert same(objects_of(backend, "ship")["3"], ship)
    assert backend.known() is None
    assert faults(backend, plain) == []


def test_a_pixel_size_in_a_dota_file_is_said_and_not_used(plain: Raster) -> None:
    said = "P0003.txt states a pixel size of 0.146 m, which was not used. Next: give it as --gsd 0.146."
    assert said in opened(plain, "P0003.txt", DOTA).segment("ship").warnings
    unknown = DOTA.replace("0.146", "null")
    assert opened(plain, "P0003.txt", unknown).segment("ship").warnings == ()
    stated = open_raster(plain.path, gsd_m=0.2)
    assert opened(stated, "P0003.txt", DOTA).segment("ship").warnings == ()


def test_vrsbench_corners_are_fractions_of_width_and_height(plain: Raster) -> None:
    annotation = vrsbench([0.1, 0.2, 0.3, 0.2, 0.3, 0.6, 0.1, 0.6], [0.5, 0.5, 0.6, 0.6, 0.5, 0.7, 0.4, 0.6])
    backend = opened(plain, "P0003.json", annotation)
    assert backend.classes() == ("storage tank",)
    tanks = objects_of(backend, "storage tank")
    assert same(tanks["10"], shapely.box(20, 20, 60, 60))
    assert same(tanks["11"], shapely.Polygon([(100, 50), (120, 60), (100, 70), (80, 60)]))
    assert backend.segment("storage tank").warnings == ()
    golf = opened(plain, "P0003.json", vrsbench([0, 0, 1, 0, 1, 1, 0, 1], name="golffield"))
    assert golf.classes() == ("golf field",)


def test_a_mended_vrsbench_annotation_is_read(plain: Raster) -> None:
    text = "{'image': 'P0003.png', // by hand\n objects: [{'obj_id': 1, 'obj_cls': 'ship', "
    text += "'obj_corner': [0, 0, 0.5, 0, 0.5, 1, 0, 1],}],}"
    assert same(objects_of(opened(plain, "a.json", text), "ship")["1"], shapely.box(0, 0, 100, 100))


def test_corners_out_of_order_still_mean_that_box(plain: Raster) -> None:
    crossed = opened(plain, "P0003.txt", "10 10 40 30 40 10 10 30 ship 0\n")
    assert same(objects_of(crossed, "ship")["1"], shapely.box(10, 10, 40, 30))


def test_coco_boxes_and_polygons_of_the_image_named(plain: Raster) -> None:
    bowl = [[10.0, 60.0, 30.0, 60.0, 20.0, 90.0], [40, 60, 50, 60, 50, 70, 40, 70]]
    annotations: list[dict[str, Any]] = [
        {"bbox": [5, 6, 10, 20]},
        {"bbox": [15, 6, 10, 20], "score": 0.75},
        {"bbox": [0, 0, 9, 9], "image_id": 8},
        {"bbox": [10, 60, 40, 30], "segmentation": bowl, "category_id": 2},
        {"bbox": [0, 0, 9, 9], "iscrowd": 1},
    ]
    backend = opened(plain, "instances.json", coco(annotations))
    assert backend.classes() == ("swimming pool", "tree")
    trees = objects_of(backend, "tree")
    assert list(trees) == ["100", "101"]
    assert same(trees["101"], shapely.box(15, 6, 25, 26))
    assert [feature.score for feature in backend.segment("tree").features or ()] == [None, 0.75]
    assert objects_of(backend, "swimming pool")["103"].area == pytest.approx(300 + 100)
    assert backend.segment("tree").warnings == ("1 crowds of instances.json are no single objects and were left out.",)


def test_a_class_of_the_file_that_the_image_lacks_is_empty(plain: Raster) -> None:
    backend = opened(plain, "instances.json", coco([]))
    assert backend.classes() == ("swimming pool", "tree")
    assert not backend.segment("tree").mask.any()


def test_of_two_images_with_one_name_the_folder_decides(plain: Raster) -> None:
    both = coco([{"bbox": [1, 2, 3, 4]}, {"bbox": [5, 6, 7, 8], "image_id": 8}])
    folder = plain.path.parent.name
    both["images"] = [{"id": 7, "file_name": "elsewhere/P0003.tif"}, {"id": 8, "file_name": f"{folder}/P0003.tif"}]
    assert list(objects_of(opened(plain, "instances.json", both), "tree")) == ["101"]


def test_one_name_for_all_objects(plain: Raster) -> None:
    assert list(objects_of(opened(plain, "P0003.txt", DOTA, label_class="Thing"), "thing")) == ["1", "2", "3"]
    layer = plain.path.with_name("quay.txt")
    layer.write_text("0 0 9 0 9 9 0 9 harbor 0\n", encoding="utf-8")
    backend = opened(plain, "P0003.txt", DOTA, layers={"quay": layer})
    assert backend.classes() == ("ship", "small vehicle", "quay")
    assert same(objects_of(backend, "quay")["1"], shapely.box(0, 0, 9, 9))


def test_an_object_is_cut_by_the_image_and_one_outside_is_left_out(plain: Raster) -> None:
    text = "-10 -10 20 -10 20 20 -10 20 ship 0\n300 10 320 10 320 30 300 30 ship 0\n50 50 50 50 60 50 60 50 ship 0\n"
    backend = opened(plain, "P0003.txt", text)
    ships = objects_of(backend, "ship")
    assert list(ships) == ["1"]
    assert same(ships["1"], shapely.box(0, 0, 20, 20))
    assert backend.segment("ship").warnings == (
        "1 objects of P0003.txt have a box without area and were left out.",
        "1 objects of P0003.txt lie outside P0003.tif and were left out.",
    )


def test_an_annotation_of_another_image_is_remarked(plain: Raster) -> None:
    annotation = vrsbench([0, 0, 1, 0, 1, 1, 0, 1]) | {"image": "P0004.png"}
    assert opened(plain, "x.json", annotation).segment("storage tank").warnings == (
        "x.json says that it is about P0004.png, not about P0003.tif.",
    )


def test_ten_thousand_objects_keep_their_identities(plain: Raster) -> None:
    boxes = [{"bbox": [2 * (i % 100), (i // 100), 1.5, 0.75]} for i in range(10_000)]
    trees = objects_of(opened(plain, "instances.json", coco(boxes)), "tree")
    assert len(trees) == 10_000
    assert sum(outline.area for outline in trees.values()) == pytest.approx(10_000 * 1.125)


def test_a_grid_of_numbers_and_geojson_are_no_annotations(plain: Raster) -> None:
    grid = f"ncols {WIDTH}\nnrows {HEIGHT}\nxllcorner 0\nyllcorner 0\ncellsize 1\n" + ("1 " * WIDTH + "\n") * HEIGHT
    legend = plain.path.with_name("legend.json")
    legend.write_text('{"1": "grass"}', encoding="utf-8")
    assert opened(plain, "classes.txt", grid, legend=legend).classes() == ("grass",)
    square = {"type": "Polygon", "coordinates": [[[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]]]}
    feature = {"type": "Feature", "properties": {"class": "pond", "annotations": []}, "geometry": square}
    collection = {"type": "FeatureCollection", "crs": None, "features": [feature]}
    assert opened(plain, "ponds.json", collection).classes() == ("pond",)


# What cannot be used

OUTSIDE = "300 10 320 10 320 30 300 30 ship 0\n"
NO_LINE = (
    "is no object of a DOTA file, which is eight numbers in pixels (x and y of four corners), a class and perhaps a"
)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", "0 0.5 0.5 0.1 0.1\n", f"a.txt, line 1: {NO_LINE}"),
        ("a.txt", "gsd:1\n1 2 3 4 5 6 7 x ship 0\n", f"a.txt, line 2: {NO_LINE}"),
        ("a.txt", "1 2 3 4 5 6 7 nan ship 0\n", f"a.txt, line 1: {NO_LINE}"),
        ("a.txt", "1 2 3 4 5 6 7 8 ship 0 0\n", f"a.txt, line 1: {NO_LINE}"),
        (
            "a.txt",
            OUTSIDE,
            "All 1 objects of a.txt lie outside P0003.tif, which has 200 x 100 pixels: they cover x 300",
        ),
        ("a.json", '{"annotations": [', "not JSON"),
        ("a.json", {"images": [], "annotations": []}, "does not name P0003.tif as one of its 0 images"),
        ("a.json", coco([], width=512), "says that P0003.tif has 512 x 100 pixels, but it has 200 x 100"),
        ("a.json", coco([{"bbox": [1, 2, 3, 4], "category_id": 9}]), "is 9, which is no category of the file"),
        ("a.json", coco([{"bbox": [1, 2, 3, 4], "category_id": [1]}]), "is [1], which is no category of the file"),
        ("a.json", coco([{"bbox": [1, 2, -3, 4]}]), "has a negative width or height"),
        ("a.json", coco([{"bbox": [1, 2, 3]}]), "not a list of 4 finite numbers"),
        ("a.json", coco([{"segmentation": [[1, 2, 3, 4]]}]), "is no list of polygons, each of three corners or more"),
        ("a.json", coco([{"segmentation": {"counts": "x"}}]), 'key "bbox" is missing'),
        ("a.json", vrsbench([10, 20, 90, 20, 90, 60, 10, 60]), "is not given in fractions of the image's width"),
        ("a.json", vrsbench([0.1, 0.2]), "not a list of 8 finite numbers"),
        ("a.json", '{"objects": [{"obj_cls": ', "not JSON"),
        ("a.json", '["obj_cls"]', "holds no JSON object"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(plain: Raster, name: str, content: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        opened(plain, name, content)
    assert sentence in str(caught.value)
    assert "Next: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_legend_too_many(plain: Raster) -> None:
    with pytest.raises(InputError, match="gone.txt"):
        LabelsBackend(plain, SegmentOptions(labels=plain.path.with_name("gone.txt")))
    with pytest.raises(InputError, match=r"P0003.txt names its classes itself. Next: leave --legend out."):
        opened(plain, "P0003.txt", DOTA, legend=plain.path)


VOC = """<annotation><filename>P0003.jpg</filename>
<object><name>golffield</name><difficult>1</difficult>
  <bndbox><xmin>11</xmin><ymin>21</ymin><xmax>40</xmax><ymax>30</ymax></bndbox></object>
<object><name>ship</name><robndbox><x_left_top>60.5</x_left_top><y_left_top>20.5</y_left_top>
  <x_right_top>80.5</x_right_top><y_right_top>20.5</y_right_top><x_right_bottom>80.5</x_right_bottom>
  <y_right_bottom>30.5</y_right_bottom><x_left_bottom>60.5</x_left_bottom><y_left_bottom>30.5</y_left_bottom>
  </robndbox></object></annotation>"""


def test_voc_counts_pixels_from_one(plain: Raster) -> None:
    backend = opened(plain, "P0003.xml", VOC)
    assert set(backend.classes()) == {"golf field", "ship"}
    field = objects_of(backend, "golf field")["1"]
    assert same(field, shapely.box(10, 20, 40, 30))
    assert same(objects_of(backend, "ship")["2"], shapely.box(60, 20, 80, 30))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<annotation><object>", "P0003.xml, line 1, column 21: is not well-formed XML"),
        ('<!DOCTYPE a [<!ENTITY x "y">]><annotation/>', "declares a document type"),
        ("<annotation><object><bndbox/></object></annotation>", "object 1: has no name"),
        (VOC.replace("<xmax>40</xmax>", ""), "object 1: has no box of four numbers"),
        (VOC.replace("<xmax>40</xmax>", "<xmax>inf</xmax>"), "object 1: has no box of four numbers"),
    ],
)
def test_xml_that_is_no_annotation_is_named(plain: Raster, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        opened(plain, "P0003.xml", text)
