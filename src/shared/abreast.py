"""Work side by side on all processors, heard in its order: kits of one command, stretches of one file.

What one piece prints is held until those before it have spoken, so the output is that of one after the other.
"""
import collections
import concurrent.futures
import contextlib
import io
import itertools
import os
import signal
import sys


def each(action, items):
    """Yield `action(item)` for each item in order, what it printed passed on just before.

    Items are drawn as they are needed, so memory is flat however many there are. Where there is one processor, or one
    item, no process is started. A caller who stops listening leaves the rest undone.
    """
    items, processors = iter(items), _processors()
    ahead = list(itertools.islice(items, 2 * processors))
    at_once = min(processors, len(ahead))
    if at_once < 2:
        yield from map(action, itertools.chain(ahead, items))
        return
    with concurrent.futures.ProcessPoolExecutor(at_once, initializer=_quiet_end) as pool:
        try:
            with _no_interruption():
                waiting = collections.deque(pool.submit(_overhear, action, item) for item in ahead)
            while waiting:
                found, said, complained = waiting.popleft().result()
                waiting.extend(pool.submit(_overhear, action, item) for item in itertools.islice(items, 1))
                sys.stderr.write(complained)
                sys.stdout.write(said)
                yield found
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _overhear(action, item):
    """(what came of one item, what it printed, what it printed on standard error)."""
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()) as complained:
        found = action(item)
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
