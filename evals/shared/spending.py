"""What a paid run may spend: calls a day, dollars a run, the estimate, and the question before the first call."""
import contextlib
import datetime
import json
import os
import sys
import threading

from evals.shared.cache import hold
from src.shared.files import BadData, write_text

CHARACTERS_PER_TOKEN = 4        # only for the estimate before a run; everything behind it is measured


class Limit(Exception):
    """MAX_CALLS_PER_DAY or MAX_COST_USD is used up: the run ends here and can be resumed."""


class Ledger:
    """Calls made today (UTC) over all runs of this checkout, in one small file, safe under threads and two processes."""

    def __init__(self, path, limit):
        self.path, self.limit, self._lock = path, limit, threading.Lock()

    def take(self):
        """Count one call before it is made; raises Limit, and counts nothing, when the day's calls are used up."""
        if self.limit is None:
            return
        with self._lock, hold(self.path):
            day, used = self.today()
            if used >= self.limit:
                raise Limit(f"MAX_CALLS_PER_DAY={self.limit} is used up for {day} (UTC)")
            write_text(self.path, json.dumps({day: used + 1}) + "\n")

    def today(self):
        """(UTC day, calls counted on it)."""
        day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            return day, int(found.get(day, 0))
        except FileNotFoundError:
            return day, 0
        except (ValueError, AttributeError, TypeError):
            raise BadData(f"{self.path}: is no ledger of calls; delete it to begin the day anew") from None


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
