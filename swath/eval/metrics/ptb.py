"""Words of a caption, close to the Penn Treebank tokens that the COCO caption measures are computed on."""

from __future__ import annotations

import re

_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "–": " -- ", "—": " -- ", "…": " ... "})
_CLITIC = r"n't|'(?:s|m|d|re|ve|ll)"
_TOKEN = re.compile(
    rf"""
    (?:[^\W\d_]\.){{2,}}                                  # u.s., a.m.
  | \d+(?:[.,:/]\d+)+ | \d+(?:-\w+)+                      # 1,234.5, 10:30, 1/2, 3-story
  | [^\W_]+?(?=(?:{_CLITIC})\b)                           # do of don't, it of it's
  | (?:{_CLITIC})\b
  | [^\W²³]+(?:[-./&][^\W²³]+)*                                     # state-of-the-art, a/b, r&d
  | [%$#&@+=*/<>|~^²³°]
    """,
    re.VERBOSE,
)
_SPLIT = {"cannot": ("can", "not"), "gonna": ("gon", "na"), "wanna": ("wan", "na"), "gotta": ("got", "ta")}
_BRACKETS = {"(": " -lrb- ", ")": " -rrb- ", "[": " -lsb- ", "]": " -rsb- ", "{": " -lcb- ", "}": " -rcb- "}


def tokens(text: str) -> list[str]:
    """The words of a text in lower case, clitics apart ("do n't", "it 's"), punctuation left out.

    Brackets stay, as "-lrb-" and the like: the official list of punctuation has them in capitals, so that they are
    never left out there. Stanford's tokenizer knows more abbreviations; on captions the two rarely differ.
    """
    plain = text.lower().translate(_QUOTES)
    for bracket, name in _BRACKETS.items():
        plain = plain.replace(bracket, name)
    found: list[str] = []
    for token in plain.split():
        parts = [token] if re.fullmatch("-[lr][rsc]b-", token) else _TOKEN.findall(token)
        for part in parts:
            found += _SPLIT.get(part, (part,))
    return found
