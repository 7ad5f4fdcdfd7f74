"""`swath models pull`, against a server on a real socket that breaks off, forgets and lies."""

from __future__ import annotations

import hashlib
import socket
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from swath.cli import swath
from swath.errors import InputError, SwathError
from swath.segment import pulling
from swath.segment.pulling import KNOWN, Known, pull
from swath.testing.files_server import FileServer

CONTENT = np.random.default_rng(7).bytes(300_000)


def wanted(url: str, content: bytes = CONTENT) -> Known:
    return Known("weights.pth", url, hashlib.sha256(content).hexdigest(), len(content), "--segmenter sam")


def test_a_file_comes_whole_and_its_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    with FileServer(CONTENT) as server:
        path = pull(wanted(server.url), tmp_path / "models", lambda done, total: told.append((done, total)))
    assert path.read_bytes() == CONTENT
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert server.ranges == [None]
    assert [file.name for file in path.parent.iterdir()] == ["weights.pth"]


def test_a_broken_connection_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with FileServer(CONTENT, breaks_after=70_000) as server:
        path = pull(wanted(server.url), tmp_path)
    assert path.read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=70000-", "bytes=140000-", "bytes=210000-", "bytes=280000-"]


def test_a_pull_that_was_given_up_goes_on_next_time(tmp_path: Path) -> None:
    (tmp_path / "weights.pth.part").write_bytes(CONTENT[:123_456])
    with FileServer(CONTENT) as server:
        assert pull(wanted(server.url), tmp_path).read_bytes() == CONTENT
    assert server.ranges == ["bytes=123456-"]


def test_a_part_that_is_whole_is_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "weights.pth.part").write_bytes(CONTENT)
    with FileServer(CONTENT) as server:
        assert pull(wanted(server.url), tmp_path).read_bytes() == CONTENT


def test_a_server_without_ranges_starts_over(tmp_path: Path) -> None:
    (tmp_path / "weights.pth.part").write_bytes(b"x" * 1000)
    with FileServer(CONTENT, ranges=False) as server:
        assert pull(wanted(server.url), tmp_path).read_bytes() == CONTENT


def test_a_server_that_does_not_say_how_much_it_sends(tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    with FileServer(CONTENT, length=False) as server:
        pull(wanted(server.url), tmp_path, lambda done, total: told.append((done, total)))
    assert told[-1] == (len(CONTENT), None)


def test_a_server_that_sends_nothing_new_is_given_up_and_the_part_is_kept(tmp_path: Path) -> None:
    (tmp_path / "weights.pth.part").write_bytes(CONTENT[:1000])
    with (
        FileServer(CONTENT, breaks_after=0) as server,
        pytest.raises(
            SwathError, match=r"could not be fetched whole .*1,000 bytes are kept. Next: run the same command"
        ),
    ):
        pull(wanted(server.url), tmp_path)
    assert (tmp_path / "weights.pth.part").read_bytes() == CONTENT[:1000]
    assert not (tmp_path / "weights.pth").exists()


def test_another_file_is_refused_and_not_kept(tmp_path: Path) -> None:
    with (
        FileServer(b"something else") as server,
        pytest.raises(
            InputError, match=r"What came as .* is not weights.pth: its sha256 begins with f41f3fa625ff, not "
        ),
    ):
        pull(wanted(server.url), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_checked_and_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "weights.pth").write_bytes(CONTENT)
    with FileServer(CONTENT) as server:
        pull(wanted(server.url), tmp_path)
        (tmp_path / "weights.pth").write_bytes(b"mine")
        with pytest.raises(InputError, match=r"What lies there already as .*weights.pth is not weights.pth"):
            pull(wanted(server.url), tmp_path)
    assert server.ranges == []
    assert (tmp_path / "weights.pth").read_bytes() == b"mine"


def test_a_server_that_has_no_such_file_is_asked_once(tmp_path: Path) -> None:
    with FileServer(CONTENT, status=404) as server, pytest.raises(SwathError, match=r"could not be fetched whole"):
        pull(wanted(server.url), tmp_path)
    assert len(server.ranges) == 1


def test_what_is_endless_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulling, "LARGEST_BYTES", 1000)
    with FileServer(CONTENT) as server, pytest.raises(InputError, match="sends more than any model has"):
        pull(wanted(server.url), tmp_path)


def test_no_server_no_address_and_no_folder_are_sentences(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(SwathError, match=r"could not be fetched whole \(.*refused"):
        pull(wanted(f"http://127.0.0.1:{port}/x"), tmp_path)
    with pytest.raises(InputError, match=r"file:///etc/passwd is no http address"):
        pull(wanted("file:///etc/passwd"), tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot be written .*SWATH_MODELS"):
        pull(wanted("http://127.0.0.1:1/x"), tmp_path / "file")


def test_the_command_pulls_a_known_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWATH_MODELS", str(tmp_path))
    with FileServer(CONTENT) as server:
        monkeypatch.setitem(KNOWN, "mine", wanted("http://nowhere.invalid/weights.pth"))
        result = CliRunner().invoke(swath, ["models", "pull", "mine", "--from", server.url])
    assert result.exit_code == 0, result.output
    assert "300,000 bytes, sha256 " in result.output
    assert (tmp_path / "weights.pth").read_bytes() == CONTENT
    with pytest.raises(
        InputError, match=r'There is no model "gold" to pull. Next: use one of sam-vit-b, sam-vit-l, sam-v'
    ):
        pulling.known("gold")


def test_official_files_are_named_with_whole_hashes() -> None:
    for name, one in KNOWN.items():
        assert name.startswith("sam-vit-")
        assert one.url.startswith("https://dl.fbaipublicfiles.com/segment_anything/")
        assert one.url.endswith(one.file)
        assert len(bytes.fromhex(one.sha256)) == 32
