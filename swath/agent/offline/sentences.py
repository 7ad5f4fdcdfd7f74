"""Says in one plain phrase what a program measures: "buildings larger than 0.008 ha within 30 m of road"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.phrases import (
    amount,
    class_names,
    is_plain,
    joined,
    narrowed,
    number,
    one_of,
    plainly,
    thing,
    things,
    with_article,
)
from swath.agent.offline.seen import sentences as seen_sentences
from swath.agent.offline.trees import things_in

_OPERATORS = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most", "==": "equal to"}


def reading(answer: q.Answer) -> str:
    """What is measured, as a noun phrase."""
    if isinstance(answer, q.Choice):
        return _choice(answer)
    if isinstance(answer, q.Ranking):
        return _ranking(answer)
    if isinstance(answer, q.Fragmentation):
        return f"whether {_the(answer.thing)} {_verb(answer.thing)} one connected region or several"
    if isinstance(answer, q.PresentClasses):
        return "classes that occur in the image"
    if isinstance(answer, q.Areas):
        return f"areas of {things(answer.thing)}, one by one"
    if isinstance(answer, q.Several):
        return "; ".join(number(measure) for measure in answer.measures)
    if isinstance(answer, q.Exists | q.Compared | q.Connected | q.AllOf | q.AnyOf | q.Denied | q.SeenClaim):
        return f"whether {claim(answer)}"
    return number(answer)


def _choice(choice: q.Choice) -> str:
    """Which of several names has most of what is measured of each."""
    superlative = "largest" if choice.most else "smallest"
    of = " or ".join(choice.names)
    if choice.said:
        return f"{choice.said}: {of}"
    if all(isinstance(measure, q.Area | q.Count) and is_plain(measure.thing) for measure in choice.measures):
        kind = "area" if isinstance(choice.measures[0], q.Area) else "number of regions"
        return f"which has the {superlative} {kind}: {of}"
    return f"which is the {superlative}: {' or '.join(dict.fromkeys(map(number, choice.measures)))}"


def _ranking(ranking: q.Ranking) -> str:
    order = "largest to smallest" if ranking.most else "smallest to largest"
    which = "" if ranking.last is None else f", from place {ranking.first + 1} to {ranking.last}"
    place = narrowed("", next(things_in(ranking.measures)).steps)
    without = f", without {joined(ranking.without)}" if ranking.without else ""
    return f"classes in the order of their area{place}, {order}{which}{without}"


def claim(of: q.Claim) -> str:
    """A claim as a clause."""
    if isinstance(of, q.Exists):
        return _exists(of.thing)
    if isinstance(of, q.Compared):
        right = amount(of.right) if isinstance(of.right, m.Amount) else with_article(of.right)
        return f"the {number(of.left)} is {_OPERATORS[of.operator]} {right}"
    if isinstance(of, q.Connected):
        return f"{_the(of.thing)} {_verb(of.thing)} one connected region"
    if isinstance(of, q.SeenClaim):
        return seen_sentences.claim(of, thing)
    if isinstance(of, q.Denied) and isinstance(of.claim, q.Exists):
        return _exists(of.claim.thing, denied=True)
    if isinstance(of, q.Denied):
        return f"it is not so that {claim(of.claim)}"
    word = " and " if isinstance(of, q.AllOf) else " or "
    return word.join(claim(one) for one in of.claims)


def _exists(of: m.Thing, *, denied: bool = False) -> str:
    """That there is such a thing, or that what was picked fulfils what is said after it."""
    steps = plainly(of).steps
    picks = [at for at, step in enumerate(steps) if isinstance(step, m.Pick)]
    if any(isinstance(step, m.SeenStep) for step in steps) or of.inverted or of.everything:
        return f"there is {'no ' if denied else ''}{thing(plainly(of))}"
    if picks and picks[-1] + 1 < len(steps):
        picked = things(replace(of, steps=steps[: picks[-1] + 1]))
        rest = narrowed("", steps[picks[-1] + 1 :]).strip()
        if pick_count(steps) > 1:
            return f"{'none' if denied else 'at least one'} of {picked} is {rest}"
        return f"{picked} is {'not ' if denied else ''}{rest}"
    if picks:
        return f"there is {'no such object as ' if denied else ''}{things(plainly(of))}"
    if of.objects or any(isinstance(step, m.Size | m.Overlapping) for step in steps):
        said = narrowed(" or ".join(one_of(word) for word in of.classes), steps)
        return f"there is {'no' if denied else 'at least one'} {said}"
    return f"there is {'no ' if denied else ''}{narrowed(class_names(of, plural=False), steps)}"


def pick_count(steps: Sequence[m.Step]) -> int:
    """How many things are picked."""
    pick = next(step for step in reversed(steps) if isinstance(step, m.Pick))
    return 1 if pick.which.startswith("nth") else pick.n


def _the(of: m.Thing) -> str:
    """A thing with an article."""
    said = things(of) if of.objects else thing(of)
    return said if said.startswith("the ") else f"the {said}"


def _verb(of: m.Thing) -> str:
    if of.picked:
        return "is" if pick_count(of.steps) == 1 else "are"
    sized = any(isinstance(step, m.Size | m.Overlapping | m.Whole) for step in of.steps)
    return "are" if of.objects or sized else "is"
