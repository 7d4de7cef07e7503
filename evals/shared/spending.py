"""What is known of a paid run before its first call, and the question whether to make it."""
import contextlib
import sys

from src.shared.files import BadData

CHARACTERS_PER_TOKEN = 4        # only for the estimate before a run; everything behind it is measured


def estimate(characters, calls, max_tokens):
    """What is known before a run: {"calls", "input_tokens", "output_tokens_at_most"}; tokens by a rule of thumb."""
    return {"calls": calls, "input_tokens": round(characters / CHARACTERS_PER_TOKEN),
            "output_tokens_at_most": calls * max_tokens}


def confirm(question, yes):
    """Whether to spend: `--yes`, or a person at a terminal who says so. Without either nothing is spent."""
    if yes:
        return True
    if not (sys.stdin and sys.stdin.isatty()):
        raise BadData("nothing was asked: this is no terminal; add --yes to spend")
    with contextlib.suppress(EOFError):
        return input(f"{question} [y/N] ").strip().casefold() in ("y", "yes")
    return False
