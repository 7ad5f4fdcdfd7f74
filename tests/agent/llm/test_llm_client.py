"""Every failure of a server ends as stated; keys stay hidden; tokens and costs are counted."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import httpx2
import openai
import pytest

from swath.agent.llm.client import Client
from swath.agent.llm.exchange import Ask, Function, Grammar, Schema
from swath.agent.llm.patience import pause_before
from swath.agent.llm.settings import Budget, Secret, Settings
from swath.errors import BudgetExceeded, ModelError
from swath.testing.llm_server import FakeServer, Reply

ASK = Ask(({"role": "system", "content": "Plan."}, {"role": "user", "content": "How much is water?"}), max_tokens=50)
KEY = "sk-very-secret-0123456789"
SOON = {"retry-after-ms": "10"}


def asked(replies: list[Reply], ask: Ask = ASK, **options: Any) -> tuple[Any, Client, FakeServer]:
    with FakeServer(replies) as server:
        given = {"timeout_s": 5.0, "retries": 2, **options}
        client = Client(Settings("tiny", base_url=server.base_url, key=Secret(KEY), **given))
        try:
            return client.ask(ask), client, server
        except (ModelError, BudgetExceeded) as error:
            return error, client, server


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_reply_comes_back_with_its_tokens(api: str) -> None:
    received, client, server = asked([Reply("reply(1)" * 20, usage=(120, 80, 9))], api=api)
    assert received.text == "reply(1)" * 20
    assert (received.finish, received.tokens_in, received.tokens_cached, received.tokens_out) == ("stop", 120, 80, 9)
    assert [(call.tries, call.error, call.tokens_out) for call in client.calls] == [(1, None, 9)]
    assert server.received[0].path == {"chat": "/v1/chat/completions", "responses": "/v1/responses"}[api]
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"


BUSY = Reply(error="the engine\x1b[2J ran out of memory")
FAILED = Reply("half", error="the engine\x1b[2J ran out of memory")

FAILURES: list[tuple[list[Reply], str, int]] = [
    ([Reply(status=401)], "refuses the key (401). Next: check SWATH_API_KEY.", 1),
    ([Reply(status=403)], "does not let this key use the model tiny (403).", 1),
    ([Reply(status=404)], "has no model tiny at this address (404). Next: check --model and --base-url.", 1),
    ([Reply(status=429, headers=SOON)], "is too busy or the account's limit is reached (429).", 3),
    ([Reply(status=503, headers=SOON)], "fails (503) however often it is asked.", 3),
    ([Reply(status=400, message="bad\x1b[2J thing")], "does not take the request (400): bad", 1),
    ([Reply("half a reply", breaks_after=1)], "broke off in the middle of its reply, again and again.", 3),
    ([BUSY], "broke off in the middle of its reply, again and again: the engine", 3),
    ([FAILED], "ran out of memory. Next: look at its log.", 3),
    ([Reply("")], "The model tiny returned nothing, 3 times. Next: try another model.", 3),
    ([Reply("x = ", finish="length")], "was cut off after 50 tokens. Next: raise max_output_tokens, or ask less.", 1),
    ([Reply("x", finish="content_filter")], "was stopped by its server's content filter.", 1),
    ([Reply(body=b"<html>hello</html>")], "does not answer as an OpenAI-compatible server would.", 1),
]


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize(("replies", "said", "calls"), FAILURES, ids=[said[:30] for _, said, _ in FAILURES])
def test_each_failure_is_one_sentence(replies: list[Reply], said: str, calls: int, api: str) -> None:
    error, client, server = asked(replies, api=api)
    assert isinstance(error, ModelError)
    assert said in str(error)
    assert "\x1b" not in str(error)
    assert len(server.received) == calls
    assert client.calls[0].error == str(error)


@pytest.mark.parametrize(
    "first",
    [Reply(status=429, headers=SOON), Reply(status=500, headers=SOON), Reply("cut", breaks_after=1), BUSY, FAILED,
     Reply("")],
    ids=["429", "500", "broken off", "error at once", "error later", "empty"],
)  # fmt: skip
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_what_can_be_tried_again_is(first: Reply, api: str) -> None:
    received, _, server = asked([first, Reply("fine")], api=api)
    assert received.text == "fine"
    assert len(server.received) == 2


def test_retry_after_is_honoured() -> None:
    started = time.monotonic()
    received, _, _ = asked([Reply(status=429, headers={"retry-after": "1"}), Reply("fine")])
    assert received.text == "fine"
    assert time.monotonic() - started >= 1.0


def test_retries_never_outlast_the_budget() -> None:
    error, client, server = asked([Reply(status=429, headers={"retry-after": "30"})], budget=Budget(seconds=5.0))
    assert isinstance(error, BudgetExceeded) and "took over 5 s" in str(error)
    assert (len(server.received), client.calls[0].tries) == (1, 1)


def test_a_call_that_failed_at_first_says_how_often_it_was_sent() -> None:
    _, client, _ = asked([Reply(status=503, headers=SOON), Reply(status=429, headers=SOON), Reply("fine")])
    assert client.calls[0].tries == 3


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "7"}, 7.0), ({"retry-after-ms": "40"}, 0.04), ({"retry-after": "-3"}, None),
     ({"retry-after": "soon"}, None), ({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT"}, 0.0), ({}, None)],
)  # fmt: skip
def test_the_pause_is_what_the_server_says_else_it_grows(headers: dict[str, str], seconds: float | None) -> None:
    response = httpx2.Response(429, headers=headers, request=httpx2.Request("POST", "http://localhost/v1"))
    fault = openai.RateLimitError("busy", response=response, body=None)
    first, third, tenth = (pause_before(fault, failures) for failures in (1, 3, 10))
    if seconds is not None:
        assert first == third == seconds
    else:
        assert first is not None and third is not None and tenth is not None
        assert 0.375 <= first <= 0.5 and 1.5 <= third <= 2.0 and 6.0 <= tenth <= 8.0


def test_a_silent_server_is_given_up() -> None:
    error, _, _ = asked([Reply("late", silent_s=1.0)], timeout_s=0.2, retries=0)
    assert "was silent for 0.2 s" in str(error)


def test_no_server_at_all() -> None:
    with FakeServer([Reply("x")]) as server:
        url = server.base_url
    client = Client(Settings("tiny", base_url=url, retries=0))
    with pytest.raises(
        ModelError, match=r"No server answers at 127\.0\.0\.1:\d+\. Next: start it, or check --base-url\."
    ):
        client.ask(ASK)


def test_a_missing_key_is_named() -> None:
    with FakeServer([Reply(status=401)]) as server:
        client = Client(Settings("tiny", base_url=server.base_url))
        with pytest.raises(ModelError, match=r"asks for a key and none is set \(401\)\. Next: set SWATH_API_KEY\."):
            client.ask(ASK)


def test_a_refusal_is_handed_on() -> None:
    received, _, _ = asked([Reply(refusal="I cannot help with that.")])
    assert received.refusal == "I cannot help with that."


def test_a_parameter_that_a_server_does_not_take_is_left_out() -> None:
    minded = Reply(status=400, message="Unsupported parameter: 'temperature'")
    received, client, server = asked([minded, Reply("fine"), Reply("again")])
    assert received.text == "fine"
    assert "temperature" in server.received[0].body
    assert "temperature" not in server.received[1].body
    assert client.calls[0].tries == 2


def test_the_other_name_of_the_longest_reply_is_tried() -> None:
    minded = Reply(status=400, message="Use 'max_completion_tokens' instead of 'max_tokens'.")
    _, _, server = asked([minded, Reply("fine")])
    assert server.received[0].body["max_tokens"] == 50
    assert server.received[1].body["max_completion_tokens"] == 50


SCHEMA = {"type": "object", "properties": {}}


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_shapes_are_sent_as_each_protocol_words_them(api: str) -> None:
    def body(ask: Ask, reply: Reply) -> Any:
        received, _, server = asked([reply], ask, api=api)
        assert received.text == reply.text
        return server.received[0].body

    assert body(replace(ASK, shape=Grammar("root ::= x")), Reply("x"))["grammar"] == "root ::= x"
    schema = body(replace(ASK, shape=Schema("plan", SCHEMA)), Reply("{}"))
    assert schema["response_format" if api == "chat" else "text"]
    tool = body(replace(ASK, shape=Function("plan", "Plans.", SCHEMA)), Reply('{"a": 1}', function="plan"))
    assert tool["tool_choice"]


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(calls=1), "its budget of 1 calls of the model"),
        (Budget(tokens=100), "its budget of 100 tokens"),
        (Budget(dollars=0.0001), "its budget of 0.0001 dollars"),
        (Budget(seconds=1e-9), "(its budget of 1e-09 s of waiting|took over 1e-09 s)"),
    ],
)
def test_budgets_end_a_question(budget: Budget, said: str) -> None:
    with FakeServer([Reply("fine", usage=(100, 0, 10))]) as server:
        client = Client(Settings("tiny", base_url=server.base_url, budget=budget, prices=(1.0, 0.1, 10.0)))
        with pytest.raises(BudgetExceeded, match=said):
            client.ask(ASK)
            client.ask(ASK)
        assert len(server.received) == 1


def test_a_budget_counts_what_others_have_spent_on_the_question() -> None:
    with FakeServer([Reply("fine")]) as server:
        settings = Settings("tiny", base_url=server.base_url, budget=Budget(calls=2))
        first = Client(settings)
        second = Client(settings, spent=lambda: first.calls)
        first.ask(ASK)
        second.ask(ASK)
        with pytest.raises(BudgetExceeded, match="its budget of 2 calls"):
            second.ask(ASK)


def test_a_budget_of_money_ends_where_a_server_counts_no_tokens() -> None:
    with FakeServer([Reply("fine", usage=None)]) as server:
        client = Client(Settings("tiny", base_url=server.base_url, budget=Budget(dollars=1.0), prices=(1.0, 0.1, 10.0)))
        client.ask(ASK)
        with pytest.raises(
            BudgetExceeded, match="counts no tokens, so that a budget of 1 dollars cannot be kept. Next"
        ):
            client.ask(ASK)


def test_cancelling_stops_between_pieces() -> None:
    with FakeServer([Reply("a long reply " * 50)]) as server:
        client = Client(Settings("tiny", base_url=server.base_url), cancelled=lambda: True)
        with pytest.raises(KeyboardInterrupt):
            client.ask(ASK)
        assert client.calls[0].error == "The call was given up."


def test_costs_follow_the_prices_and_are_unknown_without() -> None:
    _, client, _ = asked([Reply("fine", usage=(1_000_000, 400_000, 100_000))], prices=(2.0, 0.5, 8.0))
    assert client.calls[0].cost == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 0.1 * 8.0)
    _, client, _ = asked([Reply("fine")])
    assert client.calls[0].cost is None


def test_the_key_is_nowhere() -> None:
    told = Reply(status=400, message=f"the key {KEY} is fine but the model is not")
    error, client, _ = asked([told])
    _, echoing, _ = asked([Reply(f"your key is {KEY}")])
    shown = f"{error} {client.calls} {client.settings} {echoing.calls[0].reply}"
    assert KEY not in shown
    assert "[key]" in str(error)
