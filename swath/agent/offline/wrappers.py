"""What people put around a question to be polite or careful: "could one fairly say that", "we hope to learn whether".

Composed from kinds of words, so that no list of whole phrases has to foresee them. A wrapper says who asks whom and
that it is a question; it never holds a thing, an amount, a comparison or a negation, and "will" alone is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from swath.agent.offline.words import Word

_MODAL = "can could would may might shall should did does do have has am is are"
_PERSON = "you u i we one anyone anybody someone somebody"
_ADVERB = (
    "please kindly possibly perhaps fairly safely honestly truthfully just maybe really also quickly dearly very much "
    "ever therefore rightly reasonably"
)
_REQUEST = (
    "tell say check confirm know agree establish claim write argue state estimate calculate determine give report "
    "verify learn ask conclude describe provide compute measure quantify specify assess evaluate understand hear "
    "find-out work-out figure-out let have-a-look-and-tell see-whether see-if"
)
_WISH = (
    "like love want need wish hope wonder wondering hoping trying asked looking interested curious glad grateful "
    "happy keen pleased eager"
)
_SPEAKER = (
    "neighbour neighbours neighbor neighbors critics readers editor boss client colleague colleagues friend friends "
    "someone somebody residents locals teacher brother father wife husband agent opponents activists people they"
)
_SAYING = "says say said claims claim claimed thinks think believes believe tells tell told insists argue argues"
_TRUE = "true fair correct right accurate safe case so reasonable wrong-to-think"


def _one_of(words: str) -> str:
    return "(?:" + "|".join(word.replace("-", " ") for word in sorted(words.split(), key=len, reverse=True)) + ")"


_ADVERBS = f"(?: {_one_of(_ADVERB)})*"
_ASKED = (
    f"(?: (?:be able to|be so kind as to|be so good as to|be good enough to|help(?: me| us)?(?: to)?))?{_ADVERBS}"
    f" {_one_of(_REQUEST)}(?: (?:me|us|him|her))?(?: know)?(?: please)?(?: (?:whether|if|that|about))?"
)
_IDEA = r"(?: (?:any|an)? ?idea(?: of| as to)?(?: whether| if)?)"
_FORMS = (
    f"{_one_of(_MODAL)} {_one_of(_PERSON)}{_ADVERBS}(?:{_ASKED}|(?: got| have)?{_IDEA})",
    f"(?:i|we)(?: am| m| are| re| was| were| would| d| should| do| have| ve)?(?: be| been)?{_ADVERBS} {_one_of(_WISH)}"
    f"{_ADVERBS}(?: for)?(?: you)?(?:(?: to| in|(?: if)? you (?:could|would|can)){_ASKED}|(?: whether| if))",
    f"(?:is|was|would) it(?: be)?{_ADVERBS} {_one_of(_TRUE)}(?: to (?:say|claim|think|speak|write|state|conclude))?"
    "(?: that| of)?",
    "(?:am i|are we) (?:right|correct)(?: in)?(?: (?:supposing|thinking|saying|assuming|believing))?(?: that)?",
    f"(?:is|am|are) (?:that|this|it|i|we) {_one_of(_TRUE)}",
    "(?:any|an) idea(?: of)?",
    "true or false|(?:is it )?true|yes or no",
)
_SAID = re.compile(
    f"(?:(?:my|our|some|a|many|most) )?{_one_of(_SPEAKER)} {_one_of(_SAYING)}(?: (?:me|us))?(?: that)?(?![^ ])"
)
"""What others say is asked about only where nothing follows but "is that so?"."""
_WRAPPER = re.compile("|".join(f"(?:{form})(?![^ ])" for form in _FORMS))
_LONGEST = 18
_STOPS = frozenset(".,;:!?-(")
_STOPPING = frozenset(".;!?")


def without_wrappers(words: Sequence[Word]) -> list[Word]:
    """The words of a question without polite wrappers at the beginning of a sentence or a clause."""
    found = _stripped(words, _WRAPPER)
    if not any(_STOPPING & set(word.mark) for word in found):
        found = _stripped(found[:_LONGEST], _SAID) + found[_LONGEST:]
    return found or list(words)


def _stripped(words: Sequence[Word], wrapper: re.Pattern[str]) -> list[Word]:
    found: list[Word] = []
    at = 0
    mark = ""
    while at < len(words):
        begins = at == 0 or bool(mark) or bool(_STOPS & set(words[at].mark))
        length = _length(words, at, wrapper) if begins else 0
        if length:
            mark += words[at].mark
            at += length
            continue
        word = words[at]
        found.append(replace(word, mark=mark + word.mark) if mark else word)
        mark = ""
        at += 1
    return found


def _length(words: Sequence[Word], at: int, wrapper: re.Pattern[str]) -> int:
    """How many words the longest wrapper takes that begins here; none across a punctuation mark."""
    end = at + 1
    while end < len(words) and end - at < _LONGEST and not _STOPS & set(words[end].mark):
        end += 1
    match = wrapper.match(" ".join(word.text for word in words[at:end]))
    return len(match.group().split()) if match else 0
