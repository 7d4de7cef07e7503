"""How far a run is: one moving line on a terminal, a line for each tenth in a log."""
import datetime
import os
import sys
import time

from src.shared import cost

TENTHS = 10


def now():
    """The time as a record writes it: UTC, to the second."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Progress:
    """Counts what comes back and says so on `stream`: `.done`, of which `.answered`, `.unparsed` and `.failed`;
    `.tokens` as far as reported, None where none were."""

    def __init__(self, total, stream=sys.stderr, quiet=False):
        self.total, self.stream, self.quiet = total, stream, quiet
        self.done = self.answered = self.unparsed = self.failed = 0
        self.tokens = None
        self.money = cost.Sum()
        self.started, self._tenth = time.monotonic(), 0
        self._moves = stream.isatty()

    def tick(self, line, can_be_read):
        """One document came back: a cache line {"completion": {"error", "usage"}}, or one with "harness".

        can_be_read  whether a whole reply holds the object that was asked for
        """
        call = line.get("completion", {"error": True, "usage": None})
        self.done += 1
        self.failed += bool(call["error"])
        self.answered += can_be_read
        self.unparsed += not call["error"] and not can_be_read
        reported = [number for kind in ("input", "output") if (number := (call["usage"] or {}).get(kind)) is not None]
        self.tokens = (self.tokens or 0) + sum(reported) if reported else self.tokens
        self.money.add(line.get("cost"))
        if self.quiet:
            return
        tenth = TENTHS * self.done // max(self.total, 1)
        if self._moves:
            print(f"\r{self.text()[:_width(self.stream)]}\x1b[K", end="", file=self.stream, flush=True)
        elif tenth > self._tenth:
            print(self.text(), file=self.stream, flush=True)
        self._tenth = tenth

    def text(self):
        """The progress line: done of total, answered, unparsed, failed, tokens, dollars, seconds left at this pace."""
        spent = time.monotonic() - self.started
        left = spent / self.done * (self.total - self.done) if self.done else 0
        unparsed = f"{self.unparsed} unparsed, " if self.unparsed else ""
        tokens = "tokens not reported" if self.tokens is None else f"{self.tokens:,} tokens"
        return (f"{self.done}/{self.total} asked, {self.answered} answered, {unparsed}{self.failed} failed, {tokens}, "
                f"cost {cost.in_words(self.money.total()['usd'])}, {spent:.0f} s, about {left:.0f} s left")

    def close(self):
        """End the moving line."""
        if self._moves and not self.quiet and self.done:
            print(file=self.stream)


def _width(stream):
    """How many characters a line on a terminal may have before it breaks, and can then not be written over."""
    try:
        return max(0, os.get_terminal_size(stream.fileno()).columns - 1) or None
    except OSError:
        return None
