"""Calls made today over everything in this checkout that calls a model: MAX_CALLS_PER_DAY is kept here."""
import datetime
import json
import threading

from src.shared.files import BadData, write_text
from src.shared.kit import ROOT
from src.shared.locks import hold

PLACE = ROOT / "results" / "ledger.json"


class Limit(Exception):
    """MAX_CALLS_PER_DAY or MAX_COST_USD is used up: the run ends here and can be resumed."""


class Ledger:
    """Calls made today (UTC) over all runs of this checkout, in one small file, safe under threads and two processes."""

    def __init__(self, limit, path=PLACE):
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
