"""A model run: what is still to be asked, the question before spending, the calls, and the record behind them.

Replies go to `cache-ID.jsonl` as they come; the record is made from there when every document has been asked, so a
run that was cut anywhere is resumed and ends in the same record.
"""
import contextlib
import functools
import json
import queue
import signal
import sys
import threading
import time
import traceback
from collections import namedtuple
from decimal import Decimal

from evals.shared import progress, record, scoring, spending, table
from evals.shared.cache import Cache
from src.shared import adapters, config, cost, follow, ledger
from src.shared.adapters import faults, transport
from src.shared.files import BadData
from src.shared.ledger import Limit
from src.shared.parts import Completion, Part

NOT_ASKED = Completion(error={"kind": "not_asked", "outcome": follow.FAILED, "message": "not asked yet; --resume asks"})

# run_id; path of the kept record, beside which the cache lies; out: where the record goes; settings None for a
# re-score; wanted() → gold rows, anew on each call; options with rescore, yes, quiet, workers, max_tokens; header: the
# run's entry of the record; named: whether the run has an id of its own; go_on, look: the commands that go on with it
# and show it
Job = namedtuple("Job", "run_id path out kit bench settings wanted options header named go_on look")


def run(job):
    """Ask what is not answered yet, then score; returns (record without its documents or None, exit code).

    None where the run ended before every document was asked. What the cache's own first line says of the run is kept,
    so that a resumed or re-scored run stays the run it was.
    """
    started, harness = time.monotonic(), {}
    if job.settings is None and not record.cache_of(job.path).exists():
        raise BadData(f"{record.cache_of(job.path)}: no such file; there is nothing to re-score")
    with Cache(record.cache_of(job.path)) as cache:
        _tell_damage(cache)
        opening = _open(job, cache)
        if job.settings is not None:
            with _terminated():
                code, harness = _ask_missing(job, cache, opening)
            if code is not None:
                return None, code
        found = _score(job, cache, opening, harness)
    outcomes = found["totals"]["outcomes"]
    owed = sum(outcomes[outcome] for outcome in follow.OWED)
    code = 3 if owed or (found["totals"]["documents"] and not outcomes[follow.ANSWERED]) else 0
    if code or not job.options.quiet:
        print(table.closing(found, job.out, code, job.go_on if code else job.look, time.monotonic() - started),
              file=sys.stderr)
    for report in list(harness.values())[:1]:
        print(f"the kit's own code failed on {len(harness)} documents, first:\n{report}", file=sys.stderr)
    return found, code


class Asking:
    """One run's questions: for a document, the reply from the cache or from the provider."""

    def __init__(self, kit, settings, cache, max_tokens):
        self.kit, self.settings, self.cache = kit, settings, cache
        self.max_tokens = max_tokens or settings.max_tokens
        self.schema = kit.definition.schema(kit.book) if settings.json_mode == "schema" else None
        self.day = ledger.Ledger(settings.max_calls_per_day)
        self.pricer = cost.pricer(settings.model, settings.provider)
        self.budget, self.connections = None, transport.Connections()
        self.stop, self.ended = threading.Event(), None
        self.question = self._question()

    def cached(self, document):
        """The line that settles a document for this very prompt and these settings, or None where a reply is owed."""
        if not self.cache.holds(document):      # the common case, and no prompt has to be made for it
            return None
        line = self.cache.get(document, prompt_hash(self.kit.prompt(document)), self.question)
        return line if _is_settled(line) else None

    def ask(self, document):
        """Ask for one document, and put the reply where it survives before anything is made of it; returns the line.

        None for a call that was given up. A fault of the kit's own code before the call gives {"id", "harness":
        traceback} instead. Raises Limit where no call may be made any more, and BadData where the reply cannot be kept.
        """
        seconds = {}
        try:
            with follow.timed(seconds, "select"):
                parts = self.kit.prompt(document)
        except BadData:
            raise
        except Exception:
            return {"id": document, "harness": traceback.format_exc()}
        filling = getattr(parts, "filled_in", 0.0)
        call, at, price = self._call(parts)
        line = {"id": document, "prompt": prompt_hash(parts), "settings": self.question, "at": at,
                "completion": call._asdict(), "stations": {"select": seconds["select"] - filling, "prompt": filling},
                "cost": price}
        self.cache.put(line)        # one that is given up too: it was sent, and what it costs is not known
        if call.error and call.error["scope"] == "run":
            self.end(call.error["message"])
        return None if call.error and call.error["kind"] == faults.CANCELLED else line

    def can_be_read(self, line):
        """Whether a line holds a reply with the object in it that was asked for; what it says is judged later."""
        call = line.get("completion")
        return bool(call) and not call["error"] and not follow.parse(self.kit, call["text"]).error

    def _call(self, parts):
        """(Completion, its time in UTC, its price) of one call that the day's calls and the run's dollars allow."""
        if not self.budget.may_call():
            raise Limit(self.budget.why())
        usd = Decimal(0)
        try:
            self.day.take()
            usd, at = None, progress.now()
            call = adapters.complete(self.settings, parts, max_tokens=self.max_tokens, schema=self.schema,
                                     stop=self.stop, connections=self.connections, again=self.day.may_take)
            price = self.pricer.call(call._asdict(), at)
            usd = price["usd"] if price else Decimal(0)
            return call, at, price
        finally:
            self.budget.add(usd)

    def end(self, why):
        """Ask nothing more; the first reason counts."""
        self.ended = self.ended or why
        self.budget.close()

    def _question(self):
        """A hash of everything but the prompt that is sent, and where to."""
        body = adapters.request_body(self.settings, [Part("", "user", "", True, None)], max_tokens=self.max_tokens,
                                     schema=self.schema)
        rest = {key: value for key, value in body.items() if key not in ("messages", "system")}
        place = self.settings.base_url.reveal()
        return record.sha(json.dumps([self.settings.provider, place, rest], sort_keys=True, default=str))


def prompt_hash(parts):
    """One name for a prompt: roles, texts and images, in order."""
    return record.sha(json.dumps([[part.role, _fixed_hash(part.text) if part.fixed else record.sha(part.text),
                                   record.sha(part.png) if part.png else None] for part in parts]))


@functools.lru_cache(maxsize=64)
def _fixed_hash(text):
    """A fixed part is hashed once a run and not once a document."""
    return record.sha(text)


def _open(job, cache):
    """The cache's first line {"run", "settings", "question", "price"}: what this run is. Written where there is none.

    BadData where a re-score finds none, and where a kept run would go on with other settings than it was begun with.
    """
    known = cache.get("")
    if job.settings is None:
        if known is None:
            raise BadData(f"{cache.path}: its first line, which says what the run is, is missing; ask with --resume")
        return {**known, "run": {**known["run"], "set": job.header["set"]}}
    asking = Asking(job.kit, job.settings, cache, job.options.max_tokens)
    workers = job.options.workers or job.settings.eval_workers
    if workers > config.MOST_WORKERS:
        raise BadData(f"--workers {workers}: at most {config.MOST_WORKERS} calls are made at a time")
    mine = {**job.settings.public(), "max_tokens": asking.max_tokens, "workers": workers}
    if known and known["question"] == asking.question:
        return {**known, "asking": asking}
    if known and job.named:
        differing = [f"{name} was {known['settings'].get(name)}, is {value}" for name, value in mine.items()
                     if name != "workers" and known["settings"].get(name) != _plain(value)]
        raise BadData(f"{job.run_id} was begun with other settings ({'; '.join(differing) or 'another address'}); "
                      "set them as they were, or give another --run-id")
    opening = {"run": job.header, "settings": mine, "question": asking.question, "price": asking.pricer.label}
    return {**opening, "asking": asking}


def _ask_missing(job, cache, opening):
    """(exit code or None to go on and score, {document: traceback} of what the kit itself could not do)."""
    asking = opening["asking"]
    todo, characters, longest, stale, failed = _survey(asking, job.wanted, cache)
    if stale:
        print(f"{cache.path}: {stale} replies belong to another prompt or other settings and are asked again",
              file=sys.stderr)
    if failed:
        print(f"{cache.path}: {sum(failed.values())} documents ended in an error before and are asked again: "
              f"{table.counts(failed)}", file=sys.stderr)
    if todo:
        known, pricer = spending.estimate(characters, todo, asking.max_tokens), asking.pricer
        asking.budget = cost.Budget(job.settings.max_cost_usd, pricer, longest, asking.max_tokens,
                                    _spent(asking, cache, longest))
        if not spending.confirm(_question_to_person(job, known, pricer, todo), job.options.yes, job.options.quiet):
            print("nothing was sent", file=sys.stderr)
            return 2, {}
    if cache.get("") is None or cache.get("")["question"] != opening["question"]:
        cache.put({"id": "", **{name: value for name, value in opening.items() if name != "asking"}})
    if not todo:
        return None, {}
    shown = progress.Progress(todo, sys.stderr, job.options.quiet)
    documents = (row["id"] for row in job.wanted() if not asking.cached(row["id"]))
    harness, interrupted = _ask_all(asking, documents, opening["settings"]["workers"], shown)
    if interrupted or asking.ended:
        whole = shown.answered + shown.unparsed
        print(f"{asking.ended or 'interrupted'}; {shown.done} of {todo} asked, {todo - whole} left without a whole "
              f"reply. Go on with:\n  {job.go_on}", file=sys.stderr)
        return (130 if interrupted else 3), harness
    return None, harness


def _question_to_person(job, known, pricer, todo):
    most = pricer.at_most(known["input_tokens"], known["output_tokens_at_most"], todo)
    price = f"about {cost.in_words(most)} if every reply is that long, {pricer.label}" if most is not None else (
        f"cost unknown: {pricer.why or 'the card has no price for this'}")
    return (f"{job.run_id}: {known['calls']} calls to {job.settings.model} at {job.settings.host}, about "
            f"{known['input_tokens']:,} input tokens, at most {known['output_tokens_at_most']:,} output tokens "
            f"({price})")


def _survey(asking, wanted, cache):
    """(documents to ask, characters of their prompts, of the longest, whole replies that do not fit any more, {outcome:
    documents that ended in such an error before})."""
    todo = characters = longest = stale = 0
    failed = dict.fromkeys(follow.OUTCOMES, 0)
    for row in wanted():
        parts = asking.kit.prompt(row["id"])
        line = cache.get(row["id"], prompt_hash(parts), asking.question)
        if _is_settled(line):
            continue
        size = sum(len(part.text) for part in parts)
        todo, characters, longest = todo + 1, characters + size, max(longest, size)
        if line is None:
            stale += cache.knows(row["id"])
        else:
            failed[line["completion"]["error"]["outcome"]] += 1
    return todo, characters, longest, stale, {outcome: number for outcome, number in failed.items() if number}


def _spent(asking, cache, longest):
    """Dollars that every call of this run has cost so far, one of unknown cost as the most that it can have."""
    most = asking.pricer.at_most(longest, asking.max_tokens) or Decimal(0)
    spent = Decimal(0)
    for line in cache.lines():
        price = line.get("cost")
        usd = price and price["usd"]
        spent += (most if usd is None else cost.exact(usd)) if price else 0
    return spent


def _ask_all(asking, documents, workers, shown):
    """Ask with that many calls at a time, in the order given. The first Ctrl-C lets the calls in flight end.

    Returns ({document: traceback} of what the kit itself could not do, whether it was interrupted).
    """
    with asking.connections:
        flight = _Flight(asking, documents, workers, shown)
        interrupted = flight.land()
    shown.close()
    return flight.harness, interrupted


class _Flight:
    """The threads that ask: each takes the next document when it is free, so no document waits in a list."""

    def __init__(self, asking, documents, workers, shown):
        self.asking, self.shown, self.harness = asking, shown, {}
        self._documents, self._fault = iter(documents), None
        self._taking, self._telling = threading.Lock(), threading.Lock()
        self._flying, self._landed = set(range(workers)), queue.SimpleQueue()
        for name in range(workers):
            threading.Thread(target=self._work, args=(name,), daemon=True).start()

    def land(self):
        """Wait until all are back; True where Ctrl-C ended it. What is in flight is paid: only a second gives it up."""
        try:
            self._join()
            return False
        except KeyboardInterrupt:
            self.asking.end("interrupted")
        try:
            if self._flying:
                print(f"\n{len(self._flying)} calls in flight are let end; Ctrl-C again gives them up", file=sys.stderr)
            self._join()
        except KeyboardInterrupt:
            self.asking.stop.set()
            self._join()
        return True

    def _join(self):
        # subtle: Thread.join, interrupted by Ctrl-C, takes a running thread for ended (bpo-45274): each tells its end
        while self._flying:
            self._landed.get()
        if self._fault:
            raise self._fault

    def _work(self, name):
        try:
            while (document := self._next()) is not None:
                line = self.asking.ask(document)
                if line is None:
                    continue
                can_be_read = self.asking.can_be_read(line)
                with self._telling:
                    if "harness" in line:
                        self.harness[line["id"]] = line["harness"]
                    self.shown.tick(line, can_be_read)
        except (BadData, Limit) as e:
            self.asking.end(str(e))
        except BaseException as e:      # a bug: raised where the run waits, with its traceback
            self._fault = self._fault or e
            self.asking.end("a fault of the harness")
        finally:
            self._flying.discard(name)
            self._landed.put(name)

    def _next(self):
        with self._taking:
            return None if self.asking.ended else next(self._documents, None)


def _score(job, cache, opening, harness):
    """Write the record of what the cache holds for this run; returns it without its documents."""
    if job.settings is None:
        _refuse_stale(job, cache, opening)
    grading, closing = scoring.Scoring(job.kit, job.bench, opening["price"], sends=True), {}
    times = record.Times(job.out)

    def entries():
        for row in job.wanted():
            document = row["id"]
            line = cache.get(document, prompt_hash(job.kit.prompt(document)), opening["question"])
            if document in harness:
                yield grading.entry(row, follow.broken(document, harness[document]))
                continue
            line = line or {"completion": NOT_ASKED._asdict(), "stations": None, "cost": None}
            call = {name: value for name, value in line["completion"].items() if name in Completion._fields}
            followed = follow.safely(job.kit, document, Completion(**call))
            if followed.outcome == follow.HARNESS:
                harness[document] = followed.why
            stations = line.get("stations") or {}
            behind = times.of(document, {**(call.get("seconds") or {}), **stations})
            yield grading.entry(row, followed, {**stations, **behind}, line.get("cost"))

    def close():
        closing.update(grading.closing(), run=opening["run"], settings=opening["settings"])
        closing["totals"]["paid"] = cost.total((line.get("cost") for line in cache.lines()), opening["price"])
        return closing
    try:
        record.write(job.out, entries(), close)
    except OSError as e:
        raise BadData(f"{job.out}: the record could not be written: {e.strerror}; every reply is kept in {cache.path}, "
                      f"go on with:\n  {job.go_on}") from None
    return closing


def _refuse_stale(job, cache, opening):
    """A re-score reads replies to the prompt in hand; where they answer another one, the record stays as it is."""
    def is_stale(document):
        prompt = prompt_hash(job.kit.prompt(document))
        return cache.knows(document) and cache.get(document, prompt, opening["question"]) is None
    stale = sum(is_stale(row["id"]) for row in job.wanted())
    if stale:
        raise BadData(f"{cache.path}: {stale} replies answer another prompt than the one in hand (prompt, rules, "
                      "fields or page have changed since); put them back as they were, or ask again with --resume. "
                      "The record was left alone")


def _is_settled(line):
    """Whether a line is a whole reply, which is never bought again, be it readable or not.

    An error is none: also a reply that was cut at MAX_TOKENS, refused or filtered is asked for again by --resume.
    """
    return line is not None and not line["completion"]["error"]


def _tell_damage(cache):
    if cache.torn:
        print(f"{cache.path}: a cut last line of {cache.torn} bytes was dropped", file=sys.stderr)
    for number in cache.damaged:
        print(f"{cache.path}: line {number} is no reply and was passed over", file=sys.stderr)


@contextlib.contextmanager
def _terminated():
    """Within the block a SIGTERM, as of a scheduler that takes the machine back, is a Ctrl-C."""
    def stop(*_):
        raise KeyboardInterrupt
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _plain(value):
    """A setting as a record holds it."""
    return json.loads(json.dumps(value, default=str))
