"""Legends as people write them, and as they must not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swath.errors import InputError
from swath.segment.legend import LARGEST_BYTES, colour_code, is_void, legend_of, read_legend


def test_values_to_names(write_legend: Callable[..., Path]) -> None:
    named = read_legend(write_legend({"1": " Building ", "-2": "Bare  Land", "0": "Unlabelled", "255": "no data"}))
    assert named.legend.names == {1: "building", -2: "bare land"}
    assert named.legend.void == {0, 255}
    assert not named.coloured


def test_classes_inside_a_larger_object(write_legend: Callable[..., Path]) -> None:
    named = read_legend(write_legend({"gsd_m": 0.1, "classes": {"0": "background", "1": "building"}, "note": "x"}))
    assert named.legend.names == {0: "background", 1: "building"}
    assert named.legend.void == frozenset()


def test_zero_is_void_where_nothing_names_it() -> None:
    assert legend_of({1: "a"}).void == {0}
    assert legend_of({0: "a"}).void == frozenset()
    assert legend_of({0: "void", 9: "a"}).void == {0}


@pytest.mark.parametrize("name", ["void", "Unlabelled", "unlabeled", "NoData", "no-data", "no_data", "void: ignore me"])
def test_names_that_mean_nothing_is_known(name: str) -> None:
    assert is_void(name)


@pytest.mark.parametrize("name", ["background", "avoided", "voids", "other", "unknown"])
def test_names_that_are_classes(name: str) -> None:
    assert not is_void(name)


def test_colours(write_legend: Callable[..., Path]) -> None:
    named = read_legend(write_legend({"#FF0000": "building", "0, 0,255": "water"}))
    assert named.coloured
    assert named.legend.names == {colour_code(255, 0, 0): "building", 255: "water"}
    assert named.legend.void == {0}


def test_a_byte_order_mark_is_no_fault(write_legend: Callable[..., Path]) -> None:
    assert read_legend(write_legend(b'\xef\xbb\xbf{"1": "water"}')).legend.names == {1: "water"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{'1': 'a'}", r"is not JSON \(line 1: .*\)\. Next: write one like"),
        (b'{"1": "for\xeat"}', r"is not UTF-8 text\. Next: save it as UTF-8\."),
        ("[1, 2]", r"is not a JSON object of value to name\. Next: write one like"),
        ("7", r"is not a JSON object of value to name"),
        ("{}", r"is not a JSON object of value to name"),
        ('{"classes": ["a", "b"]}', r"is not a JSON object of value to name"),
        ({"water": 1}, r'says "water": 1, name to value\. Next: turn it round: "1": "water"\.'),
        ({"1": 7}, r'gives "1" no name in text\. Next: write names in quotes'),
        ({"1": None}, r'gives "1" no name in text'),
        ('{"1": NaN}', r'gives "1" no name in text'),
        ({"1": "  "}, r'gives "1" an empty name\. Next: name it, or leave it out\.'),
        ({"1.5": "a"}, r'names "1\.5", which is neither a whole number nor a colour'),
        ({"NaN": "a"}, r'names "NaN", which is neither'),
        ({"300,0,0": "a"}, r'names "300,0,0", which is neither'),
        ({"9" * 400: "a"}, r"which is neither a whole number nor a colour"),
        ('{"1": "a", "01": "b"}', r'names 01 twice: "a" and "b"\. Next: keep one\.'),
        ('{"1": "a", "1": "b"}', r'names 1 twice: "a" and "b"'),
        ({"1": "a", "#ffffff": "b"}, r"mixes values and colours\. Next: name every class by one of the two\."),
        ({"0": "void", "1": "unlabelled"}, r"names no class\. Next: write one like"),
        ("[" * 100_000, r"is not JSON"),
    ],
)
def test_what_is_wrong_is_one_sentence(content: Any, sentence: str, write_legend: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match=sentence):
        read_legend(write_legend(content))


def test_a_legend_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json cannot be read\. Next: check the path and its permissions\."):
        read_legend(tmp_path / "none.json")


def test_the_same_name_said_twice_is_no_contradiction(write_legend: Callable[..., Path]) -> None:
    assert read_legend(write_legend('{"1": "Water", "01": "water"}')).legend.names == {1: "water"}


def test_a_legend_that_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", Path("/dev/zero"), tmp_path):
        with pytest.raises(InputError, match=rf"The legend {path} is no regular file\. Next: write one like"):
            read_legend(path)


def test_a_file_that_is_too_large_for_a_legend_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(LARGEST_BYTES + 1)  # sparse
    with pytest.raises(InputError, match=r"large\.json has 67,108,865 bytes\. Next: name fewer classes\."):
        read_legend(tmp_path / "large.json")


def test_half_a_character_in_a_name_becomes_visible(write_legend: Callable[..., Path]) -> None:
    names = read_legend(write_legend(r'{"1": "wa\ud800ter", "2": "road"}')).legend.names
    assert names == {1: "wa\ufffdter", 2: "road"}
