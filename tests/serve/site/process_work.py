"""What the tests of processes let them do."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from swath.errors import InputError


def double(say: Any, number: int) -> int:
    say({"at": number})
    return 2 * number


def refuse(say: Any) -> None:
    raise InputError("This cannot be. Next: something else.")


def break_off(say: Any) -> None:
    raise ZeroDivisionError("seven by zero")


def die(say: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fill_memory(say: Any) -> int:
    return len(bytearray(8 * 2**30))


def never_end(say: Any) -> None:
    say("begun")
    while True:
        time.sleep(0.01)
