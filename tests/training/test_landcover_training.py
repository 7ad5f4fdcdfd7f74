"""The training code of the embedded network; runs where torch is installed (`pip install -e '.[train]'`)."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the training code needs torch: pip install -e '.[train]'")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from training.landcover.augment import crop, targets, warped  # noqa: E402
from training.landcover.choose import Seen, class_offsets  # noqa: E402
from training.landcover.draw import Deck, Place  # noqa: E402
from training.landcover.export import export  # noqa: E402
from training.landcover.losses import classes_loss, roofs_loss  # noqa: E402
from training.landcover.measure import class_ious, table  # noqa: E402
from training.landcover.network import LandCover  # noqa: E402
from training.landcover.recipes import RECIPES, Recipe  # noqa: E402
from training.landcover.sources import BIT, CLASSES, TEST, VALIDATION, Sample, load  # noqa: E402
from training.landcover.train import Half, Training, rate  # noqa: E402
from training.landcover.write import toml  # noqa: E402


def sample(side: int = 96) -> Sample:
    random = np.random.default_rng(0)
    image = random.integers(0, 256, (side, side, 3), dtype=np.uint8)
    allowed = np.full((side, side), BIT["land"], np.uint8)
    ids = np.zeros((side, side), np.int32)
    ids[10:40, 10:40], ids[10:40, 40:80] = 1, 2
    allowed[ids > 0] = BIT["building"]
    return Sample("hot", "chip", "1", image, allowed, ids, Path("chip.tif"), 2)


def test_a_likely_allowed_class_costs_little_and_a_forbidden_one_much() -> None:
    logits = torch.zeros(1, 5, 4, 4)
    logits[:, CLASSES.index("road")] = 8
    not_building = torch.full((1, 4, 4), BIT["road"] | BIT["land"], dtype=torch.uint8)
    building = torch.full((1, 4, 4), BIT["building"], dtype=torch.uint8)
    assert classes_loss(logits, not_building).item() < 0.05
    assert classes_loss(logits, building).item() > 3
    unknown = torch.zeros((1, 4, 4), dtype=torch.uint8)
    assert classes_loss(logits, unknown).item() == 0


def test_partial_labels_do_not_choose_between_the_allowed() -> None:
    logits = torch.zeros(1, 5, 2, 2, requires_grad=True)
    allowed = torch.full((1, 2, 2), BIT["road"] | BIT["land"], dtype=torch.uint8)
    (slope,) = torch.autograd.grad(classes_loss(logits, allowed), logits)
    assert torch.allclose(slope[:, CLASSES.index("road")], slope[:, CLASSES.index("land")])
    assert (slope[:, CLASSES.index("building")] > 0).all()


def test_unknown_roofs_cost_nothing() -> None:
    logits = torch.randn(1, 2, 4, 4)
    unknown = torch.full((1, 4, 4), float("nan"))
    assert roofs_loss(logits, unknown, unknown).item() == 0


def test_middles_and_borders_of_two_touching_roofs() -> None:
    centre, border = targets(sample().instances)
    assert centre[25, 25] > 0.9
    assert centre[25, 60] > 0.9
    assert centre[25, 39] == 0
    assert border[25, 39:41].all()
    assert not border[25, 25]
    assert not border[60].any()


def test_crops_carry_their_labels_along() -> None:
    random = np.random.default_rng(1)
    for _ in range(10):
        found = crop(Place(sample()), [sample()], 64, random)
        assert found.image.shape == (64, 64, 3)
        assert found.allowed.shape == found.centre.shape == (32, 32)
        assert set(np.unique(found.allowed)) <= {BIT["building"], BIT["land"]}
        assert not (found.centre[found.allowed == BIT["land"]] > 0).any()


def test_the_part_that_is_warped_gives_what_the_whole_gives() -> None:
    random = np.random.default_rng(2)
    image = random.integers(0, 256, (300, 260, 3), dtype=np.uint8)
    for angle, scale, x, y in ((0.3, 1.0, 100, 150), (2.0, 1.9, 60, 240), (4.0, 0.7, 10, 20), (1.0, 1.2, 255, 290)):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) * scale
        matrix = np.column_stack([turn, np.array([x, y]) - turn @ np.array([32, 32])])
        inside = cv2.warpAffine(np.ones((300, 260), np.uint8), matrix, (64, 64), flags=cv2.WARP_INVERSE_MAP) > 0
        for flags in (cv2.INTER_NEAREST, cv2.INTER_LINEAR):
            blurred = cv2.GaussianBlur(image, (0, 0), scale * 0.4) if scale > 1.3 and flags else image
            whole = cv2.warpAffine(blurred, matrix, (64, 64), flags=flags | cv2.WARP_INVERSE_MAP)
            same = (warped(image, matrix, 64, flags) == whole)[cv2.erode(inside.astype(np.uint8), np.ones((5, 5))) > 0]
            assert same.mean() > 0.99  # places are rounded to 1/32 of a pixel


def test_half_of_the_places_are_put_on_a_class_drawn_first() -> None:
    chip = sample()
    allowed = chip.allowed.copy()
    allowed[90:92, 90:92] = BIT["water"]
    images = [replace(chip, source="dubai", allowed=allowed), replace(chip, source="dubai", group="2")]
    random = np.random.default_rng(3)
    drawn = [Deck(images, 0.5).draw("dubai", random) for _ in range(300)]
    assert 0.4 < np.mean([place.at_xy is None for place in drawn]) < 0.6
    assert 0.4 < np.mean([place.sample.group == "1" for place in drawn]) < 0.6
    bits = [place.sample.allowed[place.at_xy[::-1]] for place in drawn if place.at_xy and place.sample.group == "1"]
    assert 0.2 < np.mean(np.array(bits) == BIT["water"]) < 0.5


def test_the_rate_rises_then_falls() -> None:
    rates = [rate(step, 400) for step in range(401)]
    assert rates[0] < 0.05
    assert max(rates) == pytest.approx(1, abs=0.05)
    assert rates[399] < 0.02
    assert rates[40:] == sorted(rates[40:], reverse=True)


def test_the_same_seed_gives_the_same_gradients_and_the_first_layers_stay() -> None:
    torch.manual_seed(0)
    network = LandCover()
    recipe = RECIPES["first"]
    first, second = (Half(network, [sample()], [["hot"]] * 2, [6, 0], recipe).work() for _ in range(2))
    assert first[0] == second[0]
    assert all(torch.equal(a, b) for a, b in zip(first[1], second[1], strict=True))
    trained = {id(parameter) for parameter in network.encoder.trained()}
    assert id(network.encoder._conv_stem.weight) not in trained


def training(steps: int = 6) -> Training:
    torch.manual_seed(0)
    tiny = Recipe(steps, 64, (("hot",),) * 4, by_class=0.5, doubt=0.3, border=1.0, every=100)
    return Training(LandCover(), [sample()], ("hot",), tiny, seed=6)


def test_a_training_that_was_ended_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    whole, first, second = training(), training(), training()
    for _ in range(4):
        whole.step()
    for _ in range(2):
        first.step()
    torch.save(first.state(), tmp_path / "state")
    second.restore(torch.load(tmp_path / "state", weights_only=True))
    for _ in range(2):
        second.step()
    assert second.steps == 4
    one, other = whole.average.state_dict(), second.average.state_dict()
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not torch.equal(one["heads.bias"], training().average.state_dict()["heads.bias"])
    with pytest.raises(ValueError, match="another recipe or number of steps"):
        training(steps=7).restore(first.state())


def test_a_doubting_loss_minds_wrong_labels_less() -> None:
    logits = torch.zeros(1, 5, 4, 4)
    logits[:, CLASSES.index("road")] = 8
    right = torch.full((1, 4, 4), BIT["road"], dtype=torch.uint8)
    wrong = torch.full((1, 4, 4), BIT["building"], dtype=torch.uint8)
    assert classes_loss(logits, wrong, 0.3).item() < classes_loss(logits, wrong).item() - 1
    assert classes_loss(logits, right, 0.3).item() == pytest.approx(classes_loss(logits, right).item(), abs=0.02)
    assert classes_loss(logits, wrong, 1e-4).item() == pytest.approx(classes_loss(logits, wrong).item(), rel=0.01)


def seen_by_chance(offsets: np.ndarray) -> Seen:
    """A labelled image whose scores are the labels' blurred by noise, with `offsets` added to their logarithms."""
    random = np.random.default_rng(4)
    labels = random.choice(len(CLASSES), (120, 120), p=[0.1, 0.6, 0.1, 0.1, 0.1])
    logits = 1.5 * (np.arange(len(CLASSES))[:, None, None] == labels) + random.normal(0, 1, (len(CLASSES), 120, 120))
    shares = np.exp(logits + np.log([0.1, 0.6, 0.1, 0.1, 0.1])[:, None, None] + offsets[:, None, None])
    channels = np.rint(255 * shares / shares.sum(0)).astype(np.uint8)
    allowed = np.array([BIT[name] for name in CLASSES], np.uint8)[labels]
    chip = replace(sample(), source="dubai", allowed=allowed)
    return Seen(chip, np.zeros((5, 120, 120), np.float16), channels, None)


def test_offsets_undo_a_class_that_is_found_too_often() -> None:
    tilted = class_offsets([seen_by_chance(np.array([0, 0, 0, 0, 1.5]))])
    level = class_offsets([seen_by_chance(np.zeros(5))])
    moved = tilted - level
    assert moved[CLASSES.index("water")] == pytest.approx(-1.5, abs=0.4)
    assert abs(moved[:4]).max() < 0.4
    assert tilted[CLASSES.index("land")] == 0


@pytest.mark.filterwarnings("ignore")  # of the exporter, about itself
def test_offsets_are_added_by_the_exported_network(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    network, image = LandCover().eval(), np.full((1, 3, 64, 64), 90, np.float32)
    found = []
    for offsets in (None, np.array([-0.5, 0, 0.25, 0, 2.0])):
        export(network, tmp_path / "network.onnx", offsets)
        session = onnxruntime.InferenceSession(tmp_path / "network.onnx", providers=["CPUExecutionProvider"])
        found.append(session.run(None, {"image": image})[0][0])
    added = (found[1] - found[0]).reshape(7, -1)
    assert added == pytest.approx(np.array([-0.5, 0, 0.25, 0, 2.0, 0, 0])[:, None] + np.zeros_like(added), abs=0.02)


def test_the_network_gives_logits_at_full_size() -> None:
    with torch.no_grad():
        assert LandCover().eval()(torch.zeros(1, 3, 64, 96)).shape == (1, 7, 64, 96)


def test_no_group_is_in_two_splits(shared_data: Path) -> None:
    names: dict[str, set[tuple[str, str]]] = {}
    for split in ("train", "validation", "test"):
        names[split] = {(found.source, found.group) for found in load(shared_data, split, ("hot", "neon"))}
    assert not names["train"] & names["test"]
    assert not names["train"] & names["validation"]
    assert ("hot", TEST["hot"][0]) in names["test"]
    assert ("hot", VALIDATION["hot"][0]) in names["validation"]
    assert sum(found.footprints or 0 for found in load(shared_data, "test", ("hot",))) > 100


def test_ious_of_a_known_table() -> None:
    found = np.where(sample().allowed == BIT["building"], 0, 1)
    found[10:40, 10:25] = 1  # a fifth and a bit of the buildings missed
    ious = class_ious(table([(sample(), found)]))
    assert ious["building"] == pytest.approx(1650 / 2100)
    assert ious["land"] == pytest.approx((96 * 96 - 2100) / (96 * 96 - 2100 + 450))


def test_tables_are_written_as_toml_reads_them() -> None:
    table = {"a": 'x "y"', "b": [1, 2.5], "c": {"d": True, "e f": {"g": [[1, 2], [3, 4]]}}, "h": [{"i": 1}], "j": "é"}
    assert tomllib.loads(toml(table)) == table
