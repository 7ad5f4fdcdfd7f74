"""Replays: bit for bit the same on recorded masks, whatever kind of source they came from; and never on others."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from run_scenes import Scene, painted, write_image

import swath
from swath.agent.planner import Program
from swath.agent.recorded import RecordedBackend
from swath.agent.replay import PATHS, replay
from swath.errors import InputError, Refused
from swath.segment.protocol import Segmentation
from swath.testing.planner import ScriptedPlanner
from swath.testing.segment import PaintedFactory, Painting
from swath.trace.reading import load_run

SHAPE = (40, 60)
WATER = painted(SHAPE, (0, 0, 5, 40))
NOISE = np.random.default_rng(7)
IDS = np.zeros(SHAPE, dtype=np.int32)
IDS[5:15, 20:30], IDS[5:15, 30:40], IDS[20:22, 50:52] = 7, 3, 90_000  # two of them touch
SCORES = np.where(painted(SHAPE, (20, 5, 40, 25)), NOISE.normal(0.5, 0.1, SHAPE), 0.0)
OUTLINES = [
    shapely.Polygon([(10 / 3, 1.5), (19.75, 2.1), (15, 8.123456789012345)]),
    shapely.box(15, 5, 22, 12),
    shapely.Polygon(shapely.box(40, 20, 50, 30).exterior, [shapely.box(43, 23, 46, 26).exterior.reverse()]),
]
KINDS: dict[str, Painting] = {
    "mask": painted(SHAPE, (20, 5, 40, 25)),
    "ids": IDS,
    "scores": SCORES,
    "features": OUTLINES,
}
ALL = 'h = components(segment("building"))\nreply(count(h), kind="count", objects=h)\n'
PROGRAMS = {
    "count": 'h = components(segment("building"), min_m2=20)\n'
    'k = near(h, segment("water"), max_distance_m=45)\nreply(count(k), kind="count", objects=k)\n',
    "area": 'h = segment("building")\nreply(area_m2(h) / 3, kind="quantity", unit="m2", objects=h)\n',
    "percent": 'w = within(segment("building"), segment("water"), max_distance_m=50)\n'
    'reply(share_percent(w), kind="percent")\n',
    "boolean": 'reply(area_m2(segment("building")) > 1590, kind="boolean")\n',
    "shore": 'reply(perimeter_m(segment("building")), kind="quantity", unit="m")\n',
    "ranking": 'n = count(components(segment("building")))\nreply([n, "building"], kind="ranking")\n',
}


def scene_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, painting: Painting, **image: Any) -> Scene:
    path = write_image(tmp_path / "town.tif", SHAPE, **image)
    return Scene(tmp_path, monkeypatch, path, {"building": painting, "water": WATER})


def no_segmenter(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any) -> None:
        raise AssertionError("a replay of recorded masks asks no segmenter")

    monkeypatch.setattr("swath.agent.desk.open_backend", refuse)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("kind", KINDS)
def test_recorded_masks_give_the_same_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, program: str
) -> None:
    folder, answer = scene_of(tmp_path, monkeypatch, KINDS[kind]).ask(program)
    assert answer.status == "answered", answer.reason
    no_segmenter(monkeypatch)
    again = replay(load_run(folder))
    assert again.same, again.differences
    for field in ("answer", "unit", "kind", "text", "interval", "warnings", "method", "crs", "planner", "segmenter"):
        assert getattr(again.answer, field) == getattr(answer, field)


def test_thresholds_are_recorded_to_the_pixel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, answer = scene_of(tmp_path, monkeypatch, SCORES).ask(PROGRAMS["area"])
    assert answer.interval is not None
    assert "segmentation" in answer.interval.covers
    backend = RecordedBackend(load_run(folder), SHAPE)
    found = backend.segment("building")
    assert found.score is not None
    assert found.thresholds is not None
    strict, used, lax = found.thresholds
    scores = SCORES.astype(np.float32)
    assert np.array_equal(found.score >= strict, scores >= np.float32(0.6))
    assert np.array_equal(found.mask, scores >= np.float32(0.5))
    assert np.array_equal(found.score >= lax, scores >= np.float32(0.4))
    assert strict > used > lax
    no_segmenter(monkeypatch)
    assert replay(load_run(folder)).answer.interval == answer.interval


def test_features_come_back_to_the_last_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = scene_of(tmp_path, monkeypatch, OUTLINES).ask(PROGRAMS["count"])
    found: Segmentation = RecordedBackend(load_run(folder), SHAPE).segment("building")
    assert found.features is not None
    assert [feature.id for feature in found.features] == ["1", "2", "3"]
    assert [feature.outline.wkb for feature in found.features] == [outline.wkb for outline in OUTLINES]


def test_instance_ids_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = scene_of(tmp_path, monkeypatch, IDS).ask(PROGRAMS["count"])
    found = RecordedBackend(load_run(folder), SHAPE).segment("building")
    assert found.instance_ids is not None
    assert found.instance_ids.dtype == np.int32
    assert np.array_equal(found.instance_ids, IDS)


def test_a_class_that_was_not_looked_at_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = scene_of(tmp_path, monkeypatch, IDS).ask(PROGRAMS["area"])
    backend = RecordedBackend(load_run(folder), SHAPE)
    assert backend.classes() == ("building", "water")
    with pytest.raises(Refused, match=r'"water" was not looked at in run .*, which kept building.*--resegment'):
        backend.segment("water")


@pytest.mark.parametrize("kind", KINDS)
def test_a_light_run_finds_its_classes_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    scene = scene_of(tmp_path, monkeypatch, KINDS[kind])
    folder, answer = scene.ask(PROGRAMS["count"], keep="light")
    asked = len(scene.factory.given)
    again = replay(load_run(folder))
    assert again.same, again.differences
    assert len(scene.factory.given) == asked + 1
    assert again.answer.answer == answer.answer


def asked(village: Any, out: Path, program: Program | Exception, **options: Any) -> tuple[Path, swath.Answer]:
    """A question about the village, with labels as people give them."""
    answer = swath.ask(
        village.image, "how many?", planner=ScriptedPlanner(program), out=out, **village.options | options
    )
    return Path(str(answer.run)), answer


@pytest.mark.parametrize("keep", ["full", "light"])
def test_what_a_question_states_is_remembered(village: Any, tmp_path: Path, keep: str) -> None:
    area = 'w = segment("water")\nreply(area_m2(w), kind="quantity", unit="m2", objects=w)\n'
    notes = ('"watter" was read as water.', "Ponds count as water.")
    folder, answer = asked(village, tmp_path, Program(area, "water", notes, gsd_m=0.25), keep=keep)
    assert answer.answer == village.canal_m2 / 4
    assert answer.warnings[:2] == notes
    again = replay(load_run(folder))
    assert again.same, again.differences
    assert again.answer.warnings == answer.warnings


def test_an_area_of_interest_is_part_of_the_recorded_masks(
    village: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = [
        [500_000, 4_999_900],
        [500_050, 4_999_900],
        [500_050, 5_000_000],
        [500_000, 5_000_000],
        [500_000, 4_999_900],
    ]
    area = {
        "type": "FeatureCollection",
        "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32631"}},
        "features": [{"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [ring]}}],
    }
    aoi = tmp_path / "aoi.geojson"
    aoi.write_text(json.dumps(area), encoding="utf-8")
    folder, answer = asked(village, tmp_path, Program(ALL, "houses"), aoi=aoi)
    assert answer.answer == 3
    run = load_run(folder)
    assert replay(run, resegment=True).same
    aoi.unlink()
    no_segmenter(monkeypatch)
    assert replay(run).same


def test_resegmenting_reports_what_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_of(tmp_path, monkeypatch, painted(SHAPE, (10, 5, 20, 15), (25, 5, 35, 15)))
    folder, _ = scene.ask(PROGRAMS["count"])
    assert replay(load_run(folder), resegment=True).same
    scene.factory = PaintedFactory({"building": painted(SHAPE, (10, 5, 20, 15)), "water": WATER})
    assert replay(load_run(folder)).same
    again = replay(load_run(folder), resegment=True)
    assert not again.same
    assert "answer: 2 then, 1 now" in again.differences
    assert any(
        '(segment), result: {"handle": "#1", "mask": "building", "pixels": 200} then' in d for d in again.differences
    )


def test_labels_that_changed_are_named(village: Any, tmp_path: Path) -> None:
    labels = Path(shutil.copy(village.image, tmp_path / "labels.tif"))
    folder, _ = asked(village, tmp_path, Program(ALL, "houses"), labels=labels, keep="light")
    with labels.open("ab") as file:
        file.write(b"\0")
    again = replay(load_run(folder))
    assert again.differences == ("the files that the classes come from have changed since",)


def test_a_mask_that_was_tampered_with_is_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = scene_of(tmp_path, monkeypatch, KINDS["mask"]).ask(PROGRAMS["area"])
    path = folder / load_run(folder).record["segmentations"]["building"]["mask"]["file"]
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(InputError, match=r"masks/001-building\.tif of run .* has changed since it was kept"):
        replay(load_run(folder))
    path.unlink()
    with pytest.raises(InputError, match=r"masks/001-building\.tif is missing"):
        replay(load_run(folder))


def test_masks_outside_the_folder_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = scene_of(tmp_path, monkeypatch, KINDS["mask"]).ask(PROGRAMS["area"])
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    record["segmentations"]["building"]["mask"]["file"] = "../../town.tif"
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(InputError, match="lies outside its folder"):
        replay(load_run(folder))


def test_an_edited_program_is_not_a_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = scene_of(tmp_path, monkeypatch, KINDS["mask"]).ask(PROGRAMS["area"])
    (folder / "program.py").write_text(PROGRAMS["shore"], encoding="utf-8")
    with pytest.raises(InputError, match=r"program\.py of run .* is not the program that gave its answer.*swath run"):
        replay(load_run(folder))


def test_another_image_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_of(tmp_path, monkeypatch, KINDS["mask"])
    folder, _ = scene.ask(PROGRAMS["area"])
    write_image(scene.image, SHAPE, seed=1)
    with pytest.raises(InputError, match=r"town\.tif is not the image of run .*: its SHA-256 begins with"):
        replay(load_run(folder))


def test_an_image_that_moved_is_named_or_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_of(tmp_path, monkeypatch, KINDS["mask"])
    folder, _ = scene.ask(PROGRAMS["area"])
    moved = scene.image.rename(tmp_path / "moved.tif")
    with pytest.raises(InputError, match=r"The image of run .* is not at .*town\.tif.*--image FILE"):
        replay(load_run(folder))
    assert replay(load_run(folder), image=moved).same


def test_every_option_that_names_a_file_is_placed() -> None:
    assert {"labels", "legend", "aoi"} <= set(PATHS)


def test_options_of_a_later_swath_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = scene_of(tmp_path, monkeypatch, KINDS["mask"]).ask(PROGRAMS["area"])
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    record["inputs"]["lidar"] = "cloud.laz"
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(InputError, match=r"Run .* used options that this swath does not know: lidar\."):
        replay(load_run(folder))


def test_relative_paths_start_where_they_were_typed(
    village: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir(), there.mkdir()
    for path in (village.image, village.legend):
        shutil.copy(path, here)
    monkeypatch.chdir(here)
    planner = ScriptedPlanner(Program(ALL, "houses"))
    image, legend = village.image.name, village.legend.name
    answer = swath.ask(image, "how many?", labels=image, legend=legend, keep="light", planner=planner)
    run = load_run(Path(str(answer.run)).resolve())
    assert replay(run).same
    monkeypatch.chdir(there)
    assert replay(run).answer.answer == answer.answer == 12


def test_a_refusal_while_measuring_is_refused_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = 'n = difference(segment("water"), segment("water"))\nreply(share_percent(n, of=n), kind="percent")\n'
    for keep in ("full", "light"):
        folder, answer = scene_of(tmp_path, monkeypatch, KINDS["mask"]).ask(nothing, keep=keep)
        assert answer.status == "refused"
        again = replay(load_run(folder))
        assert (again.same, again.answer.reason) == (True, answer.reason)


def test_a_question_that_never_had_a_program_cannot_be_replayed(village: Any, tmp_path: Path) -> None:
    folder, answer = asked(village, tmp_path, Refused("The sky is not in this image."))
    assert answer.status == "refused"
    with pytest.raises(InputError, match=r"Run .* never had a program: it was refused before one was written"):
        replay(load_run(folder))


def test_a_doctored_answer_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = scene_of(tmp_path, monkeypatch, KINDS["mask"]).ask(PROGRAMS["area"])
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    record["answer"]["answer"] = float(np.nextafter(record["answer"]["answer"], 1e9))
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    (difference,) = replay(load_run(folder)).differences
    assert difference.startswith("answer: 533.33")
