"""The rights that the launcher takes away, tried out from inside a confined process."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.platform != "linux":
    pytest.skip("Linux only", allow_module_level=True)

from swath.agent import confine
from swath.agent.launch import SCRIPT, Launcher, worker_program

TRUE = "/bin/true"

# Confines itself exactly as a worker is, then tries one thing after another through the C library.
INSIDE = """
import ctypes, errno, importlib.util, json, mmap, os, socket, sys, threading
spec = importlib.util.spec_from_file_location("confine", sys.argv[1])
confine = importlib.util.module_from_spec(spec)
spec.loader.exec_module(confine)
target, parent = sys.argv[2], os.getppid()
os.dup2(os.open("/bin/true", os.O_RDONLY), confine.WORKER_FD, inheritable=False)
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(4096)
active = confine.confine(confine.WORKER_FD)

def outcome(attempt):
    try:
        attempt()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"

def c(function, *arguments):
    def attempt():
        ctypes.set_errno(0)
        if getattr(libc, function)(*arguments) < 0:
            raise OSError(ctypes.get_errno(), function)
    return attempt

started = []
thread = threading.Thread(target=started.append, args=(1,))
thread.start(); thread.join()
tried = {
    "read a file": lambda: os.open(sys.argv[1], os.O_RDONLY),
    "read the parent's environment": lambda: os.open(f"/proc/{parent}/environ", os.O_RDONLY),
    "list a folder": lambda: os.open("/", os.O_RDONLY | os.O_DIRECTORY),
    "read a library": lambda: os.open("/usr/lib", os.O_RDONLY | os.O_PATH),
    "write a file": lambda: os.open(target, os.O_WRONLY | os.O_CREAT),
    "truncate a file": lambda: os.open(sys.argv[1], os.O_RDWR | os.O_TRUNC),
    "delete a file": lambda: os.unlink(target + ".kept"),
    "rename a file": lambda: os.rename(target + ".kept", target),
    "make a folder": lambda: os.mkdir(target),
    "internet socket": lambda: socket.socket(socket.AF_INET),
    "unix socket": lambda: socket.socket(socket.AF_UNIX),
    "socket pair": lambda: socket.socketpair(),
    "fork": lambda: os.fork() or os._exit(0),
    "exec": lambda: os.execv("/bin/true", ["/bin/true"]),
    "exec from a descriptor": c("execveat", 0, b"", None, None, 0x1000),
    "signal the parent": lambda: os.kill(parent, 0),
    "trace the parent": c("ptrace", 16, parent, None, None),
    "read the parent's memory": c("process_vm_readv", parent, None, 0, None, 0, 0),
    "memory that can be executed": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC),
    "raise a limit": c("prlimit", 0, 7, buffer, None),
    "become root": lambda: os.setresuid(0, 0, 0),
    "a namespace of its own": c("unshare", 0x10000000),
    "mount": c("mount", b"none", b"/", b"tmpfs", 0, None),
    "the descriptor that exec may use": lambda: os.dup2(0, confine.WORKER_FD),
    "reboot": c("reboot", 0),
    "io_uring": c("syscall", 425, 1, buffer),
    "bpf": c("syscall", 321, 0, buffer, 64),
    "keys": c("syscall", 250, 0, 0, 0, 0, 0),
}
results = {name: outcome(attempt) for name, attempt in tried.items()}
print(json.dumps({"active": active, "results": results, "threads": started}))
"""


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("confined")
    folder.chmod(0o777)
    (folder / "target.kept").write_text("x")
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", INSIDE, str(SCRIPT), str(folder / "target")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    report: dict[str, Any] = json.loads(run.stdout)
    report["left behind"] = sorted(entry.name for entry in folder.iterdir())
    return report


@pytest.mark.parametrize(
    "attempt",
    [
        "delete a file",
        "rename a file",
        "make a folder",
        "internet socket",
        "unix socket",
        "socket pair",
        "fork",
        "exec",
        "exec from a descriptor",
        "signal the parent",
        "trace the parent",
        "read the parent's memory",
        "memory that can be executed",
        "raise a limit",
        "become root",
        "a namespace of its own",
        "mount",
        "the descriptor that exec may use",
        "write a file",
        "truncate a file",
        "reboot",
        "io_uring",
        "bpf",
        "keys",
    ],
)
def test_the_kernel_refuses(inside: dict[str, Any], attempt: str) -> None:
    if "seccomp" not in inside["active"]:
        pytest.skip("this system has no seccomp filters")
    # Limits are read and set by one call, for which the filter looks at the arguments; all refusals are its own.
    assert inside["results"][attempt] == "EPERM"
    assert inside["left behind"] == ["target.kept"]


@pytest.mark.parametrize("attempt", ["read a file", "read the parent's environment", "list a folder"])
def test_landlock_refuses(inside: dict[str, Any], attempt: str) -> None:
    if not any(measure.startswith("landlock") for measure in inside["active"]):
        pytest.skip("this system has no Landlock")
    assert inside["results"][attempt] == "EACCES"


def test_what_the_worker_needs_stays_possible(inside: dict[str, Any]) -> None:
    assert inside["results"]["read a library"] == "done"
    assert inside["threads"] == [1]


def test_limits_hold_wherever_there_are_any(inside: dict[str, Any]) -> None:
    assert {"rlimits", "no_new_privs"} <= set(inside["active"])


def launched(tmp_path: Path, program: str, *arguments: str) -> tuple[subprocess.CompletedProcess[str], str]:
    report = tmp_path / "report"
    command = [sys.executable, "-I", "-S", str(SCRIPT), program, str(report), *arguments]
    environment = {"PATH": os.defpath, "SWATH_SECRET": "hunter2", "PYTHONSTARTUP": "/nonexistent"}
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    return run, report.read_text()


def test_a_shell_in_the_place_of_the_worker_can_only_talk(tmp_path: Path) -> None:
    script = """
echo "secret=$SWATH_SECRET"
(echo forked) 2>/dev/null
read line < /etc/passwd && echo "read $line"
echo x > made && echo wrote
kill -9 $PPID && echo killed
exec /bin/true
"""
    run, report = launched(tmp_path, "/bin/sh", "-c", script)
    if "seccomp" not in report:
        pytest.skip("this system has no seccomp filters")
    assert run.stdout == "secret=\n"
    assert run.stderr == ""
    assert run.returncode != 0
    assert report.split("\n")[0] == "rlimits"


def test_a_program_starts_with_its_arguments(tmp_path: Path) -> None:
    run, _ = launched(tmp_path, "/bin/sh", "-c", 'echo "$0" "$1"', "a b", "c")
    assert (run.returncode, run.stdout) == (0, "a b c\n")


def test_a_missing_program_is_a_failure(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", str(SCRIPT), str(tmp_path / "none"), str(tmp_path / "report")]
    assert subprocess.run(command, capture_output=True, timeout=60).returncode != 0


def test_the_loader_of_a_program_is_found() -> None:
    worker = worker_program()
    assert worker is not None
    fd = os.open(worker, os.O_RDONLY)
    try:
        loader = confine.interpreter_of(fd)
    finally:
        os.close(fd)
    assert Path(loader).name.startswith("ld-")


def test_the_launcher_leaves_nothing_behind() -> None:
    with Launcher() as launcher:
        assert launcher.program is not None
        folder = launcher.program.parent
        assert folder.stat().st_mode & 0o777 == 0o700
        assert launcher.report() == ()
    assert not folder.exists()


# --- the filter itself, read by a small interpreter of its instructions: both machines, whatever runs the test --------


def verdict(machine: str, number: int, *arguments: int, arch: int | None = None) -> int:
    """What the filter says of one system call."""
    data = {0: number, 4: confine.AUDIT_ARCH[machine] if arch is None else arch}
    for i, argument in enumerate((*arguments, 0, 0, 0, 0, 0, 0)[:6]):
        data[16 + 8 * i], data[20 + 8 * i] = argument & 0xFFFFFFFF, argument >> 32 & 0xFFFFFFFF
    program, accumulator, at = confine.filter_program(machine), 0, 0
    while True:
        code, if_true, if_false, constant = program[at]
        at += 1
        if code == 0x20:
            accumulator = data[constant]
        elif code == 0x54:
            accumulator &= constant
        elif code == 0x15:
            at += if_true if accumulator == constant else if_false
        else:
            assert code == 0x06
            return constant


MACHINES = pytest.mark.parametrize(("machine", "column"), [("x86_64", 0), ("aarch64", 1)])
ON_BOTH = {
    "socket": (41, 198),
    "connect": (42, 203),
    "execve": (59, 221),
    "ptrace": (101, 117),
    "kill": (62, 129),
    "tkill": (200, 130),
    "unlinkat": (263, 35),
    "openat2": (437, 437),
    "memfd_create": (319, 279),
    "io_uring_setup": (425, 425),
    "bpf": (321, 280),
    "pidfd_open": (434, 434),
    "process_vm_writev": (311, 271),
    "setns": (308, 268),
    "mount": (165, 40),
    "dup3": (292, 24),
    "seccomp": (317, 277),
    "ioctl": (16, 29),
    "shmat": (30, 196),
    "perf_event_open": (298, 241),
}


@MACHINES
@pytest.mark.parametrize("name", ON_BOTH)
def test_the_filter_refuses(machine: str, column: int, name: str) -> None:
    assert verdict(machine, ON_BOTH[name][column]) == confine.REFUSE


@MACHINES
@pytest.mark.parametrize("name", confine.FREE_CALLS)
def test_the_filter_allows_what_computes_and_talks(machine: str, column: int, name: str) -> None:
    number = confine.FREE_CALLS[name][column]
    if number is not None:
        assert verdict(machine, number) == confine.ALLOW
        assert verdict(machine, number, arch=0x40000003) == confine.KILL


@MACHINES
def test_the_filter_looks_at_arguments(machine: str, column: int) -> None:
    allowed, refused = confine.ALLOW, confine.REFUSE
    openat, clone, prlimit = confine.OPENAT[column], confine.CLONE[column], confine.PRLIMIT[column]
    execveat, prctl, fcntl = confine.EXECVEAT[column], confine.PRCTL[column], confine.FCNTL[column]
    tgkill, mmap, mprotect = confine.TGKILL[column], confine.MMAP[column], confine.MPROTECT[column]
    assert verdict(machine, openat, 0, 0, os.O_RDONLY | os.O_CLOEXEC) == allowed
    for flag in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, os.O_APPEND, os.O_TMPFILE | os.O_RDWR):
        assert verdict(machine, openat, 0, 0, flag) == refused
    assert verdict(machine, clone, 0x3D0F00) == allowed
    assert verdict(machine, clone, 17) == refused
    assert verdict(machine, clone, 0x3D0F00 | 0x10000000) == refused
    assert verdict(machine, confine.CLONE3[column]) == confine.NOT_THERE
    assert verdict(machine, prlimit, 0, 7, 0) == allowed
    assert verdict(machine, prlimit, 0, 7, 0x1_0000_0000) == refused
    assert verdict(machine, prlimit, 1, 7, 0) == refused
    assert verdict(machine, execveat, confine.WORKER_FD, 0, 0, 0, 0x1000) == allowed
    assert verdict(machine, execveat, 3, 0, 0, 0, 0x1000) == refused
    assert verdict(machine, execveat, confine.WORKER_FD, 0, 0, 0, 0) == refused
    assert verdict(machine, prctl, confine.PR_SET_NAME) == allowed
    assert verdict(machine, prctl, 4) == refused
    assert verdict(machine, fcntl, 3, 1) == allowed
    assert verdict(machine, fcntl, 3, 8) == refused
    assert verdict(machine, tgkill, os.getpid()) == allowed
    assert verdict(machine, tgkill, os.getpid() + 1) == refused
    for prot, flags in ((3, 0x22), (5, 2)):
        assert verdict(machine, mmap, 0, 4096, prot, flags) == allowed
    assert verdict(machine, mprotect, 0, 4096, 3) == allowed


def test_the_filter_keeps_data_from_becoming_code() -> None:
    mmap, mprotect = confine.MMAP[0], confine.MPROTECT[0]
    assert verdict("x86_64", mprotect, 0, 4096, 5) == confine.REFUSE
    assert verdict("x86_64", mmap, 0, 4096, 7, 2) == confine.REFUSE
    assert verdict("x86_64", mmap, 0, 4096, 5, 0x22) == confine.REFUSE


def test_an_unknown_machine_has_no_filter() -> None:
    with pytest.raises(OSError, match="no system call numbers for riscv64") as caught:
        confine.filter_program("riscv64")
    assert caught.value.errno == errno.ENOSYS


def test_measures_that_a_system_lacks_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: object) -> str:
        raise OSError(errno.ENOSYS, "not here")

    names = ("limit_resources", "no_new_privileges", "drop_capabilities", "drop_identity", "landlock", "seccomp")
    for name in names:
        monkeypatch.setattr(confine, name, lacking)
    monkeypatch.setattr(confine, "seccomp", lambda: "seccomp")
    assert confine.confine(0) == ["seccomp"]
    assert ctypes.sizeof(ctypes.c_void_p) == 8  # the pointers in the filter's header
