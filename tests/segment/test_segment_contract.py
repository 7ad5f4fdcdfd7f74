"""Every registered backend keeps the protocol; and the check itself notices when one does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from swath.errors import InputError
from swath.raster.reader import Raster, open_raster
from swath.segment.protocol import Feature, Segmentation, SegmentOptions
from swath.segment.registry import backend_names, open_backend
from swath.testing.networks import colour_network
from swath.testing.segment import PaintedBackend, PaintedFactory
from swath.testing.segment_contract import faults

NETWORKS = ("onnx", "landcover")
ELSEWHERE = {
    "ensemble": "test_ensemble.py", "grounded": "test_grounded.py", "landcover+sam": "test_sam.py",
    "remote": "test_remote.py", "sam": "test_sam.py",
}  # fmt: skip
"""What needs weights, a service or other segmenters is opened in a file of its own."""


def _scene() -> np.ndarray[Any, Any]:
    """Green, red, nir digital numbers: water on the left, bare ground, plants on the right, with noise."""
    rng = np.random.default_rng(1)
    bands = np.empty((3, 60, 90))
    for cols, levels in ((slice(0, 30), (70, 50, 15)), (slice(30, 60), (90, 95, 80)), (slice(60, 90), (60, 40, 120))):
        bands[:, :, cols] = np.array(levels)[:, None, None]
    return (bands + rng.normal(0, 3, bands.shape)).clip(1, 255).astype(np.uint8)


def test_what_is_opened_elsewhere_is_there() -> None:
    assert set(ELSEWHERE) < set(backend_names())
    assert all((Path(__file__).parent / file).is_file() for file in ELSEWHERE.values())


@pytest.mark.parametrize("name", [name for name in backend_names() if name not in ELSEWHERE])
def test_every_registered_backend_keeps_the_contract(
    name: str, write_raster: Callable[..., Path], write_legend: Callable[..., Path], tmp_path: Path
) -> None:
    raster = open_raster(write_raster("scene.tif", _scene()), bands={"green": 1, "red": 2, "nir": 3})
    labels = write_raster("labels.tif", np.tile(np.arange(90, dtype=np.uint8) // 30, (60, 1)))
    options = SegmentOptions(labels=labels, legend=write_legend({"1": "building", "2": "water"}))
    if name in NETWORKS:
        raster = open_raster(raster.path, bands={"red": 1, "green": 2, "blue": 3}, gsd_m=0.5)
        colours = {"water": (70, 50, 15), "land": (90, 95, 80), "vegetation": (60, 40, 120)}
        options = SegmentOptions(card=colour_network(tmp_path, colours))
    backend = open_backend(name, raster, options)
    assert faults(backend, raster) == []
    if name != "landcover":  # which sees nothing of its own in noise
        assert all(backend.segment(known).mask.any() for known in backend.classes())


def test_labels_with_features_and_layers_keep_the_contract(
    image: Raster, write_geojson: Callable[..., Path], on_ground: Callable[..., Any], write_raster: Callable[..., Path]
) -> None:
    drawn = [
        (on_ground(shapely.box(1, 1, 9.3, 9.2)), {"class": "house"}),
        (on_ground(shapely.box(5, 5, 60, 12)), {"class": "house"}),
        (on_ground(shapely.box(20.6, 20.6, 20.8, 20.8)), {"class": "house"}),
        (on_ground(shapely.Point(3.5, 30.5)), {"class": "well"}),
        (on_ground(shapely.LineString([(0, 35), (49, 38)])), {"class": "road"}),
    ]
    layer = write_raster("wet.tif", np.eye(40, 50))
    options = SegmentOptions(labels=write_geojson("drawn.geojson", drawn), layers={"Wet": layer})
    backend = open_backend("auto", image, options)
    assert backend.classes() == ("house", "road", "well", "wet")
    assert faults(backend, image) == []


def test_the_painted_fake_keeps_the_contract(image: Raster) -> None:
    paintings = {
        "building": [shapely.box(1, 1, 5, 5), shapely.box(4, 4, 8, 8)],
        "road": [shapely.LineString([(0, 0), (40, 30)])],
        "water": np.eye(40, 50, dtype=bool),
        "tree": np.eye(40, 50, dtype=np.int64) * 7,
        "soil": np.linspace(0, 1, 2000).reshape(40, 50),
    }
    backend = PaintedFactory(paintings)(image, SegmentOptions())
    assert faults(backend, image) == []
    assert backend.segment("building").mask.sum() == 16 + 16 - 1
    assert backend.asked[-1] == "building"


class _Bent(PaintedBackend):
    """Returns one prepared segmentation, whatever the painting."""

    def __init__(self, image: Raster, **changes: Any) -> None:
        super().__init__(image.shape, {"water": np.zeros(image.shape, dtype=bool)})
        self._bent = replace(Segmentation(np.zeros(image.shape, dtype=bool), method="bent"), **changes)

    def segment(self, class_name: str) -> Segmentation:
        super().segment(class_name)
        return self._bent


BOX = shapely.box(1, 1, 3, 3)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"mask": np.zeros((3, 3), dtype=bool)}, "not bool (40, 50)"),
        ({"method": ""}, "the method is empty"),
        ({"warnings": ["a list"]}, "the warnings are no tuple"),
        ({"thresholds": (1.0, 0.5, 0.0)}, "thresholds but no score"),
        ({"score": np.zeros((40, 50))}, "the score is float64"),
        ({"score": np.zeros((40, 50), np.float32), "thresholds": (0.1, 0.5, 0.6)}, "not in the order"),
        ({"score": np.ones((40, 50), np.float32), "thresholds": (0.6, 0.5, 0.4)}, "not where the score reaches"),
        ({"instance_ids": np.ones((40, 50), np.int32)}, "not positive exactly where the mask is"),
        ({"features": (Feature("1", BOX),)}, "not the union of the features' pixels"),
        ({"features": (Feature("1", BOX), Feature("1", BOX))}, "two features have one id"),
        ({"features": (Feature("1", shapely.Polygon()),)}, "an empty outline"),
        ({"features": (Feature("1", shapely.box(1, 1, 3, 41)),)}, "beyond the image"),
        ({"features": (Feature("1", shapely.Point(1.5, 1.5)),)}, "areal is True"),
        ({"features": (Feature("1", BOX, 1.5),)}, "not between 0 and 1"),
    ],
)
def test_the_check_notices(changes: dict[str, Any], fault: str, image: Raster) -> None:
    assert any(fault in found for found in faults(_Bent(image, **changes), image))


def test_the_check_notices_a_backend_that_answers_to_anything(image: Raster) -> None:
    class Yes(PaintedBackend):
        def segment(self, class_name: str) -> Segmentation:
            return super().segment("water")

        def describe(self) -> dict[str, Any]:
            return {"name": "no", "score": float("nan")}

    found = faults(Yes(image.shape, {"water": np.zeros(image.shape, dtype=bool)}), image)
    assert found[-1] == "an unknown class is not refused"
    assert found[0].startswith("describe() is not JSON-ready")
    assert faults(object(), image) == ["it lacks one of name, classes, known, segment, describe"]


def test_auto_takes_labels_where_they_are_given(image: Raster, write_raster: Callable[..., Path]) -> None:
    layer = write_raster("layer.tif", np.eye(40, 50, dtype=np.uint8))
    assert open_backend("auto", image, SegmentOptions(layers={"ditch": layer})).name == "labels"


def test_an_unknown_backend_is_named_with_those_there_are(image: Raster) -> None:
    with pytest.raises(
        InputError, match=r'There is no segmenter "magic"\. Next: use one of auto, .*labels, .*onnx, .*spectral'
    ):
        open_backend("magic", image, SegmentOptions())
