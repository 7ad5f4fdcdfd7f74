"""Asks a model: tries again where that can help, keeps count, and says in one sentence why nothing came back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property

import httpx2
import openai

from swath.agent.llm.exchange import Ask, Call, Received
from swath.agent.llm.failures import BrokeOff, sentence
from swath.agent.llm.patience import pause_before
from swath.agent.llm.prices import cost_of
from swath.agent.llm.protocols import stream
from swath.agent.llm.settings import Settings
from swath.errors import BudgetExceeded, CutOff, ModelError
from swath.trace.events import Event, tell

CONNECT_S = 10.0
REPLIES = 3
"""How often a reply that broke off, or that was empty, is asked for."""

ADJUSTABLE = (
    "temperature", "max_tokens", "max_completion_tokens", "stream_options", "store", "grammar", "response_format"
)  # fmt: skip
"""Parameters that some servers do not take and that can be left out or renamed; what comes back is checked anyway."""


@dataclass
class _Attempt:
    """A call under way: when it has to be over, how often it was sent, what came in of the last reply."""

    ends_at: float
    tries: int = 0
    failures: int = 0
    received: Received = field(default_factory=Received)


class Client:
    """Asks the model of some settings; keeps a record of every call.

    Attributes:
        settings: the model.
        calls: every call so far, for the run's record.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        spent: Callable[[], Sequence[Call]] = tuple,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Connect to nothing yet.

        Args:
            settings: the model.
            spent: calls that others have made for the same question, which its budget counts.
            cancelled: asked after every piece of a reply whether somebody wants to stop.
        """
        self.settings = settings
        self.calls: list[Call] = []
        self._spent, self._cancelled = spent, cancelled
        self._left_out: frozenset[str] = frozenset()

    def ask(self, ask: Ask) -> Received:
        """Send a call and wait for the whole reply.

        Raises:
            ModelError: no usable reply came back; says why and what next.
            BudgetExceeded: the question has used up what it may cost.
        """
        self._check_budget()
        started, attempt = time.perf_counter(), _Attempt(time.monotonic() + self._seconds_left())
        error: str | None = "The call was given up."
        try:
            self._answered(ask, attempt)
            error = _fault_of(attempt.received, ask, self.settings)
        except (openai.OpenAIError, httpx2.HTTPError, ValueError, BrokeOff) as fault:
            error = sentence(fault, self.settings)
        finally:
            self._record(ask, attempt, time.perf_counter() - started, error)
        if error and attempt.received.finish == "length":
            raise CutOff(error, attempt.received.text)
        if error:
            raise ModelError(error)
        return attempt.received

    def _answered(self, ask: Ask, attempt: _Attempt) -> None:
        """Ask until something came back, as often as that can help."""
        while True:
            attempt.tries += 1
            try:
                self._receive(ask, attempt)
            except openai.BadRequestError as fault:
                if not self._adjusted(fault):
                    raise
            except (openai.APIConnectionError, openai.APIStatusError) as fault:
                self._wait(fault, attempt)
            except BrokeOff:
                if attempt.tries - attempt.failures >= REPLIES:
                    raise
            else:
                if attempt.received.text or attempt.received.refusal or attempt.tries - attempt.failures >= REPLIES:
                    return

    def _wait(self, fault: openai.APIConnectionError | openai.APIStatusError, attempt: _Attempt) -> None:
        """Wait before the next try; raises the fault where none can help, and ends a question whose time is over."""
        attempt.failures += 1
        pause = pause_before(fault, attempt.failures)
        if pause is None or attempt.failures > self.settings.retries:
            raise fault
        left = attempt.ends_at - time.monotonic()
        if pause >= left:
            raise self._too_long()
        time.sleep(pause)

    def _too_long(self) -> BudgetExceeded:
        return BudgetExceeded(f"The model took over {self.settings.budget.seconds:g} s for one question.")

    @cached_property
    def library(self) -> openai.OpenAI:
        """The library's client, made on first use."""
        key = self.settings.key
        return openai.OpenAI(
            base_url=self.settings.base_url,
            api_key=key.value if key else "none",
            max_retries=0,  # the library's own would outlast the question's budget
        )

    def _timeout(self, left: float) -> httpx2.Timeout:
        """Silence that is waited for: never longer than what the question has left."""
        seconds = max(min(self.settings.timeout_s, left), 0.1)
        return httpx2.Timeout(seconds, connect=min(seconds, CONNECT_S))

    def _receive(self, ask: Ask, attempt: _Attempt) -> None:
        attempt.received, begun = Received(), False
        try:
            patient = self.library.with_options(timeout=self._timeout(attempt.ends_at - time.monotonic()))
            for attempt.received in stream(patient, self.settings, ask, self._left_out):
                begun = True
                if self._cancelled():
                    raise KeyboardInterrupt
                if time.monotonic() > attempt.ends_at:
                    raise self._too_long()
        except (httpx2.TransportError, openai.APIConnectionError) as fault:
            if begun:
                raise BrokeOff from fault
            raise
        except openai.APIStatusError:
            raise
        except openai.APIError as fault:  # what the library makes of an error in the middle of a stream
            raise BrokeOff(fault.message) from fault
        if not begun:
            raise ValueError("no event at all")
        if attempt.received.finish is None:
            raise BrokeOff

    def _adjusted(self, fault: openai.BadRequestError) -> bool:
        """Whether the server only minded a parameter that can be left out next time."""
        told = f"{fault.param or ''} {fault}"
        for name in ADJUSTABLE:
            if name in told and name not in self._left_out:
                self._left_out |= {name}
                return True
        return False

    def _record(self, ask: Ask, attempt: _Attempt, seconds: float, error: str | None) -> None:
        received = attempt.received
        tokens = (received.tokens_in, received.tokens_out)
        cost = None
        if tokens[0] is not None and tokens[1] is not None:
            cost = cost_of(self.settings, tokens[0], received.tokens_cached, tokens[1])
        self._hide_key(received)
        call = Call(
            ask.purpose, self.settings.model, self.settings.host, tokens[0], received.tokens_cached, tokens[1],
            cost, seconds, attempt.tries, received.text, error,
        )  # fmt: skip
        self.calls.append(call)
        tell(
            Event(
                "model", call.model, seconds, {name: value for name, value in asdict(call).items() if name != "reply"}
            )
        )

    def _hide_key(self, received: Received) -> None:
        """A server that repeats the key does not get it into a program or a record."""
        key = self.settings.key
        if key is not None:
            received.text, received.refusal = key.hidden_in(received.text), key.hidden_in(received.refusal)

    def _seconds_left(self) -> float:
        return self.settings.budget.seconds - sum(call.seconds for call in (*self._spent(), *self.calls))

    def _check_budget(self) -> None:
        budget, calls = self.settings.budget, (*self._spent(), *self.calls)
        tokens = sum((call.tokens_in or 0) + (call.tokens_out or 0) for call in calls)
        dollars = sum(call.cost or 0.0 for call in calls)
        if budget.dollars is not None and any(call.cost is None and call.error is None for call in calls):
            raise BudgetExceeded(
                f"The server at {self.settings.host} counts no tokens, so that a budget of {budget.dollars:g} dollars "
                "cannot be kept. Next: leave dollars out of [llm.budget]."
            )
        spent = None
        if len(calls) >= budget.calls:
            spent = f"{budget.calls} calls of the model"
        elif tokens >= budget.tokens:
            spent = f"{budget.tokens:,} tokens"
        elif self._seconds_left() <= 0:
            spent = f"{budget.seconds:g} s of waiting for the model"
        elif budget.dollars is not None and dollars >= budget.dollars:
            spent = f"{budget.dollars:g} dollars"
        if spent:
            raise BudgetExceeded(f"The question has used up its budget of {spent}. Next: ask more simply, or raise it.")


def _fault_of(received: Received, ask: Ask, settings: Settings) -> str | None:
    model = f"The model {settings.model}"
    if received.finish == "length":
        return f"{model} was cut off after {ask.max_tokens:,} tokens. Next: raise max_output_tokens, or ask less."
    if received.finish == "filter":
        return f"{model} was stopped by its server's content filter. Next: word the question differently."
    if not received.text and not received.refusal:
        return f"{model} returned nothing, {REPLIES} times. Next: try another model."
    return None
