"""Every error that swath raises on purpose.

SwathError                    exit 1   anything that went wrong and has a sentence
├── InputError                exit 2   a file or an option cannot be used as given
├── Refused                   exit 3   it cannot be measured from this image; says why and what would help
│   ├── UnknownClass                   it names a class that the source of classes does not know
│   └── ModelMissing                   the files of a model that it takes are not where they belong
├── SandboxUnavailable        exit 1   no isolated worker can be started, so no program is run
├── VerificationFailed        exit 1   the program's reply contradicts its own evidence
├── ModelError                exit 1   a language model could not be asked, or gave nothing usable
│   └── CutOff                         its reply was longer than it may be
└── PlanError                          has the planner for its audience: it comes back as a hint
    ├── ProgramRejected                the checker found faults before anything ran
    ├── ProgramFailed                  the program raised inside the sandbox
    ├── ToolError                      a tool was called with something that it cannot use
    └── BudgetExceeded                 calls, seconds, bytes or output ran out

`Refused` and `InputError` end a run at once, `PlanError` sends it back to the planner while attempts remain.
"""

from __future__ import annotations


class SwathError(Exception):
    """Base of all; its message is one sentence fit for a person: what, where, what next."""

    exit_status = 1


class InputError(SwathError):
    """A file or an option cannot be used as given."""

    exit_status = 2


class Refused(SwathError):
    """The question cannot be measured from this image; the message says why and what would help."""

    exit_status = 3


class UnknownClass(Refused):
    """The question names a class that the source of classes does not know."""


class ModelMissing(Refused):
    """The files of a model are not where they belong; the message says which and where."""


class SandboxUnavailable(SwathError):
    """No isolated worker can be started; programs are never run without one."""


class VerificationFailed(SwathError):
    """What the program replied contradicts what its tools measured."""


class ModelError(SwathError):
    """A language model could not be asked, or its server gave nothing usable."""


class CutOff(ModelError):
    """A reply of a language model was longer than it may be.

    Attributes:
        text: what came before it was cut off.
    """

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text


class PlanError(SwathError):
    """A fault in a program; the message is a hint to whoever wrote it."""


class ProgramRejected(PlanError):
    """The static checker found faults; nothing was run.

    Attributes:
        hints: one sentence per fault, each with its line number.
        source: the program, or what was sent instead of one.
    """

    def __init__(self, hints: list[str], source: str = "") -> None:
        super().__init__(" ".join(hints))
        self.hints = hints
        self.source = source


class ProgramFailed(PlanError):
    """The program raised inside the sandbox, or ended without a reply."""


class ToolError(PlanError):
    """A tool was called with something that it cannot use."""


class BudgetExceeded(PlanError):
    """The program used up its calls, seconds, bytes or output."""
