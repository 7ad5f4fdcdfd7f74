"""Every figure of a report against small sets of results worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from affine import Affine
from bench_folder import bench, line, results

from swath.errors import InputError
from swath.eval.report.accuracy import GROUPINGS, Accuracy, Share, by_image, grouped
from swath.eval.report.beside import beside
from swath.eval.report.comparison import compare
from swath.eval.report.measures import measures, origin_of
from swath.eval.report.reliability import reliability
from swath.eval.report.spending import spending, warned
from swath.raster.grid import Grid
from swath.raster.write import write_mask

TEN = ["right"] * 6 + ["wrong", "refused", "failed", "unparsable"]


def test_accuracy_counts_all_cases() -> None:
    found = Accuracy.of(results(*(line(f"c{i}", verdict) for i, verdict in enumerate(TEN))))
    assert found.n == 10 and found.headline.value == 0.6
    # Wilson by hand: z = 1.959964, centre (6 + z2 / 2) / (10 + z2) = 0.572247, half width 0.259556
    assert found.headline.interval == pytest.approx((0.312674, 0.831800), abs=2e-4)
    assert (found.when_answered.right, found.when_answered.n) == (6, 8)
    assert found.coverage.value == 0.8
    assert found.verdicts == {"right": 6, "wrong": 1, "refused": 1, "failed": 1, "unparsable": 1}


def test_share_of_nothing_has_no_value() -> None:
    assert Share(0, 0).value is None and Share(0, 0).interval == (0.0, 1.0)
    assert by_image(()) is None


def test_whole_images_are_drawn() -> None:
    lines = [line(f"{image}{part}", image=f"{image}.tif") for image in range(10) for part in "ab"]
    assert by_image(results(*lines)) == (1.0, 1.0)
    half = [line(str(image), "right" if image < 5 else "wrong", image=f"{image}.tif") for image in range(10)]
    low, high = by_image(results(*half)) or (1.0, 0.0)
    assert (low, high) == (0.2, 0.8)  # of Binomial(10, 1/2) at most 2 come in 5.5 %, at most 1 in 1.1 % of all draws
    assert by_image(results(*half[:9])) is None


def accuracies(by: str, *lines: dict[str, object]) -> dict[str, tuple[int, int]]:
    return {
        name: (found.headline.right, found.headline.n)
        for name, found in grouped(results(*lines), GROUPINGS[by]).items()
    }


def test_groups_by_tier_type_and_source() -> None:
    lines = [
        line("a", tier="1", extras={"source": "DOTA"}),
        line("b", "wrong", tier="2", type="area", extras={"source": "DIOR"}),
        line("c", tier="2", type="area"),
    ]
    assert accuracies("tier", *lines) == {"1": (1, 1), "2": (1, 2)}
    assert accuracies("type", *lines) == {"area": (1, 2), "count": (1, 1)}
    assert accuracies("source", *lines) == {"DIOR": (0, 1), "DOTA": (1, 1), "not stated": (1, 1)}


def test_what_no_case_states_is_no_grouping() -> None:
    assert accuracies("tier", line("a"), line("b")) == {}
    assert accuracies("borderline truth", line("a")) == {}


def test_ground_sizes_lie_in_classes_from_small_to_large() -> None:
    sizes = [20, 1.0, 0.5, 0.3, 0.2, 0.05, 15, 1.6]
    lines = [line(f"c{i}", extras={"gsd_m": size}) for i, size in enumerate(sizes)] + [line("x", extras={"gsd": 0.1})]
    assert list(accuracies("ground pixel size", *lines).items()) == [
        ("under 0.2 m", (2, 2)), ("0.2 m to under 0.4 m", (2, 2)), ("0.4 m to under 0.8 m", (1, 1)),
        ("0.8 m to under 1.6 m", (1, 1)), ("1.6 m to under 5 m", (1, 1)), ("15 m and more", (2, 2)),
    ]  # fmt: skip


def test_rules_are_the_ones_that_decided() -> None:
    lines = [
        line("a", extras={"rule": "shipped"}, metric="range:card"),
        line("b", metric="range:card"),
        line("c", metric="exact"),
    ]
    assert accuracies("rule", *lines) == {"card": (1, 1), "exact": (1, 1), "shipped": (1, 1)}


def test_yes_or_no_and_borderline_stand_apart() -> None:
    lines = [
        line("a", truth="yes", extras={"borderline": True}),
        line("b", "wrong", extras={"binary": True, "borderline": False}),
        line("c", truth="yes", extras={"binary": False, "borderline": False}),
    ]
    assert accuracies("kind of answer", *lines) == {"not yes or no": (1, 1), "yes or no": (1, 2)}
    assert accuracies("borderline truth", *lines) == {"borderline": (1, 1), "not borderline": (1, 2)}


def scored(case: str, *scores: tuple[str, float | None, str], **values: object) -> dict[str, object]:
    judged = [{"metric": name, "value": value, "verdict": verdict, "why": ""} for name, value, verdict in scores]
    return line(case, scores[0][2], **values) | {"scores": judged}


def test_every_metric_has_its_accuracy_and_mean() -> None:
    run = bench(
        scored("a", ("range:shipped", 1.0, "right"), ("exact:official", 0.0, "wrong")),
        scored("b", ("range:shipped", None, "unparsable"), ("exact:official", 1.0, "right")),
        scored("c", ("exact", 1.0, "right"), ("exact:official", 1.0, "right")),
    )
    found = {measure.metric: measure for measure in measures(run, results(*run.rows))}
    assert list(found) == ["range:shipped", "exact", "exact:official"]  # headline metrics first
    shipped, official = found["range:shipped"], found["exact:official"]
    assert (shipped.headline, shipped.accuracy.n, shipped.mean, shipped.with_value) == (2, 2, 0.5, 1)
    assert (official.headline, official.accuracy.n, official.mean) == (0, 3, pytest.approx(2 / 3))
    assert official.accuracy.headline.value == pytest.approx(2 / 3) and official.total == {}


@pytest.mark.parametrize(
    "metric, words",
    [
        ("exact:official", "the benchmark's own rule, as it stands"),
        ("box:official-0.5", "the benchmark's own rule, as it stands"),
        ("vqa:strict", "strict: our rule where the official one flatters"),
        ("range:card", "the rule of the benchmark's card, as it stands"),
        ("tolerance", "our rule"),
        ("box:0.5", "our rule"),
    ],
)
def test_names_say_whose_rule_it_is(metric: str, words: str) -> None:
    assert origin_of(metric) == words


def test_measures_of_the_whole_set_count_refusals() -> None:
    truth = [0, 0, 10, 10]
    run = bench(
        line("a", truth=truth, answer=[0, 0, 10, 5], metric="box:0.5", value=0.5),
        line("b", "refused", truth=truth, metric="box:0.5"),
    )
    (found,) = measures(run, results(*run.rows))
    assert found.total == {"mean IoU": 0.25, "Acc@0.5": 0.5, "Acc@0.7": 0.0}


def test_masks_are_read_from_the_folder_of_the_run(tmp_path: Path) -> None:
    grid = Grid(Affine.identity(), (4, 4))
    truth, said = np.zeros((4, 4), dtype=bool), np.zeros((4, 4), dtype=bool)
    truth[:2], said[:1] = True, True
    (tmp_path / "masks").mkdir()
    write_mask(tmp_path / "truth.tif", truth, grid)
    write_mask(tmp_path / "masks" / "a-plain.tif", said, grid)
    run = bench(
        line("a", truth=str(tmp_path / "truth.tif"), answer="masks/a-plain.tif", metric="mask"), folder=tmp_path
    )
    (found,) = measures(run, results(*run.rows))
    assert found.total["mIoU"] == found.total["cIoU"] == 0.5


def test_a_measure_that_cannot_be_taken_says_why() -> None:
    run = bench(line("a", truth="nowhere/truth.tif", answer="x.tif", metric="mask"))
    (found,) = measures(run, results(*run.rows))
    assert found.total == {} and found.no_total is not None
    assert found.no_total.startswith("Case a: its mask cannot be used")


def test_intervals_are_held_against_truths_by_width() -> None:
    lines = [
        line("exact", truth=4, answer=4, interval=[4, 4]),
        line("narrow", truth=100, answer=100, interval=[99.5, 100.5]),
        line("misses", "wrong", truth=130, answer=100, interval=[96, 104]),
        line("also", truth=101, answer=100, interval=[95, 105]),
        line("wide", "wrong", truth=3, answer=2, interval=[1, 3]),
        line("zero", truth=0, answer=0, interval=[0, 1]),
        line("none", truth=5, answer=5),
        line("yes", truth="yes", answer="yes"),
        line("refused", "refused", truth=5),
    ]
    found = reliability(results(*lines))
    assert [(one.words, one.holds.right, one.holds.n, one.right.right) for one in found.classes] == [
        ("no width", 1, 1, 1), ("up to 1 %", 1, 1, 1), ("up to 10 %", 1, 2, 1), ("over 50 %", 2, 2, 1),
    ]  # fmt: skip
    assert (found.all.holds.right, found.all.holds.n, found.all.right.right) == (5, 6, 4)
    assert found.without == 1


def test_intervals_are_converted_to_the_unit_of_the_truth() -> None:
    lines = [
        line("a", truth=1.0, unit="ha", answer=10_000, said_unit="m2", interval=[9_000, 11_000]),
        line("b", truth=1.0, unit="ha", answer=1.0, said_unit="m", interval=[0, 2]),
    ]
    found = reliability(results(*lines))
    assert (found.all.holds.right, found.all.holds.n, found.without) == (1, 1, 1)


def test_time_tokens_and_cost() -> None:
    lines = [line(f"c{i}", seconds=float(i)) for i in range(11)]
    lines[0] |= {"tokens": {"in": 100, "out": 10}, "cost": {"dollars": 0.5}}
    lines[1] |= {"tokens": {"in": 300, "out": 20}, "cost": 0.25}
    lines[2] |= {"tokens": {"in": 50, "out": 5}}
    found = spending("plain", results(*lines))
    assert (found.seconds, found.median_s, found.p90_s, found.longest_s) == (55.0, 5.0, 9.0, 10.0)
    assert (found.asked_model, found.tokens_in, found.tokens_out) == (3, 450, 35)
    assert (found.dollars, found.unpriced, found.untimed) == (0.75, 1, 0)


def test_lines_without_timings_are_told_apart() -> None:
    untimed = {key: value for key, value in line("b").items() if key not in ("seconds", "tokens", "cost")}
    found = spending("plain", results(line("a", seconds=2.0), untimed))
    assert (found.questions, found.untimed, found.median_s, found.tokens_in) == (1, 1, 2.0, None)
    assert spending("plain", ()).median_s is None


def test_warnings_that_differ_by_numbers_are_one() -> None:
    lines = [
        line("a", warnings=["1 of 16 ponds is cut.", "North is left."]),
        line("b", "wrong", warnings=["2 of 3 ponds is cut.", "4 of 5 ponds is cut."]),
    ]
    found = [(one.example, one.accuracy.headline.right, one.accuracy.n) for one in warned(results(*lines))]
    assert found == [("1 of 16 ponds is cut.", 1, 2), ("North is left.", 1, 1)]


def test_two_runs_are_compared_question_by_question() -> None:
    first = [line(f"c{i}", "right" if i < 4 else "wrong", type="area" if i % 2 else "count") for i in range(10)]
    second = [line(f"c{i}", "wrong" if i == 0 else "right", type="area" if i % 2 else "count") for i in range(9)]
    second[8]["truth"] = 4
    second.append(line("new"))
    found = compare("a", results(*first), "b", results(*second))
    # Of c0 to c7: c1 to c3 both right, c0 broken, c4 to c7 repaired; c8 changed, c9 and "new" alone.
    test = found.test
    assert (test.both, test.only_a, test.only_b, test.neither) == (3, 1, 4, 0)
    assert test.difference == 3 / 8
    assert test.p_value == pytest.approx(2 * (1 + 5) / 32)  # two tails of Binomial(5, 1/2) up to 1
    assert [before.case for before, _ in found.fixed] == ["c4", "c5", "c6", "c7"]
    assert [before.case for before, _ in found.broken] == ["c0"]
    assert (found.only_first, found.only_second, found.changed) == (1, 1, ("c8",))
    assert {name: (one.only_a, one.only_b) for name, one in found.by_type.items()} == {"area": (0, 2), "count": (1, 2)}


def official_squid() -> list[dict[str, object]]:
    tiers = ["1"] * 710 + ["2"] * 616 + ["3"] * 674
    return [line(f"SQuID_{i:04d}", "right" if tier == "1" else "wrong", tier=tier) for i, tier in enumerate(tiers)]


def test_published_rows_stand_beside_the_official_questions_alone() -> None:
    lines = official_squid()
    found = beside("squid", results(*lines), ())
    assert found is not None
    system, ours, source = found.rows[0]
    assert (system, source) == ("this run", "")
    assert ours["all"] == pytest.approx(35.5) and ours["tier 1"] == 100 and ours["tier 2"] == 0
    assert found.rows[1][0] == "QVLM, GPT-5 + ConvNeXt" and found.rows[1][1]["all"] == 42.0
    assert "arXiv:2601.13401" in found.rows[1][2]
    assert beside("squid", results(*lines[:-1]), ()) is None
    assert beside("labels", results(*lines), ()) is None


def test_published_boxes_stand_beside_ours_by_the_official_rule() -> None:
    scores = (("box:official-0.5", 1.0, "right"), ("box:official-0.7", 0.6, "wrong"), ("box:0.5", 0.4, "wrong"))
    groups = ["unique"] * 4 + ["non-unique"] * 16155
    lines = [scored(f"c{i}", *scores, type="ref", extras={"group": group}) for i, group in enumerate(groups)]
    lines[0]["scores"][0]["verdict"] = "wrong"  # type: ignore[index]
    found = beside("vrsbench-ref", results(*lines), ())
    assert found is not None
    assert found.rows[0][1]["unique Acc@0.5"] == 75 and found.rows[0][1]["non-unique Acc@0.5"] == 100
    assert found.rows[0][1]["all Acc@0.5"] == pytest.approx(100 * 16158 / 16159)
    assert found.rows[0][1]["all Acc@0.7"] == 0
    assert any(system == "GeoChat" and values["all Acc@0.5"] == 49.8 for system, values, _ in found.rows)


def test_a_line_that_nobody_wrote_is_named() -> None:
    broken = line("a") | {"scores": []}
    with pytest.raises(InputError) as error:
        results(broken)
    assert str(error.value) == (
        "nowhere: the line of case a is not as swath writes it (ValueError: no scores). "
        "Next: run the benchmark anew in another folder."
    )
    with pytest.raises(InputError, match="KeyError"):
        results({"case": "a", "cell": "plain"})
