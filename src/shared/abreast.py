"""Several kits at a time, each in a process of its own, heard in their order.

What one kit says is held until those before it have spoken, so the output is that of one after the other.
"""
import concurrent.futures
import contextlib
import io
import os
import signal
import sys


def each(action, names):
    """Yield `action(name)` for each name in order, what it printed passed on just before.

    Where there is one processor, or one name, nothing is started. A caller who stops listening leaves the rest undone.
    """
    at_once = min(len(names), _processors())
    if at_once < 2:
        yield from map(action, names)
        return
    with concurrent.futures.ProcessPoolExecutor(at_once, initializer=_quiet_end) as pool:
        try:
            with _no_interruption():
                heard = pool.map(_overhear, [action] * len(names), names)
            for found, said, complained in heard:
                sys.stderr.write(complained)
                sys.stdout.write(said)
                yield found
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _overhear(action, name):
    """(what came of one name, what it printed, what it printed on standard error)."""
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()) as complained:
        found = action(name)
    return found, said.getvalue(), complained.getvalue()


@contextlib.contextmanager
def _no_interruption():
    """Keep Ctrl-C until the processes are started: in the middle of a fork Python would print it and go on."""
    caught = []
    before = signal.signal(signal.SIGINT, lambda *_: caught.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if caught:
        raise KeyboardInterrupt


def _quiet_end():
    """Let Ctrl-C end a process without a traceback of its own; the one that listens says what became of it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _processors():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
