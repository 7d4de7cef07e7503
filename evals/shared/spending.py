"""What is known of a paid run before its first call, and the question whether to make it."""
import contextlib
import sys

from src.shared.files import BadData

CHARACTERS_PER_TOKEN = 4        # only for the estimate before a run; everything behind it is measured


def estimate(characters, calls, max_tokens):
    """What is known before a run: {"calls", "input_tokens", "output_tokens_at_most"}; tokens by a rule of thumb."""
    return {"calls": calls, "input_tokens": round(characters / CHARACTERS_PER_TOKEN),
            "output_tokens_at_most": calls * max_tokens}


def tell_unheard(args, what, names=("workers", "max_tokens", "yes")):
    """Say which options are about calls where none is made: nobody should think that they did something."""
    given = [f"--{name.replace('_', '-')}" for name in names if getattr(args, name)]
    if given:
        print(f"{', '.join(given)}: passed over, since {what} makes no call", file=sys.stderr)


def confirm(estimated, yes, quiet=False):
    """Whether to spend: `--yes`, or a person at a terminal who says so. Without either nothing is spent.

    `estimated` is the sentence of what it comes to; it is said in every case but --quiet.
    """
    if yes:
        if not quiet:
            print(estimated, file=sys.stderr)
        return True
    if not (sys.stdin and sys.stdin.isatty()):
        raise BadData(f"{estimated}\nnothing was sent: this is no terminal; add --yes to spend")
    print(f"{estimated}; go on? [y/N] ", end="", file=sys.stderr, flush=True)     # input() would ask among the results
    with contextlib.suppress(EOFError):
        return input().strip().casefold() in ("y", "yes")
    return False
