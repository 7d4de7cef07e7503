"""Calls made today (UTC) over everything in this checkout that calls a model: MAX_CALLS_PER_DAY is kept here.

A day is a file under `results/ledger/`, one byte a call: its size is the count, and an append is whole under threads
and processes alike.
"""
import threading
import time

from src.shared.files import BadData
from src.shared.kit import ROOT
from src.shared.locks import hold

PLACE = ROOT / "results" / "ledger"


class Limit(Exception):
    """MAX_CALLS_PER_DAY or MAX_COST_USD is used up: the run ends here and can be resumed."""


class Ledger:
    """The day's calls and their limit (None: counted, and not limited)."""

    def __init__(self, limit, place=None):
        self.limit, self.place = limit, place or PLACE
        self._open, self._opening = {}, threading.Lock()       # {day: file}, since one is written to before every call

    def take(self):
        """Count one call before it is made; raises Limit, and counts nothing, when the day's calls are used up."""
        if self.limit is None:
            self.add(1)
            return
        path = self.path()
        with hold(path):
            if self.used() >= self.limit:
                raise Limit(f"MAX_CALLS_PER_DAY={self.limit} is used up for {path.name} (UTC)")
            self.add(1)

    def may_take(self):
        """Whether one more call was counted: what a call asks before each further attempt."""
        try:
            self.take()
            return True
        except (Limit, BadData):
            return False

    def add(self, calls):
        """Count calls that were made anyway, like a call's further attempts."""
        if not calls:
            return
        day = today()
        try:
            (self._open.get(day) or self._opened(day)).write(b"." * calls)
        except OSError as e:
            why = f"the day's calls cannot be counted: {e.strerror}; nothing is sent"
            raise BadData(f"{self.place / day}: {why}") from None

    def _opened(self, day):
        with self._opening:
            if day not in self._open:
                self.place.mkdir(parents=True, exist_ok=True)
                self._open[day] = (self.place / day).open("ab", buffering=0)
            return self._open[day]

    def __del__(self):
        for file in self._open.values():
            file.close()

    def used(self):
        """Calls counted today."""
        try:
            return self.path().stat().st_size
        except FileNotFoundError:
            return 0

    def path(self):
        """The file of today."""
        return self.place / today()


def today():
    """The day (UTC) as its file is called."""
    return time.strftime("%Y-%m-%d", time.gmtime())
