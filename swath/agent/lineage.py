"""Where objects fell out: walks back from an answer through the calls that made it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swath.agent.execution import Ledger
from swath.agent.reasons import Source, measured_reasons
from swath.tools.handles import Mask, Regions
from swath.tools.site import Site

Flow = tuple[int, tuple[Mask | Regions, ...], Mask | Regions]
JOINING = frozenset({"merge", "union"})
"""Tools whose result holds what either input held; all others choose from their first input."""


@dataclass(frozen=True)
class Dropped:
    """Objects that were looked at and are not part of the answer.

    Attributes:
        source: where they come from.
        indices: (n,) which of its objects.
        call: index of the call whose output no longer held them, None where no single call can be named.
        reasons: (n,) in words.
    """

    source: Source
    indices: NDArray[np.int64]
    call: int | None
    reasons: list[str]


def dropped_objects(answer: Mask | Regions, ledger: Ledger, site: Site) -> list[Dropped]:
    """Objects of the answer's sources that are not among its objects, by the call that dropped them.

    An object that several calls dropped counts for the last of them on the way to the answer, then for the last of the
    calls beside it.
    """
    lineage = list(_lineage(answer, ledger))
    beside = [flow for flow in reversed(ledger.flows) if not any(flow is own for own in lineage)]
    found: list[Dropped] = []
    for source in _sources(answer, lineage):
        left = (source.sizes_px > 0) & ~_held(answer, source)
        for flow in (*lineage, *beside):
            if not left.any():
                break
            gone = left & _dropped_by(flow, source)
            if gone.any():
                indices = np.flatnonzero(gone)
                found.append(Dropped(source, indices, flow[0], _reasons(flow, ledger, source, indices, site)))
                left &= ~gone
        if left.any():
            indices = np.flatnonzero(left)
            found.append(Dropped(source, indices, None, ["not chosen by the program"] * len(indices)))
    return found


def _lineage(answer: Mask | Regions, ledger: Ledger) -> Iterator[Flow]:
    """The calls that led to the answer, last first."""
    makers: dict[int, Flow] = {}
    for flow in ledger.flows:
        makers.setdefault(id(flow[2]), flow)
    waiting, seen = [answer], set[int]()
    flows: list[Flow] = []
    while waiting:
        handle = waiting.pop()
        made_by = makers.get(id(handle))
        if id(handle) in seen or made_by is None:
            continue
        seen.add(id(handle))
        flows.append(made_by)
        waiting += made_by[1] if ledger.steps[made_by[0]].name in JOINING else made_by[1][:1]
    yield from sorted(flows, key=lambda flow: -flow[0])


def _sources(answer: Mask | Regions, lineage: list[Flow]) -> list[Source]:
    """The sources of the answer's regions; of a mask, those of the regions that it was made from."""
    handles = [answer] if isinstance(answer, Regions) else [handle for flow in lineage for handle in flow[1]]
    found: dict[int, Source] = {}
    for handle in handles:
        if isinstance(handle, Regions):
            found |= {id(source): source for source in handle.sources}
    return list(found.values())


def _held(handle: Mask | Regions, source: Source) -> NDArray[np.bool_]:
    """(n,) bool: which objects of a source a handle holds; a mask holds those with a pixel in it."""
    if isinstance(handle, Mask):
        return source.touches(handle.pixels)
    held = np.zeros(len(source.sizes_px), dtype=bool)
    for k, own in enumerate(handle.sources):
        if own is source:
            held[handle.indices[handle.which == k]] = True
    return held


def _dropped_by(flow: Flow, source: Source) -> NDArray[np.bool_]:
    _, inputs, output = flow
    if not inputs:
        return np.zeros(len(source.sizes_px), dtype=bool)
    return _held(inputs[0], source) & ~_held(output, source)


def _reasons(flow: Flow, ledger: Ledger, source: Source, indices: NDArray[np.int64], site: Site) -> list[str]:
    """What was measured of each object, else what the call asked for."""
    call, inputs, _ = flow
    step = ledger.steps[call]
    measured = measured_reasons(step.name, step.arguments, inputs, source, indices, site)
    if measured is not None:
        return [f"{step.name}: {reason}" for reason in measured]
    return [_reason(flow, ledger)] * len(indices)


def _reason(flow: Flow, ledger: Ledger) -> str:
    """What the call asked for, in words: tools name their result after what they chose from and how."""
    call, inputs, output = flow
    before, tool = inputs[0].name, ledger.steps[call].name
    if output.name.startswith(before) and output.name != before:
        return f"{tool}: not {output.name.removeprefix(before).strip(' ,')}"
    return f"{tool}: not among {output.name}"
