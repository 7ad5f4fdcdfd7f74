"""Processes and the queue: what one call does to itself it does to no other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import process_work
import pytest

from swath.errors import InputError
from swath.serve.asks import MOST_KEPT, MOST_STEPS, MOST_WAITING, Ask, Asks, Busy
from swath.serve.processes import Call, Cancelled, Lost, Workers


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    found = Workers(1, tmp_path_factory.mktemp("home"), 4 * 2**30)
    yield found
    found.close()


def test_a_call_is_heard_and_gives_its_value(workers: Workers) -> None:
    heard: list[Any] = []
    assert workers.run(process_work.double, Call(listen=heard.append), number=21) == 42
    assert heard == [{"at": 21}]


@pytest.mark.parametrize(
    ("work", "error", "words"),
    [
        (process_work.refuse, InputError, "This cannot be. Next: something else."),
        (process_work.break_off, Lost, r"Internal error \(ZeroDivisionError: seven by zero\). Next: report it."),
        (process_work.die, Lost, "The process at work on this was killed by SIGKILL, perhaps for want of memory."),
        (process_work.fill_memory, Lost, "This does not fit into memory. Next: try a smaller image or an area of it."),
    ],
)
def test_what_goes_wrong_with_a_call_is_a_sentence_and_the_next_call_is_served(
    workers: Workers, work: Callable[..., Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        workers.run(work)
    assert workers.run(process_work.double, number=1) == 2


def test_a_call_that_takes_too_long_is_ended(workers: Workers) -> None:
    with pytest.raises(Lost, match="was ended. Next: try a smaller file."):
        workers.run(process_work.never_end, Call(deadline_s=0.5))
    assert workers.run(process_work.double, number=1) == 2


def test_a_call_can_be_given_up_while_it_works(workers: Workers) -> None:
    call = Call()
    call.listen = lambda said: call.cancel()
    with pytest.raises(Cancelled, match="The question was given up. Next: ask it again, or another one."):
        workers.run(process_work.never_end, call)
    assert workers.run(process_work.double, number=1) == 2


class ByHand:
    """Stands for the processes: a call ends when the test says so."""

    size = 2

    def __init__(self) -> None:
        self.begun: dict[str, threading.Event] = {}
        self.ends: dict[str, threading.Event] = {}
        self.order: list[str] = []

    def expect(self, question: str) -> str:
        self.begun[question], self.ends[question] = threading.Event(), threading.Event()
        return question

    def run(self, work: Any, call: Call, *, question: str, **arguments: Any) -> dict[str, Any]:
        self.order.append(question)
        self.begun[question].set()
        self.ends[question].wait()
        if call.cancelled:
            raise Cancelled("The question was given up.")
        for number in range(arguments.get("steps", 0)):
            call.listen({"step": number})
        return {"answer": question}


class Queue:
    """A queue on processes that the test drives."""

    def __init__(self) -> None:
        self.hands = ByHand()
        self.ended = threading.Condition()
        self.asks = Asks(self.hands, self.changed)  # type: ignore[arg-type]

    def changed(self, ask_id: str) -> None:
        with self.ended:
            self.ended.notify_all()

    def add(self, question: str, thread: str = "", **options: Any) -> tuple[Ask, int]:
        return self.asks.add("a.tif", self.hands.expect(question), thread or question, options)

    def begun(self, *questions: str) -> None:
        for question in questions:
            assert self.hands.begun[question].wait(60)

    def end(self, ask: Ask) -> None:
        self.hands.ends[ask.question].set()
        with self.ended:
            assert self.ended.wait_for(lambda: ask.state in ("done", "cancelled", "failed"), 60)

    def close(self) -> None:
        for event in self.hands.ends.values():
            event.set()
        self.asks.close()


@pytest.fixture
def queue() -> Iterator[Queue]:
    found = Queue()
    yield found
    found.close()


def test_two_questions_are_worked_on_at_once_and_the_others_know_their_place(queue: Queue) -> None:
    first, _ = queue.add("first")
    queue.add("second")
    queue.begun("first", "second")
    third, third_place = queue.add("third")
    fourth, fourth_place = queue.add("fourth")
    assert (third.state, third_place, fourth_place) == ("waiting", 1, 2)
    assert queue.asks.counts() == {"working": 2, "waiting": 2}
    queue.end(first)
    queue.begun("third")
    assert (first.answer, queue.asks.find(fourth.id)) == ({"answer": "first"}, (fourth, 1))


def test_questions_of_one_thread_are_answered_one_after_another(queue: Queue) -> None:
    first, _ = queue.add("first", thread="t")
    queue.begun("first")
    queue.add("follow-up", thread="t")
    queue.add("another", thread="u")
    queue.begun("another")
    assert not queue.hands.begun["follow-up"].is_set()
    queue.end(first)
    queue.begun("follow-up")
    assert queue.hands.order == ["first", "another", "follow-up"]


def test_a_waiting_question_is_given_up_without_beginning(queue: Queue) -> None:
    first, _ = queue.add("first", thread="t")
    queue.begun("first")
    second, _ = queue.add("second", thread="t")
    queue.asks.cancel(second)
    assert (second.state, second.reason) == ("cancelled", "The question was given up before it was its turn.")
    queue.end(first)
    third, _ = queue.add("third", thread="t")
    queue.begun("third")
    assert queue.hands.order == ["first", "third"]
    queue.asks.cancel(third)
    queue.end(third)
    assert third.state == "cancelled"
    queue.asks.cancel(first)
    assert first.state == "done"


def test_the_queue_and_what_is_remembered_are_bounded(queue: Queue) -> None:
    first, _ = queue.add("first", thread="t")
    queue.begun("first")
    for number in range(MOST_WAITING):
        queue.add(f"waiting {number}", thread="t")
    with pytest.raises(Busy, match="16 questions wait already. Next: ask again in a minute."):
        queue.add("one too many", thread="t")
    for event in queue.hands.ends.values():
        event.set()
    queue.end(first)
    for number in range(MOST_KEPT + 20):
        ask, _ = queue.add(f"later {number}", steps=MOST_STEPS + 5 if number == 0 else 0)
        queue.end(ask)
        if number == 0:
            assert (len(ask.steps), ask.steps_left_out) == (MOST_STEPS, 5)
    assert queue.asks.find(first.id) is None
    assert len(queue.asks._asks) <= MOST_KEPT + 2
