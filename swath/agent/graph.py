"""The graph: read -> plan -> check -> run -> verify -> answer, with a repair edge back to plan.

Nodes are plain functions over one typed state of JSON values; what is not JSON (pixels, the sandbox) lies on the `Desk`
that LangGraph hands them as runtime context.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langsmith.run_helpers import tracing_context

from swath.agent.agreement import verdict
from swath.agent.answer import build
from swath.agent.checker import check as check_program
from swath.agent.checker import depends_on_measurement
from swath.agent.desk import Desk
from swath.agent.execution import Execution, Step, surface
from swath.agent.eyes import looking
from swath.agent.measure import measure
from swath.agent.planner import Feedback, Program, Turn
from swath.agent.planners import eyes_of, judge_of, rival_of
from swath.agent.verify import verify as verify_outcome
from swath.errors import (
    BudgetExceeded,
    ModelError,
    PlanError,
    ProgramRejected,
    Refused,
    SandboxUnavailable,
    UnknownClass,
    VerificationFailed,
)
from swath.segment.no_classes import NoClasses
from swath.tools.registry import Tool
from swath.trace.events import QUESTION, Event, everybody, heard_by, tell
from swath.trace.telemetry import spans
from swath.types import Answer

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

GIVEN = "given"
"""Name of the planner that hands on somebody's own program."""

REPEATED = "The planner repeats a program that does not work."

MOST_DRAFTS = 3
"""Programs written for one question; a planner that has not found one by then is not going to."""


class State(TypedDict, total=False):
    """What the nodes hand on: JSON values only.

    Attributes:
        question: as typed.
        scene: what the planner may know.
        source: the present draft.
        hints: what is wrong with it; empty once it is right.
        drafts: sources of all drafts so far.
        status: set when the run has ended, None before.
        reason: why it was refused or failed.
        turns: the questions of the thread that have been answered, oldest first.
    """

    question: str
    scene: dict[str, Any]
    source: str
    hints: list[str]
    drafts: list[str]
    status: Literal["answered", "refused", "failed"] | None
    reason: str | None
    turns: list[dict[str, str]]


def asked(question: str) -> State:
    """The state with which a question begins, also in a thread that holds others."""
    return {"question": question, "source": "", "hints": [], "drafts": [], "status": None, "reason": None}


Node = Callable[[State, Desk], dict[str, Any]]


def read(state: State, desk: Desk) -> dict[str, Any]:
    """Open the image and the source of classes."""
    desk.open()
    desk.earlier = tuple(Turn(**turn) for turn in state.get("turns", ()))
    return {"scene": asdict(desk.scene())}


def plan(state: State, desk: Desk) -> dict[str, Any]:
    """Let the planner write a draft, which sees what was wrong with the last one; or judge, if it is one that does."""
    judge = judge_of(desk.planner)
    if judge is not None:
        desk.judgement = judge(state["question"], desk.opened().raster)
        return {"status": "answered"}
    feedback = Feedback(state["source"], tuple(state["hints"])) if state.get("hints") else None
    if feedback is not None:
        desk.drafts.append((feedback.source, feedback.hints))
    try:
        program = desk.planner.plan(state["question"], desk.scene(), feedback)
    except UnknownClass:
        if isinstance(desk.backend, NoClasses):  # it says why no class is known
            raise desk.backend.why from None
        raise
    except ProgramRejected as fault:  # what the planner sent is no program
        drafts = [*state["drafts"], fault.source]
        return {"source": fault.source, "drafts": drafts, **_repair({**state, "drafts": drafts}, fault.hints)}
    if program.source in state["drafts"]:
        whose = "The program does not work." if desk.planner.name == GIVEN else REPEATED
        return _failed(f"{whose} {' '.join(state.get('hints', []))}")
    if program.gsd_m is not None:
        clash = desk.state_gsd(program.gsd_m)
        if clash:
            program = Program(program.source, program.reading, (*program.notes, clash), program.gsd_m)
    desk.program = program
    return {"source": program.source, "drafts": [*state["drafts"], program.source], "hints": []}


def check(state: State, desk: Desk) -> dict[str, Any]:
    """Find faults before anything runs."""
    tools = {**surface(), **_further(desk)}
    check_program(state["source"], tools)
    if not depends_on_measurement(state["source"], tools):
        raise ProgramRejected(["The reply does not depend on any measurement: call a tool that measures the image."])
    return {}


def run(state: State, desk: Desk) -> dict[str, Any]:
    """Run the program in the sandbox, and again under each doubt."""
    site = desk.opened()
    desk.execution, desk.measured = Execution(site, _further(desk)), None
    desk.measured = measure(state["source"], site, desk.sandbox, desk.limits, desk.execution)
    return {}


def _further(desk: Desk) -> Mapping[str, Tool]:
    """Tools that this question has beside the registered ones."""
    eyes = eyes_of(desk.planner)
    return {} if eyes is None else looking(eyes)


def verify(state: State, desk: Desk) -> dict[str, Any]:
    """Hold the reply against its evidence, and against what a rival measures where one was asked for."""
    if desk.measured is None:
        raise RuntimeError("nothing has been measured")
    verify_outcome(desk.measured.outcome)
    rival = rival_of(desk.planner)
    if rival is None:
        return {"status": "answered"}
    return verdict(desk, rival, lambda other: work(other, turns=state.get("turns", [])), build(desk, "answered", None))


def answer(state: State, desk: Desk) -> dict[str, Any]:
    """Say it: the measured value, or why there is none."""
    said = build(desk, state["status"] or "failed", state["reason"])
    desk.answer = said
    if said.status != "answered":
        return {}
    objects = None if desk.measured is None else desk.measured.outcome.reply.objects
    turn = Turn(
        state["question"], state["source"], said.reading or "", said.text, "" if objects is None else objects.name
    )
    return {"turns": [*state.get("turns", []), asdict(turn)]}


def _failed(reason: str) -> dict[str, Any]:
    return {"status": "failed", "reason": reason}


def _node(function: Node) -> Callable[[State, Runtime[Desk]], dict[str, Any]]:
    """A node that is timed and recorded, and whose errors become edges."""

    def node(state: State, runtime: Runtime[Desk]) -> dict[str, Any]:
        desk, name = runtime.context, function.__name__
        tell(Event("begin", name))
        started = time.perf_counter()
        error: str | None = None
        try:
            update = function(state, desk)
        except Refused as refusal:
            error, update = str(refusal), {"status": "refused", "reason": str(refusal)}
        except (BudgetExceeded, ModelError, SandboxUnavailable) as stop:
            error, update = str(stop), _failed(str(stop))
        except (PlanError, VerificationFailed) as fault:
            hints = fault.hints if isinstance(fault, ProgramRejected) else [str(fault)]
            error, update = " ".join(hints), _repair(state, hints)
        seconds = time.perf_counter() - started
        desk.timings[name] = desk.timings.get(name, 0.0) + seconds
        shown = {key: value for key, value in update.items() if key in ("scene", "status", "reason", "hints")}
        tell(Event("end", name, seconds, {**shown, "source": update.get("source"), "error": error}))
        desk.graph_steps.append(Step(name, {}, shown, None, seconds, error, kind="graph"))
        return update

    return node


def _repair(state: State, hints: list[str]) -> dict[str, Any]:
    if len(state["drafts"]) >= MOST_DRAFTS:
        return {"hints": hints, **_failed(f"No working program after {MOST_DRAFTS} drafts. {' '.join(hints)}")}
    return {"hints": hints}


def _onwards(following: str) -> Callable[[State], str]:
    def route(state: State) -> str:
        if state.get("status"):
            return "answer"
        return "plan" if state.get("hints") else following

    return route


@lru_cache(maxsize=2)
def compiled(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Any:
    """The graph, compiled by LangGraph once per process and checkpointer.

    Args:
        checkpointer: keeps the state of threads after every step; None for questions that stand alone.
    """
    graph: Any = StateGraph(State, context_schema=Desk)  # its overloads know no node that is a closure
    nodes: tuple[Node, ...] = (read, plan, check, run, verify, answer)
    for function in nodes:
        graph.add_node(function.__name__, _node(function))
    graph.add_edge(START, "read")
    for here, following in pairwise(node.__name__ for node in nodes):
        graph.add_conditional_edges(here, _onwards(following), sorted({following, "plan", "answer"}))
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=checkpointer)


def work(
    desk: Desk,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    thread: str | None = None,
    turns: Sequence[dict[str, str]] = (),
) -> Answer:
    """Take one question through the graph.

    LangGraph would send traces to a service if the environment asked for it; nothing leaves the process here.

    Args:
        desk: the question.
        checkpointer: keeps the state of threads.
        thread: name of the thread that the question belongs to, with a checkpointer only.
        turns: questions that have been answered before, without a checkpointer only.

    Raises:
        InputError: a file or an option cannot be used.
    """
    with tracing_context(enabled=False), heard_by(everybody(desk.listen, spans())):
        return _worked_on(desk, checkpointer, thread, turns)


def _worked_on(
    desk: Desk, checkpointer: BaseCheckpointSaver[Any] | None, thread: str | None, turns: Sequence[dict[str, str]]
) -> Answer:
    state, started = asked(desk.request.question), time.perf_counter()
    tell(Event("begin", QUESTION, detail={"question": desk.request.question, "image": desk.request.image.name}))
    told: dict[str, Any] = {"error": "The question was given up."}
    try:
        if checkpointer is None:
            compiled().invoke({**state, "turns": list(turns)}, context=desk)
        else:
            kept = {"configurable": {"thread_id": thread}}
            compiled(checkpointer).invoke(state, kept, context=desk, durability="sync")
        if desk.answer is None:
            raise RuntimeError("the graph ended without an answer")
        told = desk.answer.to_json()
    finally:
        tell(Event("end", QUESTION, time.perf_counter() - started, told))
    return desk.answer
