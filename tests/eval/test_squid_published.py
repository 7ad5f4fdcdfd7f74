"""Published rows stand beside ours only for the official questions."""

from __future__ import annotations

import pytest

from swath.eval.squid.published import PublishedRow, is_official, published
from swath.eval.squid.wording import TYPES


def official() -> list[tuple[str, str | None]]:
    tiers = ["1"] * 710 + ["2"] * 616 + ["3"] * 674
    return [(f"SQuID_{number:04d}", tier) for number, tier in enumerate(tiers)]


def test_the_official_questions_are_known_by_ids_and_tiers() -> None:
    asked = official()
    assert is_official(asked) and is_official(reversed(asked))
    assert not is_official(asked[:-1])
    assert not is_official([*asked[:-1], ("SQuID_2000", "3")])
    assert not is_official([("SQuID_0000", "2"), *asked[1:]])
    assert not is_official([])


@pytest.mark.parametrize("row", published().rows, ids=lambda row: row.system)
def test_published_totals_are_the_means_of_their_tiers_but_for_one(row: PublishedRow) -> None:
    mean = sum(row.by_tier[tier] * number for tier, number in published().questions.items()) / 2000
    off = 0.31 if row.system.startswith("Qwen") else 0
    assert mean == pytest.approx(row.all + off, abs=0.15)


def test_published_rows_have_a_source_and_a_date() -> None:
    assert published().date == "2026-01-19" and "2601.13401" in published().source
    assert published().rows[0].all == 42.0


def test_published_types_are_types_of_the_benchmark() -> None:
    found = published()
    assert found.by_type.keys() <= TYPES.keys() and found.by_type["fragmentation"]["QVLM, GPT-5 + ConvNeXt"] == 81.63
    systems = {row.system for row in found.rows}
    assert all(accuracies.keys() <= systems for accuracies in found.by_type.values())
