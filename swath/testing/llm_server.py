"""A fake OpenAI-compatible server on a real socket, which can be told to fail in every way that servers do."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

PIECE = 12
"""Letters in one piece of a streamed reply."""


@dataclass(frozen=True)
class Reply:
    """What the server says to one call.

    Attributes:
        text: the reply; with `function` set, the arguments of a call of it.
        function: name of the function that is called.
        finish: "stop", "length", "content_filter" ...
        refusal: words with which the model declines.
        usage: (tokens read, from the cache, written); None to say nothing about them.
        status: an HTTP status other than 200 sends an error instead.
        message: what the error says.
        headers: further headers, such as Retry-After.
        breaks_after: number of pieces after which the connection is closed without an end.
        silent_s: seconds of silence before the reply.
        body: bytes to send instead of a stream, whatever they are.
        error: what the stream says went wrong, in place of its end; of Responses as an event of its own where there
            is no text, else as a response that failed.
    """

    text: str = ""
    function: str | None = None
    finish: str = "stop"
    refusal: str | None = None
    usage: tuple[int, int, int] | None = (100, 0, 10)
    status: int = 200
    message: str = "told to fail"
    headers: Mapping[str, str] = field(default_factory=dict)
    breaks_after: int | None = None
    silent_s: float = 0.0
    body: bytes | None = None
    error: str | None = None


@dataclass(frozen=True)
class Received:
    """A call that came in: path, headers (lower-case names) and body."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class FakeServer:
    """Serves Chat Completions and Responses; use as a context manager.

    Attributes:
        received: the calls that came in.
    """

    def __init__(self, replies: Sequence[Reply] | Callable[[Received], Reply], *, models: Sequence[Any] = ()) -> None:
        """Decide what is said.

        Args:
            replies: in this order, the last one repeated; or what makes a reply to a call.
            models: what the list of models says, {"id": name, ...} each.
        """
        self._replies = replies
        self._models = {"object": "list", "data": [{"object": "model", **model} for model in models]}
        self.received: list[Received] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        """Its address, version path included."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> FakeServer:
        """Begin to serve."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, whatever is still being served."""
        self._server.shutdown()
        self._server.server_close()

    def next_reply(self, call: Received) -> Reply:
        """Keep a call and take its reply from the list."""
        with self._lock:
            self.received.append(call)
            if callable(self._replies):
                return self._replies(call)
            return self._replies[min(len(self.received), len(self._replies)) - 1]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing on standard error."""

            def do_GET(self) -> None:
                body = json.dumps(fake._models).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                call = Received(self.path, headers, json.loads(self.rfile.read(length)))
                _serve(self, fake.next_reply(call), call)

        return Handler


def _serve(handler: BaseHTTPRequestHandler, reply: Reply, call: Received) -> None:
    time.sleep(reply.silent_s)
    handler.send_response(reply.status)
    for name, value in reply.headers.items():
        handler.send_header(name, value)
    if reply.status != 200 or reply.body is not None:
        error = {"error": {"message": reply.message, "type": "fake", "param": None, "code": None}}
        body = reply.body if reply.body is not None else json.dumps(error).encode()
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
        return
    handler.send_header("content-type", "text/event-stream")
    handler.end_headers()
    events = _response_events(reply) if call.path.endswith("/responses") else _chat_chunks(reply, call)
    for number, event in enumerate(events):
        if number == reply.breaks_after:
            handler.close_connection = True
            return
        handler.wfile.write(event)
        handler.wfile.flush()
    handler.close_connection = True


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def _chat_chunks(reply: Reply, call: Received) -> Iterator[bytes]:
    def chunk(choices: list[dict[str, Any]], usage: dict[str, Any] | None = None) -> bytes:
        whole = {"id": "fake", "object": "chat.completion.chunk", "created": 0, "model": call.body["model"],
                 "choices": choices, "usage": usage}  # fmt: skip
        return f"data: {json.dumps(whole)}\n\n".encode()

    def choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {"index": 0, "delta": delta, "finish_reason": finish}

    yield chunk([choice({"role": "assistant", "content": ""})])
    for piece in _pieces(reply.text):
        if reply.function is None:
            yield chunk([choice({"content": piece})])
        else:
            called = {"index": 0, "type": "function", "function": {"name": reply.function, "arguments": piece}}
            yield chunk([choice({"tool_calls": [called]})])
    if reply.refusal is not None:
        yield chunk([choice({"refusal": reply.refusal})])
    if reply.error is not None:
        yield f"data: {json.dumps({'error': {'message': reply.error, 'type': 'fake', 'code': None}})}\n\n".encode()
        return
    yield chunk([choice({}, "tool_calls" if reply.function else reply.finish)])
    if reply.usage is not None and "stream_options" in call.body:
        read, cached, written = reply.usage
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written,
                 "prompt_tokens_details": {"cached_tokens": cached}}  # fmt: skip
        yield chunk([], usage)
    yield b"data: [DONE]\n\n"


def _response_events(reply: Reply) -> Iterator[bytes]:
    count = 0

    def event(kind: str, **content: Any) -> bytes:
        nonlocal count
        count += 1
        whole = {"type": kind, "sequence_number": count, **content}
        return f"event: {kind}\ndata: {json.dumps(whole)}\n\n".encode()

    place = {"item_id": "item", "output_index": 0}
    kind = "response.function_call_arguments.delta" if reply.function else "response.output_text.delta"
    for piece in _pieces(reply.text):
        yield event(kind, delta=piece, content_index=0, logprobs=[], **place)
    if reply.refusal is not None:
        yield event("response.refusal.delta", delta=reply.refusal, content_index=0, **place)
    if reply.error is not None and not reply.text:
        yield event("error", code=None, message=reply.error, param=None)
        return
    ended = {"stop": "completed", "length": "incomplete", "content_filter": "incomplete"}[reply.finish]
    failed = None if reply.error is None else {"code": "server_error", "message": reply.error}
    ended = "failed" if failed else ended
    why = {"length": {"reason": "max_output_tokens"}, "content_filter": {"reason": "content_filter"}}.get(reply.finish)
    usage = None
    if reply.usage is not None:
        read, cached, written = reply.usage
        usage = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written,
                 "input_tokens_details": {"cached_tokens": cached},
                 "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    response = {"id": "fake", "object": "response", "created_at": 0, "model": "fake", "status": ended, "output": [],
                "incomplete_details": why, "usage": usage, "error": failed, "parallel_tool_calls": False,
                "tool_choice": "auto", "tools": []}  # fmt: skip
    yield event(f"response.{ended}", response=response)
