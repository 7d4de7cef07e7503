"""Files held by one process at a time: a lock file beside a path, with the pid that holds it; it ends with its process."""
import contextlib
import os
from pathlib import Path

from src.shared.files import BadData


@contextlib.contextmanager
def hold(path):
    """Hold a file for the length of a block, waiting for whoever has it: for a moment's reading and writing."""
    lock = _opened(path, wait=True)
    try:
        yield
    finally:
        give_back(lock)


def take(path):
    """Hold a run for this process. BadData naming the process that has it already."""
    lock = _opened(path, wait=False)
    try:
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
    except OSError as e:
        raise BadData(f"{path}: cannot be held for this run: {e.strerror}") from None
    return lock


def _opened(path, wait):
    """The lock file beside a path, locked; a lock ends with its process, however that ends.

    subtle: whoever unlocks also unlinks, so a lock counts only while the locked file is still the one at its path.
    """
    place = path.with_name(f".{path.name}.lock")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        while True:
            lock = place.open("a+", encoding="ascii")
            if not _locked(lock, wait):
                lock.seek(0)
                owner = lock.read() or "another one"
                lock.close()
                raise BadData(f"{path}: process {owner} is writing this run; wait for it, or end it")
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock.fileno()), place.stat()):
                    return lock
            lock.close()
    except OSError as e:
        raise BadData(f"{place}: {e.strerror}") from None


def give_back(lock):
    Path(lock.name).unlink(missing_ok=True)
    lock.close()


def _locked(lock, wait):
    """Whether this process now holds the file."""
    try:
        import fcntl
    except ImportError:
        import msvcrt
        how = msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK
        lock_it = lambda: msvcrt.locking(lock.fileno(), how, 1)
    else:
        how = fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)
        lock_it = lambda: fcntl.flock(lock, how)
    try:
        lock_it()
        return True
    except OSError:
        return False
