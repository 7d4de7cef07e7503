"""A model run: what is still to be asked, the question before spending, the calls, and the record behind them.

Replies go to `cache-ID.jsonl` as they come; the record is made from there when every document has been asked, so a
run that was cut anywhere is resumed and ends in the same record.
"""
import concurrent.futures
import hashlib
import json
import sys
import threading
import time
import traceback

from evals.shared import progress, record, scoring, spending, table
from evals.shared.cache import Cache
from src.shared import adapters, follow
from src.shared import kit as kits
from src.shared.files import BadData
from src.shared.parts import Completion

AHEAD = 4                       # documents prepared per worker, so that none waits for the slowest
NOT_ASKED = Completion(error={"kind": "not_asked", "outcome": follow.FAILED, "message": "not asked yet; --resume asks"})


class Asking:
    """One run's questions: for a gold row, the reply from the cache or from the provider."""

    def __init__(self, kit, settings, cache, max_tokens, ledger):
        self.kit, self.settings, self.cache, self.ledger = kit, settings, cache, ledger
        self.max_tokens = max_tokens or settings.max_tokens
        self.schema = kit.definition.schema(kit.book) if settings.json_mode == "schema" else None
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
        """Ask for one document, read the reply, and put both where they survive; returns the line."""
        seconds = {}
        try:
            with follow.timed(seconds, "prompt"):
                parts = self.kit.prompt(document)
                prompt, settings = self.hashes(parts)
            self.ledger.take()
            call = adapters.complete(self.settings, parts, max_tokens=self.max_tokens, schema=self.schema, stop=self.stop)
            line = {"id": document, "prompt": prompt, "settings": settings, "at": progress.now(),
                    "completion": {name: getattr(call, name) for name in Completion._fields}}
            line["stations"] = {**seconds, **follow.read(self.kit, document, call).seconds}
        except (BadData, spending.DayLimit):
            raise
        except Exception:
            return {"id": document, "harness": traceback.format_exc()}
        if not (call.error and call.error["kind"] == "cancelled"):
            self.cache.put(line)
        if call.error and call.error.get("scope") == "run":
            self.end(call.error["message"])
        return line

    def end(self, why):
        """Ask nothing more; the first reason counts."""
        self.ended = self.ended or why


def run(run_id, path, kit, bench, settings, wanted, options, header):
    """Ask what is not answered yet, then score; returns (record without its documents or None, exit code).

    `wanted()` yields gold rows anew on each call; `options` has resume, rescore, yes, workers, max_tokens; `header` is
    the run's entry of the record, kept in the cache so that a resumed or re-scored run stays the run it was.
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
        found = _score(path, kit, bench, cache, wanted, opening, harness)
    code = 3 if _owed(found) else 0
    print(table.closing(found, path, code, resume_command(found["run"]), time.monotonic() - started), file=sys.stderr)
    return found, code


def _ask_missing(run_id, kit, settings, cache, wanted, options, header):
    """(exit code or None to go on and score, {document: traceback} of what the kit itself could not do)."""
    ledger = spending.Ledger(kits.ROOT / "results" / "ledger.json", settings.max_calls_per_day)
    asking = Asking(kit, settings, cache, options.max_tokens, ledger)
    todo, characters, stale = _survey(asking, wanted, cache)
    if stale:
        print(f"{cache.path}: {stale} replies belong to another prompt or other settings and are asked again", file=sys.stderr)
    if not todo:
        return None, {}
    workers = options.workers or settings.eval_workers
    known = spending.estimate(characters, todo, asking.max_tokens)
    question = (f"{run_id}: {known['calls']} calls to {settings.model} at {settings.host}, about {known['input_tokens']:,} "
                f"input tokens, at most {known['output_tokens_at_most']:,} output tokens; go on?")
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
    """(documents to ask, characters of their prompts, how many cached replies do not fit any more)."""
    todo = characters = stale = 0
    for row in wanted():
        if not asking.cached(row["id"]):
            line = cache.get(row["id"])
            stale += line is not None and not line["completion"]["error"]
            todo += 1
            characters += sum(len(part.text) for part in asking.kit.prompt(row["id"]))
    return todo, characters, stale


def _ask_all(asking, documents, workers, shown):
    """Ask with that many calls at a time, in order of submission. The first Ctrl-C lets the calls in flight end."""
    harness, waiting, interrupted = {}, set(), False

    def collect(some):
        for future in some:
            waiting.discard(future)
            if not future.cancelled():
                line = future.result()
                if "harness" in line:
                    harness[line["id"]] = line["harness"]
                shown.tick(line)
    pool = concurrent.futures.ThreadPoolExecutor(workers)
    try:
        for document in documents:
            if asking.ended:
                break
            waiting.add(pool.submit(asking.ask, document))
            if len(waiting) >= workers * AHEAD:
                collect(_first(waiting))
        while waiting and not asking.ended:
            collect(_first(waiting))
    except KeyboardInterrupt:
        interrupted = True
    except (BadData, spending.DayLimit) as e:
        asking.end(str(e))
    _wind_up(asking, pool, waiting, collect)
    shown.close()
    return harness, interrupted


def _wind_up(asking, pool, waiting, collect):
    """Let the calls in flight end, since they are paid; a second Ctrl-C gives them up."""
    for future in list(waiting):
        if future.cancel():
            waiting.discard(future)
    try:
        if waiting:
            print(f"\n{len(waiting)} calls in flight are let end; Ctrl-C again gives them up", file=sys.stderr)
        while waiting:
            collect(_first(waiting))
    except (KeyboardInterrupt, BadData, spending.DayLimit):
        asking.stop.set()
    pool.shutdown(wait=True, cancel_futures=True)


def _first(waiting):
    return concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED).done


def _score(path, kit, bench, cache, wanted, opening, harness):
    """Write the record of everything that the cache holds; returns it without its documents."""
    grading, closing = scoring.Scoring(kit, bench), {}

    def entries():
        for row in wanted():
            line = cache.get(row["id"])
            if row["id"] in harness:
                yield grading.entry(row, follow.broken(row["id"], harness[row["id"]]))
                continue
            if line is None or line["prompt"] != prompt_hash(kit.prompt(row["id"])):
                line = {"completion": NOT_ASKED._asdict()}
            yield grading.entry(row, follow.safely(kit, row["id"], Completion(**line["completion"])), line.get("stations"))

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
    images = [hashlib.sha256(part.png).hexdigest() if part.png else None for part in parts]
    return record.sha(json.dumps([[part.role, part.text, image] for part, image in zip(parts, images)]))
