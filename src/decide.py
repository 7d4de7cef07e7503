"""The rules of a kit alone, without a model: JSON lines in, one decision with its trace a line out.

    python -m src.decide label_restrict plans.jsonl > decisions.jsonl
    python -m src.decide legal_hold review.jsonl --state mtr-0001.json

A line is the row itself, or an object whose `inputs` is the row. A line that cannot be decided gives
{"line": n, "error": "…"} in its place; the rest go on, and the exit code at the end is 1. With --state each line
follows what the file has kept. A decision is written out before the file is replaced, and the last row given again
gives the same decision again, so nothing is lost where a run is cut. One process at a time has the file. Where there
is none yet, a row may bring the state that it goes on from.
"""
import contextlib
import functools
import itertools
import os
import stat
import sys
from pathlib import Path

from src.shared import abreast, console, locks
from src.shared import kit as kits
from src.shared.files import BOM, BadData, parse_json, read_json, to_json, write_text


def main(argv=None):
    args = _arguments().parse_args(argv)
    return console.run(lambda: run(args))


def run(args):
    """Decide every line of the file or of standard input; returns the exit code."""
    if args.kit and not args.file and len(kits.names()) == 1 and args.kit.replace("-", "_") not in kits.names():
        args.kit, args.file = None, args.kit        # the only kit needs no name, so a lone word is the file
    _opened.cache_clear()           # the folder may have changed since a run in this process
    kit = _opened(args.kit, args.data)
    with contextlib.ExitStack() as held:
        decide, keep = held.enter_context(_following(kit, Path(args.state))) if args.state else \
            (kit.definition.decide, None)
        lines = held.enter_context(open(args.file, "rb")) if args.file not in (None, "-") else sys.stdin.buffer
        if keep or not _is_at_hand(lines):
            # Each row goes on from the one before, or whoever writes into the pipe may wait for an answer to each.
            return 1 if decide_lines(kit, lines, sys.stdout, decide, keep) else 0
        return max(abreast.each(functools.partial(_stretch, args.kit, args.data), _stretches(lines)), default=0)


def decide_lines(kit, lines, out, decide, keep=None, first=1):
    """Decide each line of bytes and write one JSON line for it; returns how many could not be decided.

    `keep()` keeps what the last decision leaves behind, and is called only once that decision is out. `first` is the
    number of the first line.
    """
    failed = 0
    for number, line in enumerate(lines, first):
        if number == 1:
            line = line.removeprefix(BOM)
        if not line.strip():
            continue
        try:
            answer = decide(kit.book, _row(line))
        except BadData as e:
            failed += 1
            answer = {"line": number, "error": str(e)}
        out.write(to_json(answer) + "\n")
        if keep:
            out.flush()
            keep()
    out.flush()
    return failed


def _is_at_hand(lines):
    """Whether all lines are there already, as those of a file are and those of a pipe are not."""
    try:
        return stat.S_ISREG(os.fstat(lines.fileno()).st_mode)
    except OSError:
        return False


# What one process decides before another is asked: enough that the asking does not count.
STRETCH = 1000


def _stretches(lines):
    """Yield (number of the first line, lines) of one stretch of a file after the other."""
    for first in itertools.count(1, STRETCH):
        stretch = list(itertools.islice(lines, STRETCH))
        if not stretch:
            return
        yield first, stretch


def _stretch(name, data, stretch):
    """Decide one stretch of lines, in whatever process; the exit code that they give."""
    first, lines = stretch
    kit = _opened(name, data)
    return 1 if decide_lines(kit, lines, sys.stdout, kit.definition.decide, first=first) else 0


@functools.lru_cache(maxsize=1)
def _opened(name, data):
    """A kit, opened once in each process."""
    return kits.load(name, data)


@contextlib.contextmanager
def _following(kit, path):
    """(decide, keep): a kit's decide that goes on from the state kept in a file, and what puts the next state there.

    The file is this process's for the length of the block. BadData where it cannot be read, written or had.
    """
    if kit.definition.step is None:
        raise BadData(f"{kit.name} decides each document by itself and keeps no state; leave --state out")
    _refuse_place(path)
    lock = locks.take(path)
    try:
        kept = following = _kept(path)

        def decide(book, row):
            nonlocal following
            answer, following = kit.definition.step(book, row, kept)
            return answer

        def keep():
            nonlocal kept
            if following != kept:
                _write(path, following)
                kept = following
        yield decide, keep
    finally:
        locks.give_back(lock)


def _refuse_place(path):
    if not path.parent.is_dir():
        raise BadData(f"{path}: there is no folder {path.parent}; make it, or mend the name of the state file")
    if not os.access(path.parent, os.W_OK):
        raise BadData(f"{path}: its folder may not be written to, so no state can be kept; nothing was decided")


def _kept(path):
    """The state in a file, None where there is no file yet."""
    if not path.exists():
        return None
    kept = read_json(path)
    if not isinstance(kept, dict):
        raise BadData(f"{path}: holds {to_json(kept)[:60]} and no state; bring back a copy of it, or delete the file "
                      f"to begin with the first run")
    return kept


def _write(path, state):
    try:
        write_text(path, to_json(state, indent=2) + "\n")
    except OSError as e:
        raise BadData(f"{path}: the state cannot be kept: {e.strerror}; the last decision stands in the output, and "
                      f"the state is still the one before it: mend that and give the same row again") from None


def _row(line):
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as e:
        raise BadData(f"byte {e.start + 1}: 0x{line[e.start]:02x} is not UTF-8") from None
    row = parse_json(text, "row")
    inputs = row.get("inputs", row) if isinstance(row, dict) else row
    if not isinstance(inputs, dict):
        raise BadData(f"a JSON object is wanted, got {to_json(inputs)[:60]}")
    return inputs


def _arguments():
    parser = console.parser("src.decide", __doc__, "python -m src.decide {kit} rows.jsonl")
    parser.add_argument("kit", nargs="?", help="name of the kit; not needed where there is only one")
    parser.add_argument("file", nargs="?", help="file of JSON lines; - or none: standard input")
    parser.add_argument("--state", metavar="FILE", help="go on from the state in FILE and keep the next one there; for "
                        "kits whose documents follow one another (default: no state)")
    parser.add_argument("--data", metavar="DIR", help="data folder with your own rules (default: the kit's)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
