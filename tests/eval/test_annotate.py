"""Data sets made of boxes: patches, attributes, sentences, filters, checks, and files read by hand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from click.testing import CliRunner
from PIL import Image

from swath.agent.planner import Feedback, PlannerOptions, Program, Scene
from swath.cli import swath
from swath.errors import InputError, ModelError, Refused
from swath.eval.annotate.attributes import position
from swath.eval.annotate.checking import checked
from swath.eval.annotate.filters import dropped_by, unlike
from swath.eval.annotate.make import Wanted, annotate
from swath.eval.annotate.measuring import Measuring
from swath.eval.annotate.patches import Cut, windows
from swath.eval.annotate.sources import pairs, read_merging, read_source
from swath.eval.annotate.statements import Statement
from swath.testing.llm_server import FakeServer, Reply

# One harbor, three ships far apart, two of them red; pixels x0, y0, x1, y1.
OBJECTS = [
    ("harbor", 20, 20, 120, 60),
    ("ship", 200, 30, 260, 50),
    ("ship", 60, 300, 160, 340),
    ("ship", 400, 410, 430, 430),
]
COLOURS = {0: (128, 128, 128), 1: (200, 20, 20), 2: (250, 250, 250), 3: (200, 20, 20)}
WATER = (20, 60, 160)


def dota(objects: Sequence[tuple[str, float, float, float, float]]) -> str:
    return "\n".join(f"{a} {b} {c} {b} {c} {d} {a} {d} {name} 0" for name, a, b, c, d in objects) + "\n"


@pytest.fixture
def port(tmp_path: Path) -> Path:
    """A folder with an image of 480 x 500 pixels and its DOTA file."""
    pixels = np.full((500, 480, 3), WATER, np.uint8)
    for number, (_, x0, y0, x1, y1) in enumerate(OBJECTS):
        pixels[y0:y1, x0:x1] = COLOURS[number]
    for folder in ("images", "labels"):
        (tmp_path / folder).mkdir()
    Image.fromarray(pixels).save(tmp_path / "images" / "P1.png")
    (tmp_path / "labels" / "P1.txt").write_text(dota(OBJECTS))
    return tmp_path


def made(port: Path, **options: Any) -> Path:
    out = port / "out"
    annotate(Wanted(port / "labels", port / "images", test_share=1.0, **options), out)
    return out


def loaded(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def test_the_files_are_vrsbenchs(port: Path) -> None:
    out = made(port, gsd_m=0.5)
    whole = loaded(out / "Annotations_val" / "P1_0000.json")
    assert list(whole) == ["caption", "image", "objects", "qa_pairs"]
    assert list(whole["objects"][0]) == [
        "obj_id", "referring_sentence", "obj_cls", "obj_corner", "obj_coord", "is_unique", "obj_position",
        "obj_rel_position", "obj_size", "obj_rel_size", "flag",
    ]  # fmt: skip
    largest = next(own for own in whole["objects"] if own["obj_rel_size"] == "largeest")
    assert largest["obj_coord"] == pytest.approx([60 / 480, 300 / 500, 160 / 480, 340 / 500], abs=1e-6)
    assert all(list(pair) == ["ques_id", "question", "type", "answer"] for pair in whole["qa_pairs"])
    assert 3 <= len(whole["qa_pairs"]) <= 10
    assert all(len(pair["answer"].split()) <= 3 for pair in whole["qa_pairs"])
    assert 3 <= len(re.findall(r"[.!?](?:\s|$)", whole["caption"])) <= 7
    rows = loaded(out / "VRSBench_EVAL_referring.json")
    assert list(rows[0]) == ["image_id", "question", "ground_truth", "dataset", "unique", "obj_corner", "obj_cls",
                             "obj_ids", "size_group", "question_id", "type"]  # fmt: skip
    for row in rows:
        xs, ys = row["obj_corner"][::2], row["obj_corner"][1::2]
        cells = [int(100 * bound) for bound in (min(xs), min(ys), max(xs), max(ys))]  # cut off, never rounded
        assert row["ground_truth"] == "{" + "".join(f"<{cell}>" for cell in cells) + "}"
    captions, questions = (loaded(out / f"VRSBench_EVAL_{name}.json") for name in ("Cap", "vqa"))
    assert captions[0]["question"] == "Describe the image in detail"
    assert [row["ground_truth"] for row in captions] == [whole["caption"]]
    assert len(questions) == len(whole["qa_pairs"])


def truth_of(sentence: str) -> int | None:
    """What a referring sentence of the offline writer means, by hand."""
    ships = {number: own for number, own in enumerate(OBJECTS) if own[0] == "ship"}
    if "harbor" in re.sub(r"(closest|nearest) to the harbor", "", sentence):
        return 0
    places = {"top-most": 1, "uppermost": 1, "bottom-most": 3, "lowest": 3, "left-most": 2, "leftmost": 2,
              "right-most": 3, "rightmost": 3, "largest": 2, "biggest": 2, "smallest": 3, "white": 2,
              "top-centre": 1, "bottom-right": 3, "to the harbor": 1}  # fmt: skip
    found = next((number for word, number in places.items() if word in sentence), None)
    if "middle" in sentence or (found is None and "centre" in sentence):
        return min(ships, key=lambda n: (ships[n][1] + ships[n][3] - 480) ** 2 + (ships[n][2] + ships[n][4] - 500) ** 2)
    return found


def test_referring_sentences_mean_one_object(port: Path) -> None:
    seen: set[str] = set()
    for seed in range(8):
        found = annotate(Wanted(port / "labels", port / "images", seed=seed), port / f"out{seed}")
        for statement in found[0].of_kind("referring"):
            assert truth_of(statement.text) == statement.objects[0], statement.text
            seen.add(statement.type)
    assert len(seen) >= 5


def test_answers_are_what_the_picture_holds(port: Path) -> None:
    pairs_of = {"how many ships": "3", "how many harbors": "1", "color is the only harbor": "grey",
                "color does the only harbor": "grey", "color is the largest ship": "white",
                "color does the largest ship": "white", "more ships than harbors": "yes", "most frequent": "ship",
                "occurs most often": "ship", "more harbors than ships": "no", "ships outnumber": "yes",
                "harbors outnumber": "no"}  # fmt: skip
    checked_questions = 0
    for seed in range(4):
        found = annotate(Wanted(port / "labels", port / "images", seed=seed), port / f"out{seed}")
        for statement in found[0].of_kind("question"):
            wanted = next((answer for words, answer in pairs_of.items() if words in statement.text.lower()), None)
            if wanted is not None:
                assert statement.answer == wanted, statement.text
                checked_questions += 1
    assert checked_questions >= 10


def test_quantities_have_units_and_ranges(port: Path) -> None:
    out = made(port, gsd_m=0.5)
    rows = [json.loads(line) for line in (out / "quantities.jsonl").read_text().splitlines()]
    areas = {row["question"]: row for row in rows if row["type"] == "total_area"}
    assert areas
    for question, row in areas.items():
        truth = 40 * 100 * 0.25  # the harbor and the largest ship have 100 x 40 pixels of 0.25 m2
        assert float(row["answer"]) == pytest.approx(truth)
        assert row["acceptable_range_lower"] == pytest.approx(0.9 * truth)
        assert question.endswith("(GSD: 0.5m)")
    assert made_again(port) == [row["question"] for row in rows]


def made_again(port: Path) -> list[str]:
    annotate(Wanted(port / "labels", port / "images", gsd_m=0.5, test_share=1.0), port / "again")
    return [json.loads(line)["question"] for line in (port / "again" / "quantities.jsonl").read_text().splitlines()]


def test_patches_cover_the_image_and_keep_places() -> None:
    how = Cut(100, 20)
    found = windows(250, 180, how)
    covered = np.zeros((180, 250), int)
    for x, y, width, height in found:
        covered[y : y + height, x : x + width] += 1
    assert covered.min() == 1
    assert {window[2:] for window in found} == {(100, 100)}
    assert windows(60, 30, how) == [(0, 0, 60, 30)]


def test_objects_are_cut_by_the_stated_share(port: Path) -> None:
    shown = {}
    for visible in (0.3, 0.8):
        found = annotate(Wanted(port / "labels", port / "images", cut=Cut(100, 0, visible)), port / f"visible{visible}")
        shown[visible] = [
            (made.patch.offset, own.source_id, own.visible) for made in found for own in made.patch.objects
        ]
        for made in found:
            for own in made.patch.objects:
                assert made.patch.objects[own.id] is own
                assert shapely.box(0, 0, *made.patch.size).covers(own.outline)
    assert ((0, 0), "1", 0.8) in shown[0.8]  # the harbor: 80 of its 100 columns
    assert len(shown[0.3]) > len(shown[0.8])
    patch = port / "visible0.3" / "Images_train" / "P1_0000.png"
    patch = patch if patch.exists() else port / "visible0.3" / "Images_val" / "P1_0000.png"
    assert (np.asarray(Image.open(patch)) == np.asarray(Image.open(port / "images" / "P1.png"))[:100, :100]).all()


@pytest.mark.parametrize(
    ("box", "cell"),
    [((0, 0, 30, 30), "top-left"), ((40, 40, 60, 60), "center"), ((70, 5, 99, 20), "top-right"),
     ((20, 20, 60, 60), ""), ((75, 20, 99, 60), "right"), ((10, 80, 60, 99), "bottom")],
)  # fmt: skip
def test_positions_are_cells_else_edges(box: tuple[float, float, float, float], cell: str) -> None:
    assert position(box, (100, 100)) == cell


@pytest.mark.parametrize(
    ("text", "answer", "why"),
    [
        ("What colour is it?", "not specified", "excuse"),
        ("the second ship from the left", "", "ordinal"),
        ("Is the 3rd ship red?", "yes", "ordinal"),
        ("Is the object mentioned above red?", "no", "looks back"),
        ("What colour is the red ship?", "red", "answers itself"),
        ("Is the ship red or white?", "red", None),
        ("Where is it?", "in the upper left corner", "long answer"),
        ("Where is it?", "", "empty"),
        ("How many ships are there?", "3", None),
    ],
)
def test_filters(text: str, answer: str, why: str | None) -> None:
    kind = "question" if answer or why == "empty" else "referring"
    assert dropped_by(Statement(kind, text, "x", answer=answer)) == why  # type: ignore[arg-type]


def test_duplicates_are_dropped_once() -> None:
    kept, dropped = unlike([Statement("referring", text, "x") for text in ("the ship", "The ship.", "the boat")])
    assert [own.text for own in kept] == ["the ship", "the boat"]
    assert [own.text for own in dropped] == ["The ship."]


class Reader:
    """A planner that reads every sentence as one program."""

    name = "reader"

    def __init__(self, source: str | None) -> None:
        self.source = source

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        if self.source is None:
            raise Refused("Not understood.")
        return Program(self.source, question)


SECOND = 'it = largest(ground("ship"))\nreply(boxes_px(it), kind="boxes", objects=it)\n'


def test_what_is_measured_otherwise_is_flagged(port: Path) -> None:
    out = made(port)
    measuring = Measuring(out / "Images_val" / "P1_0000.png", out / "detections" / "P1_0000.geojson", None)
    own = next(i for i, found in enumerate(OBJECTS_BY_CLASS) if found == OBJECTS[2])
    right = Statement("referring", "the largest ship", "largest", SECOND, objects=(own,))
    assert checked(right, measuring, Reader(SECOND)).status == "confirmed"
    assert checked(right, measuring, Reader(None)).note == "read by no planner"
    other = checked(right, measuring, Reader(SECOND.replace("largest", "smallest")))
    assert (other.status, other.note) == ("differs", f"describes {own + 1}")
    wrong = Statement("question", "How many ships are there?", "object quantity", answer="4")
    counted = checked(wrong, measuring, Reader('reply(count(ground("ship")), kind="count")\n'))
    assert (counted.status, counted.note) == ("differs", "measured: 3")
    assert checked(wrong, measuring, Reader(None)).status == "unread"


OBJECTS_BY_CLASS = sorted(OBJECTS, key=lambda own: own[0])


def reply(sentence: str, answer: str = "3") -> Reply:
    found = {
        "referring": [{"obj_id": 2, "sentence": sentence}, {"obj_id": 99, "sentence": "the ghost"}],
        "caption": ["Three ships lie on blue water.", "A harbor is in the top left.", "The ships are far apart."],
        "qa": [{"question": "How many ships are there?", "type": "object quantity", "answer": answer},
               {"question": "Is the image colorful?", "type": "scene type", "answer": "yes"}],
    }  # fmt: skip
    return Reply(json.dumps(found))


def test_a_model_writes_and_the_tools_decide(port: Path) -> None:
    with FakeServer([reply("its colour is unknown"), Reply("no JSON"), reply("the largest ship", "4")]) as server:
        options = PlannerOptions("m", server.base_url)
        found = annotate(
            Wanted(port / "labels", port / "images", writer="model", planner_options=options), port / "out"
        )
        prompts = [call.body["messages"][0]["content"] for call in server.received]
    assert len(prompts) == 3
    assert '"rel_size": "largest"' in prompts[0]
    assert str(port) not in prompts[0]
    dropped = {why: statement.text for why, statement in found[0].dropped}
    assert dropped.get("measured otherwise") == "How many ships are there?"
    assert [own.status for own in found[0].of_kind("caption")] == ["unread"] * 3
    assert "the ghost" not in str(found[0].to_json())


def test_a_model_that_sends_nothing_usable_stops_the_work(port: Path) -> None:
    with FakeServer([Reply("no JSON")]) as server:
        wanted = Wanted(
            port / "labels", port / "images", writer="model", planner_options=PlannerOptions("m", server.base_url)
        )
        with pytest.raises(ModelError, match=r"sent no annotation of P1_0000 in 5 tries\. Next:"):
            annotate(wanted, port / "out")


def test_interrupted_work_goes_on(port: Path) -> None:
    def stop(done: int, of: int, name: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    wanted = Wanted(port / "labels", port / "images", cut=Cut(150))
    whole = annotate(wanted, port / "whole")
    with pytest.raises(KeyboardInterrupt):
        annotate(wanted, port / "out", listen=stop)
    first = {path: path.stat().st_mtime_ns for path in (port / "out" / "patches").iterdir()}
    assert len(first) == 2
    found = annotate(wanted, port / "out", resume=True)
    assert {path: path.stat().st_mtime_ns for path in first} == first
    assert [(own.patch.name, own.statements) for own in found] == [(own.patch.name, own.statements) for own in whole]
    with pytest.raises(InputError, match="was begun with other options"):
        annotate(Wanted(port / "labels", port / "images", cut=Cut(200)), port / "out", resume=True)
    with pytest.raises(InputError, match="holds a data set already"):
        annotate(wanted, port / "out")


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ("1 2 3 4 ship 0\n", "P1.txt, line 1: is no object of a DOTA file"),
        (dota([("ship", 900, 900, 950, 950)]), "All 1 objects of P1.txt lie outside P1.png"),
        (dota([("ship", 10, 10, 10, 30)]), "No patch of the images in .* holds an object"),
        ("gsd:0.5\n", "No patch of the images in .* holds an object"),
        ("", r"P1\.txt is empty \(0 bytes\)"),
    ],
)
def test_annotations_that_say_nothing_of_the_image(port: Path, labels: str, sentence: str) -> None:
    (port / "labels" / "P1.txt").write_text(labels)
    with pytest.raises(InputError, match=sentence):
        made(port)


def test_missing_images_and_unknown_classes_are_named(port: Path) -> None:
    (port / "labels" / "P2.txt").write_text(dota(OBJECTS))
    with pytest.raises(InputError, match=r"P2\.txt has no image P2\.\* in .*\. Next: add the images"):
        made(port)
    (port / "labels" / "P2.txt").unlink()
    classes = port / "classes.json"
    classes.write_text('{"ship": "vessel"}')
    with pytest.raises(InputError, match='has the class "harbor", which the file of classes does not name'):
        made(port, classes=classes)
    classes.write_text('{"ship": "vessel", "harbor": ""}')
    whole = loaded(made_with(port, classes) / "Annotations_val" / "P1_0000.json")
    assert {own["obj_cls"] for own in whole["objects"]} == {"vessel"}
    classes.write_text("[1]")
    with pytest.raises(InputError, match="is no JSON object of class name to class name"):
        read_merging(classes)


def made_with(port: Path, classes: Path) -> Path:
    out = port / "merged"
    annotate(Wanted(port / "labels", port / "images", classes=classes, test_share=1.0), out)
    return out


def test_the_shipped_classes_are_vrsbenchs_26() -> None:
    merging = read_merging(Path("vrsbench"))
    assert merging is not None
    assert len(set(merging.values())) == 26
    assert merging["small vehicle"] == merging["large vehicle"] == "vehicle"


@pytest.mark.parametrize(
    ("cut", "sentence"),
    [
        ((8, 0, 0.5), "is not from 16 to 4096 wide"),
        ((100, 100, 0.5), "cannot overlap by 100"),
        ((100, 0, 0), "no share"),
    ],
)
def test_cuts_that_cut_nothing(cut: tuple[int, int, float], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Cut(*cut)


def test_label_maps_and_geojson_are_sources_too(port: Path) -> None:
    codes = np.zeros((500, 480), np.uint8)
    for name, x0, y0, x1, y1 in OBJECTS:
        codes[y0:y1, x0:x1] = 1 if name == "ship" else 2
    (port / "maps").mkdir()
    Image.fromarray(codes).save(port / "maps" / "P1.png")
    (port / "legend.json").write_text('{"1": "ship", "2": "harbor"}')
    image, boxes = pairs(port / "images", port / "maps")[0]
    source = read_source(image, boxes, legend=port / "legend.json")
    assert sorted(own.outline.area for own in source.objects) == [30 * 20, 60 * 20, 100 * 40, 100 * 40]


def test_the_command_makes_what_the_benchmarks_read(port: Path) -> None:
    out = port / "out"
    command = ["bench", "annotate", "--boxes", str(port / "labels"), "--images", str(port / "images"), "--gsd", "0.5",
               "--test-share", "1", "--dataset", "port", "--licence", "CC0", "--out", str(out)]  # fmt: skip
    done = CliRunner().invoke(swath, command, catch_exceptions=False)
    assert done.exit_code == 0
    assert "1 patches (1 in val), 4 objects" in done.output
    card = (out / "README.md").read_text()
    assert "Licence: CC0" in card
    croissant = loaded(out / "croissant.json")
    assert croissant["@context"]["@language"] == "en"  # mlcroissant reads no file without it
    assert croissant["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert {entry["@id"] for entry in croissant["distribution"]} >= {"VRSBench_EVAL_Cap.json", "quantities.jsonl"}
    for name, rows in (("vrsbench-ref", "referring"), ("vrsbench-vqa", "vqa"), ("vrsbench-cap", "Cap")):
        lines = _run(name, out, port / name, "--segmenter", "labels")
        assert len(lines) == len(loaded(out / f"VRSBench_EVAL_{rows}.json")) > 0
    exact = ("--labels-dir", str(out / "detections"), "--segmenter", "labels")
    lines = _run("squid", out / "quantities.jsonl", port / "quantities", *exact)
    verdicts = [line["verdict"] for line in lines if line["type"] in ("count", "total_area")]
    assert verdicts.count("right") >= 2
    assert set(verdicts) <= {"right", "refused"}


def _run(name: str, data: Path, results: Path, *options: str) -> list[dict[str, Any]]:
    command = ["bench", "run", name, "--data", str(data), "--out", str(results), *options]
    done = CliRunner().invoke(swath, command, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in (results / "results.jsonl").read_text().splitlines()]


def test_ten_thousand_objects_in_one_file(port: Path) -> None:
    Image.fromarray(np.full((2048, 2048, 3), WATER, np.uint8)).save(port / "images" / "P1.png")
    places = [(20 * (number % 100), 20 * (number // 100)) for number in range(10_000)]
    (port / "labels" / "P1.txt").write_text(dota([("ship", x + 2, y + 2, x + 14, y + 11) for x, y in places]))
    found = annotate(Wanted(port / "labels", port / "images"), port / "out")
    assert len(found) == 16
    whole = [own.source_id for made in found for own in made.patch.objects]
    assert len(whole) == len(set(whole)) == 10_000
    assert all(about.excluded for made in found for about in made.about)


def test_the_offline_writer_needs_no_language_model_package(port: Path) -> None:
    script = (
        "import sys; sys.modules['openai'] = None\n"
        "from pathlib import Path\n"
        "from swath.eval.annotate.make import Wanted, annotate\n"
        "import swath.eval.annotate.verifying\n"
        "home = Path(sys.argv[1])\n"
        "print(len(annotate(Wanted(home / 'labels', home / 'images'), home / 'out')))\n"
        "annotate(Wanted(home / 'labels', home / 'images', writer='model'), home / 'other')\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(port)], capture_output=True, text=True, check=False)
    assert done.stdout == "1\n"
    assert "--writer model needs the package openai. Next: pip install 'swath[llm]'." in done.stderr
