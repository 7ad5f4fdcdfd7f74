"""Rasters on a server of this machine: what is fetched of them, what happens when it fails, what is never recorded."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from affine import Affine
from counting_server import CountingServer, counting_server

import swath
from swath.errors import InputError
from swath.raster import remote
from swath.raster.grid import Grid
from swath.raster.local_files import stamp
from swath.raster.reader import open_raster
from swath.raster.source import WindowReader
from swath.raster.write import write_array

SHAPE = (2048, 2048)
SECRET = "s3cr3t"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image of noise, 4 MB that do not compress, and labels of it: buildings of 10 x 10 pixels."""
    import pyproj

    folder = tmp_path_factory.mktemp("served")
    grid = Grid(Affine(1, 0, 500_000, 0, -1, 5_000_000), SHAPE, pyproj.CRS(32633))
    noise = np.random.default_rng(0).integers(1, 255, SHAPE, dtype=np.uint8)
    write_array(folder / "image.tif", noise, grid)
    labels = np.where(noise > 250, 3, 2).astype(np.uint8)
    for row in range(100, 2000, 400):
        labels[row : row + 10, 300:310] = 1
    write_array(folder / "labels.tif", labels, grid)
    (folder / "legend.json").write_text('{"1": "building", "2": "grass", "3": "water"}', encoding="utf-8")
    return folder


@pytest.fixture
def server(folder: Path) -> Iterator[CountingServer]:
    with counting_server(folder) as started:
        yield started


def with_secrets(url: str) -> str:
    return url.replace("http://", f"http://me:{SECRET}@") + f"?X-Amz-Signature={SECRET}"


def test_only_the_windows_that_are_needed_are_fetched(server: CountingServer, folder: Path) -> None:
    size = (folder / "image.tif").stat().st_size
    raster = open_raster(f"{server.url}/image.tif")
    assert raster.shape == SHAPE
    assert server.total < size / 20
    before = server.total
    found = raster.read(1, rows=slice(700, 900), cols=slice(300, 500)).data
    assert np.array_equal(found, open_raster(folder / "image.tif").read(1).data[:, 700:900, 300:500])
    assert server.total - before < size / 10
    assert set(server.asked) == {"/image.tif"}


def test_a_question_answers_as_of_files_here_and_fetches_little_of_the_image(
    server: CountingServer, folder: Path, tmp_path: Path
) -> None:
    question, legend = "How many buildings are there?", folder / "legend.json"
    here = swath.ask(folder / "image.tif", question, labels=folder / "labels.tif", legend=legend, out=tmp_path)
    there = swath.ask(
        f"{server.url}/image.tif",
        question,
        labels=f"{server.url}/labels.tif",
        legend=legend,
        out=tmp_path,
        keep="light",
    )
    assert (here.answer, here.interval) == (there.answer, there.interval)
    assert here.answer == 5
    assert server.served["image.tif"] < (folder / "image.tif").stat().st_size / 5
    assert server.served["labels.tif"] < 2 * (folder / "labels.tif").stat().st_size


def test_credentials_are_used_and_found_nowhere(server: CountingServer, folder: Path, tmp_path: Path) -> None:
    server.user = f"me:{SECRET}"
    words = ["ask", with_secrets(f"{server.url}/image.tif"), "How many buildings are there?", "--keep", "full"]
    words += ["--labels", with_secrets(f"{server.url}/labels.tif"), "--legend", str(folder / "legend.json")]
    done = subprocess.run(
        [sys.executable, "-m", "swath", *words, "--out", str(tmp_path / "runs"), "--json"],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["answer"] == 5
    assert any(SECRET in asked for asked in server.asked)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "run.json" for path in written)
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []
    assert SECRET not in done.stdout + done.stderr
    record = json.loads(next(path for path in written if path.name == "run.json").read_text())
    assert record["image"]["path"] == f"{server.url}/image.tif"
    assert record["image"]["sha256"] is None


def test_errors_say_no_secret(server: CountingServer) -> None:
    with pytest.raises(InputError) as caught:
        open_raster(with_secrets(f"{server.url}/nothing.tif"))
    assert str(caught.value).startswith(f"{server.url}/nothing.tif cannot be read over the network: it is not there, ")
    seen: BaseException | None = caught.value
    while seen is not None:
        assert SECRET not in str(seen)
        seen = seen.__cause__


def test_a_reader_takes_what_it_needs_to_another_process(server: CountingServer) -> None:
    name = str(remote.known_as(with_secrets(f"{server.url}/image.tif")))
    packed = pickle.dumps(WindowReader(name))
    remote._typed.clear()
    server.user = f"me:{SECRET}"
    read = pickle.loads(packed).at(slice(0, 5), slice(0, 7), lambda data, window: data.read(1, window=window))
    assert read.shape == (5, 7)


def test_a_busy_server_is_asked_again(server: CountingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "SECONDS_BETWEEN", 0.01)
    server.busy = 2
    assert open_raster(f"{server.url}/image.tif").shape == SHAPE
    assert len(server.asked) > 2


def test_a_silent_server_is_given_up(server: CountingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "SECONDS", 1)
    monkeypatch.setattr(remote, "TRIES", 1)
    server.silent = True
    with pytest.raises(InputError, match=r"its server was silent for 1 s, 1 times\. Next: check the address"):
        open_raster(f"{server.url}/image.tif")


def test_a_stamp_is_what_the_server_says(server: CountingServer, folder: Path) -> None:
    here, there = remote.known_as(f"{server.url}/image.tif"), remote.known_as(f"{server.url}/nothing.tif")
    found = stamp([here, there])
    assert found[0][0] == (folder / "image.tif").stat().st_size
    assert found[0][1] > 0
    assert found[1] == [0, 0]


@pytest.mark.parametrize(
    ("typed", "known", "gdal"),
    [
        ("https://a.org/b/c.tif", "https:/a.org/b/c.tif", "/vsicurl/https://a.org/b/c.tif"),
        ("https:/a.org/c.tif", "https:/a.org/c.tif", "/vsicurl/https://a.org/c.tif"),
        ("/vsicurl/https:/a.org/c.tif", "https:/a.org/c.tif", "/vsicurl/https://a.org/c.tif"),
        ("s3://bucket/c.tif", "s3:/bucket/c.tif", "/vsis3/bucket/c.tif"),
        ("/vsis3/bucket/c.tif", "s3:/bucket/c.tif", "/vsis3/bucket/c.tif"),
        (
            "https://u:p@a.org/c.tif?sig=1&id=5",
            "https:/a.org/c.tif?id=5",
            "/vsicurl/https://u:p@a.org/c.tif?sig=1&id=5",
        ),
        ("c.tif", "c.tif", None),
    ],
)
def test_names(typed: str, known: str, gdal: str | None) -> None:
    assert str(remote.known_as(typed)) == known
    assert remote.is_remote(known) == (gdal is not None)
    if gdal is not None:
        assert remote.gdal_name(known) == gdal


def test_a_file_of_this_machine_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("https:/a.org").mkdir(parents=True)
    Path("https:/a.org/c.tif").touch()
    assert not remote.is_remote(Path("https://a.org/c.tif"))


def test_keys_of_a_cloud_come_from_the_environment(server: CountingServer, folder: Path, tmp_path: Path) -> None:
    """An S3 bucket is a folder of a server to GDAL; the secret key signs requests, and is in none of them."""
    bucket = folder / "bucket"
    bucket.mkdir(exist_ok=True)
    (bucket / "image.tif").write_bytes((folder / "image.tif").read_bytes())
    keys = {"AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "eu-west-1"}
    place = {"AWS_S3_ENDPOINT": server.url[7:], "AWS_HTTPS": "NO", "AWS_VIRTUAL_HOSTING": "FALSE"}
    done = subprocess.run(
        [sys.executable, "-m", "swath", "info", "s3://bucket/image.tif", "--json"],
        capture_output=True, text=True, cwd=tmp_path, env=os.environ | keys | place,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["shape"] == list(SHAPE)
    assert SECRET not in done.stdout + done.stderr + " ".join(server.asked)
