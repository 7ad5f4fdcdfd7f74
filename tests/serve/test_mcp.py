"""The MCP server through the SDK's own client, over stdio and over HTTP."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from swath.errors import InputError
from swath.serve.mcp.roots import open_roots
from swath.serve.mcp.work import GivenUp, Work, spoken

pytest.importorskip("mcp", reason="the extra [mcp] is not installed")

import httpx2
from mcp import Client, StdioServerParameters, stdio_client

COMMAND = [sys.executable, "-c", "from swath.cli import main; main()", "mcp"]
QUESTION = "How many buildings are within 5 m of water?"
TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture
def served(village: Any, tmp_path: Path) -> Path:
    """A folder with the village and its legend, beside a file that is not served."""
    folder = tmp_path / "served"
    folder.mkdir()
    shutil.copy(village.image, folder / "village.tif")
    shutil.copy(village.legend, folder / "legend.json")
    shutil.copy(village.image, tmp_path / "secret.tif")
    (folder / "link.tif").symlink_to(tmp_path / "secret.tif")
    return folder


CLASSES = {"labels": "village.tif", "legend": "legend.json"}


def in_its_own_thread(session: Callable[..., Awaitable[None]], *given: Any) -> None:
    """Run a session on a loop of its own: the browser of other tests may keep one running in this thread."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(anyio.run, session, *given).result()


def talk(folder: Path, say: Callable[[Client], Awaitable[None]]) -> None:
    """Start a server over stdio and talk to it."""

    async def session() -> None:
        arguments = [*COMMAND[1:], str(folder), "--out", str(folder / "runs")]
        parameters = StdioServerParameters(command=COMMAND[0], args=arguments, env=dict(os.environ))
        async with Client(stdio_client(parameters)) as client:
            await say(client)

    in_its_own_thread(session)


def text_of(result: Any) -> str:
    return str(result.content[0].text)


def test_ask_and_what_the_run_holds(served: Path, village: Any) -> None:
    steps: list[str] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        steps.append(str(message))

    async def say(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {"ask", "info", "segment", "measure", "replay"}
        asked = {"image": "village.tif", "question": QUESTION, "options": CLASSES}
        answer = (await client.call_tool("ask", asked, progress_callback=progress)).structured_content
        assert answer is not None
        assert (answer["status"], answer["answer"]) == ("answered", village.near_canal)
        links = answer["resources"]
        picture = (await client.read_resource(links["picture"])).contents[0]
        assert base64.b64decode(picture.blob).startswith(b"\x89PNG")  # type: ignore[union-attr]
        program = (await client.read_resource(links["program"])).contents[0].text  # type: ignore[union-attr]
        assert program == answer["program"]
        listed = json.loads((await client.read_resource("swath://runs")).contents[0].text)  # type: ignore[union-attr]
        run = links["run"].rpartition("/")[2]
        assert [entry["id"] for entry in listed] == [run]
        record = json.loads((await client.read_resource(links["run"])).contents[0].text)  # type: ignore[union-attr]
        assert record["question"] == QUESTION
        for name in (run, answer["run"]):
            again = (await client.call_tool("replay", {"run": name})).structured_content
            assert again is not None
            assert again["same"] is True

    talk(served, say)
    assert {"question", "plan", "segment", "near"} <= set(steps)


def test_measure_info_and_segment(served: Path, village: Any) -> None:
    async def say(client: Client) -> None:
        tools = (await client.read_resource("swath://tools")).contents[0].text  # type: ignore[union-attr]
        assert "area_m2" in tools
        program = 'reply(area_m2(segment("water")), kind="quantity", unit="m2")'
        given = {"image": "village.tif", "program": program, "options": CLASSES}
        area = (await client.call_tool("measure", given)).structured_content
        assert area is not None
        assert area["answer"] == pytest.approx(village.canal_m2)
        facts = (await client.call_tool("info", {"image": "village.tif"})).structured_content
        assert facts is not None
        assert facts["shape"] == [200, 300]
        given = {"image": "village.tif", "class_name": "building", "options": CLASSES}
        written = (await client.call_tool("segment", given)).structured_content
        assert written is not None
        assert Path(written["mask"]).is_file()
        assert f"{village.houses} objects" in written["text"]

    talk(served, say)


def test_reference_samples_correct_a_share_and_lie_in_a_folder_that_is_served(served: Path, village: Any) -> None:
    (served / "samples.csv").write_text("map,water,other\nwater,90,10\nother,7,393\n", encoding="utf-8")
    (served.parent / "samples.csv").write_text("map,water,other\nwater,90,10\nother,7,393\n", encoding="utf-8")
    mapped = village.canal_m2 * 4 / village.valid_px
    truly = 0.9 * mapped + 7 / 400 * (1 - mapped)

    async def say(client: Client) -> None:
        asked = {"image": "village.tif", "question": "What percentage of the image is water?"}
        given = {**asked, "options": {**CLASSES, "confusion": "samples.csv"}}
        answer = (await client.call_tool("ask", given)).structured_content
        assert answer is not None
        assert answer["answer"] == pytest.approx(100 * truly)
        assert answer["interval"]["covers"] == ["reference sample"]
        again = (await client.call_tool("replay", {"run": answer["run"]})).structured_content
        assert again is not None
        assert again["same"] is True
        for named, told in (("card", "has no card that states"), ("../samples.csv", "is not a file in a folder")):
            result = await client.call_tool("ask", {**asked, "options": {**CLASSES, "confusion": named}})
            assert result.is_error
            assert told in text_of(result)

    talk(served, say)


def test_a_refusal_is_an_answer_and_a_mistake_is_a_sentence(served: Path) -> None:
    async def say(client: Client) -> None:
        asked = {"image": "village.tif", "question": "Who owns the buildings?", "options": CLASSES}
        answer = (await client.call_tool("ask", asked)).structured_content
        assert answer is not None
        assert answer["status"] == "refused"
        for program, told in (('import os\nos.system("id")', "import"), ("reply(42, kind='count')", "measure")):
            given = {"image": "village.tif", "program": program, "options": CLASSES}
            result = (await client.call_tool("measure", given)).structured_content
            assert result is not None
            assert result["status"] == "failed"
            assert told in result["reason"]
        broken = await client.call_tool("ask", {"image": "legend.json", "question": QUESTION})
        assert broken.is_error
        assert "Next:" in text_of(broken)

    talk(served, say)


@pytest.mark.parametrize(
    "name",
    ["../secret.tif", "link.tif", "/etc/passwd", "/vsicurl/http://127.0.0.1/x.tif", "http://127.0.0.1/x.tif", ""],
)
def test_only_the_folders_are_read(served: Path, name: str) -> None:
    with pytest.raises(InputError, match="Next:"):
        open_roots([served]).file(name)
    with pytest.raises(InputError, match="Next:"):
        open_roots([served]).options({"labels": name})
    with pytest.raises(InputError, match="Next:"):
        open_roots([served]).options({"layers": {"x": name}})


def test_files_outside_and_runs_that_are_none_are_refused_over_the_wire(served: Path) -> None:
    async def say(client: Client) -> None:
        secret = str(served.parent / "secret.tif")
        for asked in ({"image": secret}, {"image": "village.tif", "options": {"labels": "../secret.tif"}}):
            result = await client.call_tool("ask", {**asked, "question": QUESTION})
            assert result.is_error
            assert "is not a file in a folder that is served" in text_of(result)
        for run in ("../served", "/etc", "x"):
            result = await client.call_tool("replay", {"run": run})
            assert result.is_error
            assert "is not the id of a run" in text_of(result)

    talk(served, say)


@contextmanager
def http_server(folder: Path, **variables: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [*COMMAND, str(folder), "--out", str(folder / "runs"), "--http", "--port", str(port)]
    process = subprocess.Popen(arguments, env={**os.environ, **variables}, stderr=subprocess.PIPE)
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(process.communicate()[1])


def test_over_http_with_a_token(served: Path, village: Any) -> None:
    async def session(url: str) -> None:
        async with AsyncExitStack() as stack:
            with_token = {"authorization": f"Bearer {TOKEN}"}
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=with_token, timeout=60))
            from mcp.client.streamable_http import streamable_http_client

            client = await stack.enter_async_context(Client(streamable_http_client(url, http_client=http)))
            asked = {"image": "village.tif", "question": QUESTION, "options": CLASSES}
            answer = (await client.call_tool("ask", asked)).structured_content
            assert answer is not None
            assert answer["answer"] == village.near_canal

    with http_server(served, SWATH_TOKEN=TOKEN) as url:
        in_its_own_thread(session, url)
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for headers in ({}, {"authorization": "Bearer guess"}, {"authorization": f"Bearer {TOKEN}x"}):
            assert httpx2.post(url, json=body, headers=headers).status_code == 401
        for foreign in ({"origin": "http://evil.example"}, {"host": "evil.example"}):
            headers = {"authorization": f"Bearer {TOKEN}", "accept": "application/json, text/event-stream", **foreign}
            assert httpx2.post(url, json=body, headers=headers).status_code in (403, 421)


@pytest.mark.parametrize(
    ("options", "token", "sentence"),
    [
        (["--host", "0.0.0.0"], "", "0.0.0.0 can be reached from other machines, which needs a token."),
        (["--host", "0.0.0.0"], "short", "The token has fewer than 16 letters."),
    ],
)
def test_other_addresses_need_a_token(served: Path, options: list[str], token: str, sentence: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "SWATH_TOKEN"}
    if token:
        environment["SWATH_TOKEN"] = token
    command = [*COMMAND, str(served), "--out", str(served / "runs"), "--http", *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no folder .* to serve"):
        open_roots([tmp_path / "none"])


def test_what_nobody_waits_for_ends_at_its_next_step(served: Path) -> None:
    steps: list[str] = []

    def bored() -> bool:
        return "segment" in steps

    work = Work(open_roots([served]), served / "runs", {})
    with pytest.raises(GivenUp):
        work.ask("village.tif", QUESTION, CLASSES, spoken(steps.append, bored))
    assert steps[-1] == "segment"
    assert not list((served / "runs").glob("2*"))
