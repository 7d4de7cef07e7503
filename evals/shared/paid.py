"""A model run: what is still to be asked, the question before spending, the calls, and the record behind them.

Replies go to `cache-ID.jsonl` as they come; the record is made from there when every document has been asked, so a
run that was cut anywhere is resumed and ends in the same record.
"""
import concurrent.futures
import functools
import json
import queue
import sys
import threading
import time
import traceback
from decimal import Decimal

from evals.shared import progress, record, scoring, spending, table
from evals.shared.cache import Cache
from src.shared import adapters, cost, follow, ledger
from src.shared.files import BadData
from src.shared.parts import Completion

AHEAD = 4                       # documents prepared per worker, so that none waits for the slowest
NOT_ASKED = Completion(error={"kind": "not_asked", "outcome": follow.FAILED, "message": "not asked yet; --resume asks"})


class Asking:
    """One run's questions: for a gold row, the reply from the cache or from the provider."""

    def __init__(self, kit, settings, cache, max_tokens):
        self.kit, self.settings, self.cache = kit, settings, cache
        self.day = ledger.Ledger(settings.max_calls_per_day)
        self.max_tokens = max_tokens or settings.max_tokens
        self.schema = kit.definition.schema(kit.book) if settings.json_mode == "schema" else None
        self.pricer = cost.pricer(settings.model, settings.provider)
        self.budget = None
        self.stop, self.ended = threading.Event(), None

    def cached(self, document):
        """The line that already answers a document for this very prompt and these settings, or None."""
        line = self.cache.get(document)
        if line is None or line["completion"]["error"]:
            return None
        return line if (line["prompt"], line["settings"]) == self.hashes(self.kit.prompt(document)) else None

    def hashes(self, parts):
        """(hash of the prompt's parts, hash of everything else that is sent and where to)."""
        body = adapters.request_body(self.settings, parts, max_tokens=self.max_tokens, schema=self.schema)
        rest = {key: value for key, value in body.items() if key not in ("messages", "system")}
        place = self.settings.base_url.reveal()
        return prompt_hash(parts), record.sha(json.dumps([self.settings.provider, place, rest], sort_keys=True, default=str))

    def ask(self, document):
        """Ask for one document, read the reply, and put both where they survive; returns the line.

        A fault of the kit's own code gives {"id", "harness": traceback} instead. Raises Limit where no call may be made
        any more, and BadData where the reply cannot be kept.
        """
        seconds = {}
        try:
            with follow.timed(seconds, "prompt"):
                parts = self.kit.prompt(document)
                prompt, settings = self.hashes(parts)
            call, at = self._call(parts)
            line = {"id": document, "prompt": prompt, "settings": settings, "at": at, "completion": call._asdict(),
                    "stations": {**seconds, **follow.read(self.kit, document, call).seconds}}
        except (BadData, ledger.Limit):
            raise
        except Exception:
            return {"id": document, "harness": traceback.format_exc()}
        if not (call.error and call.error["kind"] == "cancelled"):
            self.cache.put(line)
        if call.error and call.error.get("scope") == "run":
            self.end(call.error["message"])
        return line

    def _call(self, parts):
        """(Completion, its time in UTC) of one call that the day's calls and the run's dollars allow."""
        if not self.budget.may_call():
            raise ledger.Limit(self.budget.why())
        usd = Decimal(0)
        try:
            self.day.take()
            usd, at = None, progress.now()
            call = adapters.complete(self.settings, parts, max_tokens=self.max_tokens, schema=self.schema, stop=self.stop)
            usd = (self.pricer.call(call._asdict(), at) or {"usd": Decimal(0)})["usd"]
            return call, at
        finally:
            self.budget.add(usd)

    def end(self, why):
        """Ask nothing more; the first reason counts."""
        self.ended = self.ended or why
        self.budget.close()


def run(run_id, path, kit, bench, settings, wanted, options, header, out=None):
    """Ask what is not answered yet, then score; returns (record without its documents or None, exit code).

    `wanted()` yields gold rows anew on each call; `options` has resume, rescore, yes, workers, max_tokens; `header` is
    the run's entry of the record, kept in the cache so that a resumed or re-scored run stays the run it was. The cache
    lies beside `path`; the record is written there too, or to `out`.
    """
    cache_path, started = record.cache_of(path), time.monotonic()
    if options.rescore and not cache_path.exists():
        raise BadData(f"{cache_path}: no such file; there is nothing to re-score")
    with Cache(cache_path) as cache:
        told = [f"{cache_path}: a cut last line of {cache.torn} bytes was dropped"] if cache.torn else []
        told += [f"{cache_path}: line {number} is no reply and was passed over" for number in cache.damaged]
        print(*told, sep="\n", end="\n" if told else "", file=sys.stderr)
        harness = {}
        if not options.rescore:
            code, harness = _ask_missing(run_id, kit, settings, cache, wanted, options, header)
            if code is not None:
                return None, code
        opening = cache.get("") or {"run": header, "settings": None}
        opening["run"] |= {"set": header.get("set", {})}
        path = out or path
        found = _score(path, kit, bench, cache, wanted, opening, harness)
    code = 3 if _owed(found) else 0
    print(table.closing(found, path, code, resume_command(found["run"]), time.monotonic() - started), file=sys.stderr)
    return found, code


def _ask_missing(run_id, kit, settings, cache, wanted, options, header):
    """(exit code or None to go on and score, {document: traceback} of what the kit itself could not do)."""
    asking = Asking(kit, settings, cache, options.max_tokens)
    todo, characters, longest, stale, spent = _survey(asking, wanted, cache)
    if stale:
        print(f"{cache.path}: {stale} replies belong to another prompt or other settings and are asked again", file=sys.stderr)
    if not todo:
        return None, {}
    workers = options.workers or settings.eval_workers
    known, pricer = spending.estimate(characters, todo, asking.max_tokens), asking.pricer
    asking.budget = cost.Budget(settings.max_cost_usd, pricer, longest, asking.max_tokens, spent)
    most = pricer.at_most(known["input_tokens"], known["output_tokens_at_most"], todo)
    question = (f"{run_id}: {known['calls']} calls to {settings.model} at {settings.host}, about {known['input_tokens']:,} "
                f"input tokens, at most {known['output_tokens_at_most']:,} output tokens, at most {cost.in_words(most)} "
                f"({pricer.label or pricer.why}); go on?")
    if not spending.confirm(question, options.yes):
        print("nothing was sent", file=sys.stderr)
        return 2, {}
    if not cache.get(""):
        cache.put({"id": "", "run": header, "settings": {**settings.public(), "max_tokens": asking.max_tokens,
                                                         "workers": workers}})
    shown = progress.Progress(todo, sys.stderr, options.quiet)
    documents = (row["id"] for row in wanted() if not asking.cached(row["id"]))
    harness, interrupted = _ask_all(asking, documents, workers, shown)
    if interrupted or asking.ended:
        left = todo - shown.done
        print(f"{asking.ended or 'interrupted'}; {shown.done} of {todo} asked, {left} left. Go on with:\n"
              f"  {resume_command(header)}", file=sys.stderr)
        return (130 if interrupted else 3), harness
    return None, harness


def _survey(asking, wanted, cache):
    """(documents to ask, characters of their prompts, of the longest, replies that do not fit any more, dollars spent)."""
    todo = characters = longest = stale = 0
    spent = Decimal(0)
    for row in wanted():
        line = cache.get(row["id"])
        if line:
            spent += (asking.pricer.call(line["completion"], line["at"]) or {"usd": None})["usd"] or 0
        if not asking.cached(row["id"]):
            size = sum(len(part.text) for part in asking.kit.prompt(row["id"]))
            todo, characters, longest = todo + 1, characters + size, max(longest, size)
            stale += line is not None and not line["completion"]["error"]
    return todo, characters, longest, stale, spent


def _ask_all(asking, documents, workers, shown):
    """Ask with that many calls at a time, in order of submission. The first Ctrl-C lets the calls in flight end.

    Returns ({document: traceback} of what the kit itself could not do, whether it was interrupted).
    """
    flight, interrupted = _Flight(asking, workers, shown), False
    try:
        for document in documents:
            if asking.ended:
                break
            flight.submit(document)
            if len(flight.waiting) >= workers * AHEAD:
                flight.collect()
        while flight.waiting and not asking.ended:
            flight.collect()
    except KeyboardInterrupt:
        interrupted = True
    except (BadData, ledger.Limit) as e:
        asking.end(str(e))
    flight.land()
    shown.close()
    return flight.harness, interrupted


class _Flight:
    """The calls in flight: a pool of threads, and the documents that come back, one at a time."""

    def __init__(self, asking, workers, shown):
        self.asking, self.shown = asking, shown
        self.pool = concurrent.futures.ThreadPoolExecutor(workers)
        self.waiting, self.harness, self._done = set(), {}, queue.SimpleQueue()

    def submit(self, document):
        future = self.pool.submit(self.asking.ask, document)
        self.waiting.add(future)
        future.add_done_callback(self._done.put)

    def collect(self):
        """Take in the next call that ends; raises what ended the run."""
        future = self._done.get()
        self.waiting.discard(future)
        if future.cancelled():
            return
        line = future.result()
        if "harness" in line:
            self.harness[line["id"]] = line["harness"]
        self.shown.tick(line)

    def land(self):
        """Let the calls in flight end, since they are paid; a second Ctrl-C gives them up."""
        self.asking.budget.close()
        try:
            for future in list(self.waiting):
                future.cancel()
            flying = sum(not future.cancelled() for future in self.waiting)
            if flying:
                print(f"\n{flying} calls in flight are let end; Ctrl-C again gives them up", file=sys.stderr)
            while self.waiting:
                try:
                    self.collect()
                except (BadData, ledger.Limit) as e:
                    self.asking.end(str(e))
        except KeyboardInterrupt:
            self.asking.stop.set()
        self.pool.shutdown(wait=True, cancel_futures=True)


def _score(path, kit, bench, cache, wanted, opening, harness):
    """Write the record of everything that the cache holds; returns it without its documents."""
    known = opening["settings"] or {"model": None, "provider": None}
    grading, closing = scoring.Scoring(kit, bench, cost.pricer(known["model"], known["provider"])), {}

    def entries():
        for row in wanted():
            line = cache.get(row["id"])
            if row["id"] in harness:
                yield grading.entry(row, follow.broken(row["id"], harness[row["id"]]))
                continue
            if line is None or line["prompt"] != prompt_hash(kit.prompt(row["id"])):
                line = {"completion": NOT_ASKED._asdict()}
            yield grading.entry(row, follow.safely(kit, row["id"], Completion(**line["completion"])), line.get("stations"),
                                line.get("at"))

    def close():
        closing.update(grading.closing(), run=opening["run"], settings=opening["settings"])
        return closing
    record.write(path, entries(), close)
    return closing


def _owed(found):
    return sum(found["totals"]["outcomes"][outcome] for outcome in follow.OWED)


def resume_command(header):
    """The command that goes on with a run: its own, with --resume."""
    command = header["command"]
    return command if " --resume" in command else f"{command} --resume"


def prompt_hash(parts):
    """One name for a prompt: roles, texts and images, in order."""
    return record.sha(json.dumps([[part.role, _fixed_hash(part.text) if part.fixed else record.sha(part.text),
                                   record.sha(part.png) if part.png else None] for part in parts]))


@functools.lru_cache(maxsize=64)
def _fixed_hash(text):
    """A fixed part is hashed once a run and not once a document."""
    return record.sha(text)
