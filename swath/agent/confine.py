"""Takes rights away from a process, then turns it into the sandbox worker. A script for Linux, standard library only.

    python -I -S confine.py WORKER REPORT [ARGUMENT ...]

Every measure is tried on its own: a kernel or a container that lacks one still gets the others. What took hold is
written to REPORT, one line each, before the worker starts. Numbers are those of the kernel's headers
(`linux/seccomp.h`, `linux/landlock.h`, `linux/prctl.h`, `asm/unistd.h`).
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import struct
import sys

OPEN_FILES = 64
WORKER_FD = 200  # above every descriptor that the confined process can own: see the rule for execveat
REPORT_BYTES = 4096
ADDRESS_SPACE = 2**30
CPU_SECONDS = 900  # over a worker's whole life of about a hundred runs
NOBODY = 65534
LIBRARIES = ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store", "/gnu/store")
LOADER_FILES = ("/etc/ld.so.cache", "/proc/self/maps")

ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
NOT_THERE = 0x00050000 | errno.ENOSYS
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
COLUMN = {"x86_64": 0, "aarch64": 1}

# Numbers on (x86_64, aarch64). What a single-purpose interpreter needs to start, to compute, to talk over its pipes.
FREE_CALLS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67), "lseek": (8, 62),
    "close": (3, 57), "fstat": (5, 80), "newfstatat": (262, 79), "poll": (7, None), "ppoll": (271, 73),
    "munmap": (11, 215), "brk": (12, 214), "mremap": (25, 216), "madvise": (28, 233), "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132), "futex": (202, 98),
    "set_robust_list": (273, 99), "rseq": (334, 293), "set_tid_address": (218, 96), "membarrier": (324, 283),
    "arch_prctl": (158, None), "getrandom": (318, 278), "getpid": (39, 172), "gettid": (186, 178),
    "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177), "uname": (63, 160),
    "getrlimit": (97, 163), "sched_getaffinity": (204, 123), "sched_yield": (24, 124), "clock_gettime": (228, 113),
    "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "nanosleep": (35, 101), "gettimeofday": (96, 169),
    "restart_syscall": (219, 128), "exit": (60, 93), "exit_group": (231, 94),
}  # fmt: skip
OPEN, OPENAT, MMAP, MPROTECT = (2, None), (257, 56), (9, 222), (10, 226)
CLONE, CLONE3, PRLIMIT, PRCTL = (56, 220), (435, 435), (302, 261), (157, 167)
TGKILL, FCNTL, EXECVEAT = (234, 131), (72, 25), (322, 281)
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446

PR_SET_NAME, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 15, 22, 24, 38, 47
PR_SET_VMA = 0x53564D41

Instruction = tuple[int, int, int, int]

_libc = ctypes.CDLL(None, use_errno=True)


def _syscall(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _prctl(option: int, *arguments: int) -> None:
    padded = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    if _libc.prctl(ctypes.c_int(option), *padded) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


# --- limits and identity -------------------------------------------------------------------------------------------


def limit_resources() -> str:
    """Address space, processor time, open files; files of a report's size, no core dump, no locked memory."""
    wanted = {
        "RLIMIT_AS": ADDRESS_SPACE,
        "RLIMIT_CPU": CPU_SECONDS,
        "RLIMIT_NOFILE": OPEN_FILES,
        "RLIMIT_FSIZE": REPORT_BYTES,
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
    }
    for name, value in wanted.items():
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (ceiling, ceiling))
    return "rlimits"


def drop_identity(worker_fd: int) -> str:
    """Become nobody, where that keeps the worker executable and the parent able to end it (CAP_KILL)."""
    effective = int(_status_field("CapEff"), 16)
    needed = (1 << 5) | (1 << 6) | (1 << 7)  # CAP_KILL, CAP_SETGID, CAP_SETUID
    if os.geteuid() != 0 or effective & needed != needed:
        raise OSError(errno.EPERM, "not root")
    if os.fstat(worker_fd).st_mode & 0o005 != 0o005:
        raise OSError(errno.EACCES, "the worker may only be run by its owner")
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    return "user nobody"


def drop_capabilities() -> str:
    """Empty the bounding and ambient sets, so that exec gives nothing back even to root."""
    _prctl(PR_CAP_AMBIENT, 4)
    if os.geteuid() == 0 and int(_status_field("CapBnd"), 16):
        for capability in range(int(_last_capability()) + 1):
            _prctl(PR_CAPBSET_DROP, capability)
    return "no capabilities"


def _status_field(name: str) -> str:
    with open("/proc/self/status") as status:  # noqa: PTH123 - pathlib would double the start-up time
        return next(line.split()[1] for line in status if line.startswith(name + ":"))


def _last_capability() -> str:
    with open("/proc/sys/kernel/cap_last_cap") as last:  # noqa: PTH123 - as above
        return last.read()


def no_new_privileges() -> str:
    """No setuid program can raise rights any more; Landlock and seccomp ask for it."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    return "no_new_privs"


# --- Landlock: which files can be opened ---------------------------------------------------------------------------

EXECUTE, READ_FILE = 1, 4


def landlock(worker_fd: int) -> str:
    """Allow reading shared libraries and executing the worker; no other file, no TCP, no signal to others."""
    version = _syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1))
    files = (1 << 13) - 1
    files |= sum(1 << bit for bit, since in ((13, 2), (14, 3), (15, 5)) if version >= since)
    network = 0b11 if version >= 4 else 0
    scoped = 0b11 if version >= 6 else 0
    attributes = struct.pack("=QQQ", files, network, scoped)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = _syscall(LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0))
    for path in (*LIBRARIES, *LOADER_FILES):
        _permit(ruleset, path, READ_FILE)
    for path in (f"/proc/self/fd/{worker_fd}", interpreter_of(worker_fd)):
        _permit(ruleset, path, READ_FILE | EXECUTE)
    _syscall(LANDLOCK_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint(0))
    os.close(ruleset)
    return f"landlock (ABI {version})"


def _permit(ruleset: int, path: str, access: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rule = struct.pack("=Qi", access, fd)
        _syscall(LANDLOCK_ADD, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint(0))
    finally:
        os.close(fd)


def interpreter_of(worker_fd: int) -> str:
    """Path of the dynamic loader that a 64-bit ELF file names, "" for a static one."""
    header = os.pread(worker_fd, 64, 0)
    table, entry_size, entries = (
        int.from_bytes(header[32:40], "little"),
        *struct.unpack_from("<HH", header, 54),
    )
    for i in range(entries):
        kind, _, offset, _, _, size = struct.unpack("<IIQQQQ", os.pread(worker_fd, 40, table + i * entry_size))
        if kind == 3:
            return os.pread(worker_fd, size, offset).rstrip(b"\0").decode()
    return ""


# --- seccomp: which system calls can be made -----------------------------------------------------------------------


def seccomp() -> str:
    """Refuse every system call that is not on the list: sockets, new processes, ptrace, writing to files ..."""
    program = filter_program(os.uname().machine)
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    pointer = struct.pack("@HP", len(program), ctypes.addressof(buffer))
    header = ctypes.create_string_buffer(pointer, len(pointer))
    _prctl(PR_SET_SECCOMP, 2, ctypes.addressof(header))
    return "seccomp"


def filter_program(machine: str) -> list[Instruction]:
    """The filter as classic BPF instructions (code, jump if true, jump if false, constant).

    Raises:
        OSError: system call numbers of this machine are not known here.
    """
    if machine not in COLUMN:
        raise OSError(errno.ENOSYS, f"no system call numbers for {machine}")
    column = COLUMN[machine]
    program = [_load(4), (0x15, 1, 0, AUDIT_ARCH[machine]), _end(KILL), _load(0)]
    for numbers in FREE_CALLS.values():
        program += _rule(numbers[column])
    for numbers, tests in _conditional(machine):
        program += _rule(numbers[column], *tests)
    clone3 = CLONE3[column]
    program += [_unless_equal(clone3, 1), _end(NOT_THERE), _end(REFUSE)]  # glibc then falls back to clone
    return program


Test = tuple[int, int, int]  # argument (0 to 5), mask, value: passes where argument & mask == value


def _conditional(machine: str) -> list[tuple[tuple[int | None, int | None], tuple[Test, ...]]]:
    """Calls that are allowed only with some arguments."""
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    rules: list[tuple[tuple[int | None, int | None], tuple[Test, ...]]] = [
        (OPEN, ((1, writing, 0),)),
        (OPENAT, ((2, writing, 0),)),
        # Threads of this process, never a process, never a namespace.
        (CLONE, ((0, 0x10000, 0x10000), (0, 0x7E020000, 0))),
        (TGKILL, ((0, 0xFFFFFFFF, os.getpid()),)),
        (PRLIMIT, ((0, 0xFFFFFFFF, 0), (2, 0xFFFFFFFF, 0), (2 + HIGH, 0xFFFFFFFF, 0))),
        # The one exec: the worker's descriptor, which exec closes and whose number is above the limit of open files.
        (EXECVEAT, ((0, 0xFFFFFFFF, WORKER_FD), (4, 0xFFFFFFFF, 0x1000))),
    ]
    rules += [(PRCTL, ((0, 0xFFFFFFFF, option),)) for option in (PR_SET_NAME, PR_SET_VMA)]
    rules += [(FCNTL, ((1, 0xFFFFFFFF, command),)) for command in (1, 2, 3, 1030)]
    if machine == "x86_64":  # elsewhere loaders mark code pages themselves (branch targets)
        rules += [
            (MPROTECT, ((2, 4, 0),)),
            (MMAP, ((2, 4, 0),)),
            (MMAP, ((2, 6, 4), (3, 0x20, 0))),  # code comes from files and is not writable
        ]
    else:
        rules += [(MPROTECT, ()), (MMAP, ())]
    return rules


HIGH = 100  # marks the upper half of an argument


def _rule(number: int | None, *tests: Test) -> list[Instruction]:
    """Allow a call if all tests pass; else go on to the next rule with the call's number loaded again."""
    if number is None:
        return []
    body: list[Instruction] = []
    for i, (argument, mask, value) in enumerate(tests):
        half = 4 if argument >= HIGH else 0
        left = 3 * (len(tests) - i - 1) + 1  # instructions between this test and the reload
        body += [_load(16 + 8 * (argument % HIGH) + half), (0x54, 0, 0, mask), (0x15, 0, left, value)]
    body.append(_end(ALLOW))
    if tests:
        body.append(_load(0))
    return [_unless_equal(number, len(body)), *body]


def _load(offset: int) -> Instruction:
    return (0x20, 0, 0, offset)


def _unless_equal(value: int, skip: int) -> Instruction:
    return (0x15, 0, skip, value)


def _end(verdict: int) -> Instruction:
    return (0x06, 0, 0, verdict)


# --- the whole -----------------------------------------------------------------------------------------------------


def confine(worker_fd: int) -> list[str]:
    """Apply every measure that this system has to the calling process.

    Args:
        worker_fd: the worker's program, open for reading.

    Returns:
        Names of the measures that took hold.
    """
    active = []
    for measure in (
        limit_resources,
        no_new_privileges,
        drop_capabilities,
        lambda: drop_identity(worker_fd),
        lambda: landlock(worker_fd),
        seccomp,
    ):
        try:
            active.append(measure())
        except (OSError, ValueError):
            continue
    return active


def main(worker: str, report: str, *arguments: str) -> None:
    """Confine this process and become the worker, with an empty environment, in `/`, silent on standard error."""
    silence = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    os.dup2(silence, 2)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft <= WORKER_FD < hard:  # the worker's own limit is set below
        resource.setrlimit(resource.RLIMIT_NOFILE, (WORKER_FD + 1, hard))
    report_fd = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    os.closerange(3, report_fd)
    os.closerange(report_fd + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    opened = os.open(worker, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(opened, WORKER_FD, inheritable=False)
    os.close(opened)
    os.chdir("/")
    active = confine(WORKER_FD)
    os.write(report_fd, "\n".join(active).encode())
    argv = (ctypes.c_char_p * (len(arguments) + 2))(os.fsencode(worker), *map(os.fsencode, arguments), None)
    environment = (ctypes.c_char_p * 1)(None)
    execveat = EXECVEAT[COLUMN.get(os.uname().machine, 0)]
    _syscall(execveat, ctypes.c_int(WORKER_FD), b"", argv, environment, ctypes.c_int(0x1000))


if __name__ == "__main__":
    main(*sys.argv[1:])
