"""The command line as a person meets it: values, exit status, one sentence for a mistake, never a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine
from PIL import Image

COUNT = 'houses = components(segment("building"))\nreply(count(houses), kind="count", objects=houses)\n'


def swath(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "swath", *map(str, words)], capture_output=True, text=True, cwd=cwd, timeout=120
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


def labelled(village: Any) -> list[object]:
    return ["--labels", village.image, "--legend", village.legend]


def test_ask_prints_the_value_its_interval_and_where_the_run_is(village: Any, tmp_path: Path) -> None:
    done = swath("ask", village.image, "How many buildings are there?", *labelled(village), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("12")
    assert "run: runs/" in done.stdout
    (run,) = (tmp_path / "runs").iterdir()
    assert {"run.json", "steps.jsonl", "program.py", "masks", "objects.gpkg", "overlay.png"} <= {
        path.name for path in run.iterdir()
    }


def test_ask_json_is_one_object_with_the_promised_fields(village: Any, tmp_path: Path) -> None:
    done = swath("ask", village.image, "How many buildings are within 10 m of water?", *labelled(village), "--json",
                 cwd=tmp_path)  # fmt: skip
    answer = json.loads(done.stdout)
    promised = "answer kind unit text interval status reason program objects run warnings planner segmenter seconds"
    assert set(promised.split()) <= set(answer)
    assert (answer["answer"], answer["unit"], answer["objects"]["count"]) == (3, "count", 3)
    assert set(answer["interval"]) == {"low", "high", "covers"}
    assert (answer["planner"], answer["segmenter"]) == ("offline", "labels")


def test_a_refusal_exits_with_3_and_says_what_would_help(village: Any, tmp_path: Path) -> None:
    done = swath("ask", village.image, "How many solar panels are there?", *labelled(village), cwd=tmp_path)
    assert done.returncode == 3
    assert "building, water, grass" in done.stderr
    done = swath("ask", village.image, "Who owns the largest building?", *labelled(village), "--json", cwd=tmp_path)
    assert done.returncode == 3
    assert json.loads(done.stdout)["status"] == "refused"


def test_a_dry_run_prints_the_program_and_leaves_nothing(village: Any, tmp_path: Path) -> None:
    done = swath("ask", village.image, "How many buildings are there?", *labelled(village), "--dry-run", cwd=tmp_path)
    assert done.returncode == 0
    assert 'segment("building")' in done.stdout
    assert not list(tmp_path.iterdir())


def test_run_takes_an_edited_program(village: Any, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(COUNT, encoding="utf-8")
    done = swath("run", "p.py", village.image, *labelled(village), "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["answer"] == 12
    (tmp_path / "p.py").write_text(COUNT.replace("count(", "cuont("), encoding="utf-8")
    done = swath("run", "p.py", village.image, *labelled(village), cwd=tmp_path)
    assert done.returncode == 1
    assert "did you mean count" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["ask", "nowhere.tif", "How much is water?"], "nowhere.tif"),
        (["ask", ".", "How much is water?"], "is a folder"),
        (["info", "text.tif"], "text.tif"),
        (["info", "empty.tif"], "empty.tif"),
        (["ask", "IMAGE", "How much is water?", "--bands", "red"], "--bands takes NAME=VALUE"),
        (["ask", "IMAGE", "How much is water?", "--bands", "red=x"], "--bands takes the number of a band"),
        (["ask", "IMAGE", "How much is water?", "--bands", "red=9"], "band 9"),
        (["ask", "IMAGE", "How much is water?", "--threshold", "NDWI=high"], "--threshold takes a number"),
        (["ask", "IMAGE", "How much is water?", "--layer", "schools"], "--layer takes NAME=FILE"),
        (["ask", "IMAGE", "How much is water?", "--gsd", "-1"], "m is not possible. Next: state"),
        (["ask", "IMAGE", "How much is water?", "--gsd", "nan"], "m is not possible. Next: state"),
        (["ask", "IMAGE", "How much is water?", "--labels", "nowhere.tif"], "nowhere.tif"),
        (["ask", "IMAGE", "How much is water?", "--labels", "IMAGE", "--legend", "text.tif"], "text.tif"),
        (["ask", "IMAGE", "How much is water?", "--segmenter", "magic"], 'no segmenter "magic"'),
        (["ask", "IMAGE", "How much is water?", "--planner", "magic"], 'There is no planner "magic"'),
        (["run", "nowhere.py", "IMAGE"], "nowhere.py cannot be read"),
        (["trace", "show", "2026"], "there is no such folder"),
        (["ask", "IMAGE"], "Missing argument"),
        (["fly"], "No such command"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_2(village: Any, tmp_path: Path, words: list[str], sentence: str) -> None:
    (tmp_path / "text.tif").write_text("not an image", encoding="utf-8")
    (tmp_path / "empty.tif").touch()
    done = swath(*(village.image if word == "IMAGE" else word for word in words), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr
    assert not done.stdout


def test_complex_pixels_are_reported_but_not_measured(tmp_path: Path) -> None:
    with rasterio.open(
        tmp_path / "slc.tif", "w", driver="GTiff", width=8, height=8, count=1, dtype="complex64", crs="EPSG:32631",
        transform=Affine(1, 0, 5e5, 0, -1, 5e6),
    ):  # fmt: skip
        pass
    done = swath("info", "slc.tif", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert any("complex" in warning for warning in json.loads(done.stdout)["warnings"])
    done = swath("ask", "slc.tif", "How much is water?", cwd=tmp_path)
    assert done.returncode == 3
    assert "complex numbers" in done.stderr


def test_info_reads_well_and_as_json(village: Any, tmp_path: Path) -> None:
    done = swath("info", village.image, cwd=tmp_path)
    assert "EPSG:32631" in done.stdout
    facts = json.loads(swath("info", village.image, "--json", cwd=tmp_path).stdout)
    assert facts["pixel_size_m"] == {"x": 0.5, "y": 0.5}
    assert (facts["pixel_area_m2"], facts["shape"], facts["valid_fraction"]) == (0.25, [200, 300], 1.0)


def test_tools_lists_every_tool(tmp_path: Path) -> None:
    assert "near(regions: Regions" in swath("tools", cwd=tmp_path).stdout
    names = {schema["name"] for schema in json.loads(swath("tools", "--json", cwd=tmp_path).stdout)}
    assert {"segment", "components", "near", "reply"} <= names


def test_segment_writes_a_mask_and_its_objects(village: Any, tmp_path: Path) -> None:
    done = swath("segment", village.image, "houses", *labelled(village), "-o", "m.tif", "--vector", "m.gpkg",
                 cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "building: 1,920 pixels" in done.stdout
    with rasterio.open(tmp_path / "m.tif") as mask:
        assert int(mask.read(1).astype(int).sum()) == 1920
    import pyogrio

    assert pyogrio.read_info(tmp_path / "m.gpkg")["features"] == 12


def test_trace_lists_shows_replays_compares_and_exports(village: Any, tmp_path: Path) -> None:
    for question in ("How many buildings are there?", "What percentage of the image is water?"):
        assert swath("ask", village.image, question, *labelled(village), cwd=tmp_path).returncode == 0
    listed = swath("trace", "list", cwd=tmp_path).stdout.splitlines()
    assert len(listed) == 2
    assert "water" in listed[0]  # newest first
    newest, oldest = (line.split()[0] for line in listed)
    shown = swath("trace", "show", oldest, cwd=tmp_path).stdout
    assert "components" in shown
    assert "How many buildings are there?" in shown
    assert swath("trace", "replay", oldest, cwd=tmp_path).stdout.startswith("same: 12")
    assert swath("trace", "replay", oldest, "--resegment", cwd=tmp_path).returncode == 0
    assert "question" in swath("trace", "diff", oldest, newest, cwd=tmp_path).stdout
    done = swath("trace", "export", oldest, "--geojson", "o.geojson", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(json.loads((tmp_path / "o.geojson").read_text(encoding="utf-8"))["features"]) == 12


def test_an_answer_s_objects_go_to_the_files_that_are_named(village: Any, tmp_path: Path) -> None:
    files = ("--geojson", "o.geojson", "--csv", "o.csv")
    done = swath("ask", village.image, "How many buildings are there?", *labelled(village), *files, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "  12 objects written to o.geojson in EPSG:4326.\n  12 objects written to o.csv, centroids in" in done.stdout
    assert len(json.loads((tmp_path / "o.geojson").read_text(encoding="utf-8"))["features"]) == 12
    assert len((tmp_path / "o.csv").read_text(encoding="utf-8").splitlines()) == 13
    (tmp_path / "one.py").write_text('reply(share_percent(segment("water")), kind="percent")')
    done = swath("run", "one.py", village.image, *labelled(village), "--csv", "n.csv", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["status"] == "answered"
    assert done.stderr == "note: No objects stand behind this answer, so n.csv was not written.\n"
    for wrong, said in (
        (village.image, "is one of the files that are read"),
        ("one.py", "is one of the files that are read"),
        ("no/o.csv", "there is no folder no"),
    ):
        done = swath("run", "one.py", village.image, *labelled(village), "--geojson", wrong, cwd=tmp_path)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    done = swath("trace", "export", "2026", cwd=tmp_path)
    assert (done.returncode, "Give a file to write: --geojson FILE or --csv FILE." in done.stderr) == (2, True)


def test_an_area_of_interest_bounds_what_is_measured(village: Any, tmp_path: Path) -> None:
    corner = [[500_000, 4_999_900], [500_050, 4_999_900], [500_050, 5_000_000], [500_000, 5_000_000]]
    area = {
        "type": "FeatureCollection",
        "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32631"}},
        "features": [
            {
                "type": "Feature",
                "properties": {},
                "geometry": {"type": "Polygon", "coordinates": [[*corner, corner[0]]]},
            }
        ],
    }
    (tmp_path / "aoi.geojson").write_text(json.dumps(area), encoding="utf-8")
    done = swath("ask", village.image, "How many buildings are there?", *labelled(village), "--aoi", "aoi.geojson",
                 "--json", cwd=tmp_path)  # fmt: skip
    assert json.loads(done.stdout)["answer"] == 3  # the first column of houses


def test_doctor_finds_a_healthy_installation(tmp_path: Path) -> None:
    done = swath("doctor", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "sandbox" in done.stdout
    assert "FAIL" not in done.stdout


def test_demo_answers_its_six_questions(tmp_path: Path) -> None:
    done = swath("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("picture: runs/") == 6


def test_a_demo_of_eyes_asks_pixels_alone_and_says_how_far(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).normal((70, 110, 60), 12, (96, 128, 3)).clip(0, 255).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "field.png")
    done = swath("demo", "--eyes", "field.png", "--gsd", "0.5", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("note: Classes come from pixels alone") == 4
    assert "field.png: pixels alone" in done.stdout


def test_a_ground_size_without_an_image_is_refused(tmp_path: Path) -> None:
    done = swath("demo", "--gsd", "0.5", cwd=tmp_path)
    assert done.returncode == 2
    assert "--gsd is about the image of --eyes, which is not given. Next: add --eyes IMAGE." in done.stderr


def test_every_command_has_help(tmp_path: Path) -> None:
    for words in (["-h"], ["ask", "--help"], ["trace", "replay", "--help"]):
        done = swath(*words, cwd=tmp_path)
        assert done.returncode == 0
        assert "Usage:" in done.stdout
