"""How every command begins and ends: UTF-8 on both streams, one line for what went wrong, the exit codes."""
import argparse
import os
import sys

from src.shared import kit as kits
from src.shared.files import BadData

USAGE, INTERRUPTED = 2, 130


def parser(command, told, example):
    """The parser of `python -m COMMAND`: what it is for, from the first paragraph of its module's text, and an example.

    In the example {kit} stands for a kit that is here. Python started with -OO keeps no text of modules; then the
    options speak for themselves.
    """
    return argparse.ArgumentParser(prog=f"python -m {command}", description=(told or "").split("\n\n")[0],
                                   epilog=f"example: {example.format(kit=a_kit())}")


def a_kit():
    """The name of a kit of this checkout with hyphens, as run ids end on it; KIT where there is none."""
    try:
        return kits.names()[0].replace("_", "-")
    except BadData:
        return "KIT"


def run(action, interrupted="interrupted"):
    """Do `action()` → exit code, and give that code; errors become one line on standard error and theirs.

    2 for BadData and for files that cannot be read or written, 130 for Ctrl-C with the sentence `interrupted`, 1 where
    whoever read the output went away. Bugs keep their traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = action()
        sys.stdout.flush()
        return code
    except BadData as e:
        print(e, file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print(interrupted, file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return 1
    except OSError as e:
        _drop_output()
        print(f"{e.filename or 'standard output'}: {e.strerror}", file=sys.stderr)
        return USAGE


def _drop_output():
    """Let Python's own flush at exit go nowhere, where standard output takes nothing any more."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        pass
