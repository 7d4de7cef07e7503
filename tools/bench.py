"""Measure what the harness itself costs, as ratios within one run, since machines differ and share their time.

    python -m tools.bench            prints the ratios and writes results/bench.json
    python -m tools.bench --quick    fewer repetitions, for a look

start       the free path of all kits, and importing a run, as multiples of bare interpreter start-up
overhead    seconds per document against an instant local server at 12 workers, as a multiple of a bare script
            (ThreadPoolExecutor + urllib) doing the same work against the same server: page read, prompt made, reply
            parsed, one JSON line a reply seen to the disk. Both take turns, start-up included, and so do a server that
            keeps its connections and one that closes each; the median of the ratios of neighbours counts, in time on
            the wall and in time of the processor
rates       rows decided and documents scored per second, and as seconds in interpreter start-ups per 1,000
memory      peak memory at 1,000 and at 100,000 rows decided and documents scored
"""
import contextlib
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evals.shared import progress
from evals.shared.provider import LocalProvider
from src.shared import console
from src.shared import kit as kits
from src.shared.files import BadData, to_json, write_text

WORKERS = 12
BARE = """
import concurrent.futures, json, os, sys, threading, urllib.request
job, lock = json.load(open(sys.argv[1])), threading.Lock()
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
out = open(sys.argv[2], "w")
def ask(document):
    with open(f"{job['corpus']}/{document}.txt", encoding="utf-8") as page:
        prompt = job["prefix"] + page.read()
    body = json.dumps({"model": "local", "max_tokens": 8192, "stream": False,
                       "messages": [{"role": "user", "content": prompt}]}).encode()
    request = urllib.request.Request(os.environ["BASE_URL"] + "/chat/completions", body,
                                     {"Content-Type": "application/json",
                                      "Authorization": "Bearer " + os.environ["API_KEY"]})
    with opener.open(request) as reply:
        found = json.load(reply)
    answer = json.loads(found["choices"][0]["message"]["content"])
    with lock:
        out.write(json.dumps({"id": document, "answer": answer, "usage": found["usage"]}) + "\\n")
        out.flush()
        os.fsync(out.fileno())
with concurrent.futures.ThreadPoolExecutor(%d) as pool:
    list(pool.map(ask, job["documents"]))
""" % WORKERS


def main(argv=None):
    parser = console.parser("tools.bench", __doc__, "python -m tools.bench --quick")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and rows, for a look; writes nothing")
    args = parser.parse_args(argv)
    tries, small, large = (3, 200, 2_000) if args.quick else (9, 1_000, 100_000)
    found = {"python": platform.python_version(), "cores": os.cpu_count(), "date": progress.now()[:10], "tries": tries}
    with tempfile.TemporaryDirectory() as compiled, tempfile.TemporaryDirectory() as folder:
        # As it is once installed: everything compiled, wherever and whether or not this machine keeps that.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = compiled
        found["start"] = starting(tries)
        bare = found["start"]["bare_seconds"]
        kit = sample(Path(folder))
        found["kit"] = kit and kit.name
        found["overhead"] = kit and overhead(kit, Path(folder), 3 if args.quick else 9)
        found["decide"] = deciding(kit or kits.load(kits.names()[0]), Path(folder), bare, small, large)
        found["score"] = kit and scoring(kit, Path(folder), bare, small, large)
    print(to_json(found, indent=2))
    if not args.quick:
        write_text(kits.ROOT / "results" / "bench.json", to_json(found, indent=2) + "\n")
    return 0


def sample(folder):
    """The first kit whose documents can stand under other ids, which makes many of a few; None where none can."""
    for name in kits.names():
        kit = kits.load(name)
        try:
            multiplied(kit, folder / f"sample-{name}", 1)
            many = kits.load(name, folder / f"sample-{name}")
            row = next(many.gold())
            answer = many.definition.normalise(many.book, row)
            many.definition.recheck(many.book, row["id"], answer)
            many.prompt(row["id"])
            return kit
        except BadData:
            continue
    return None


def starting(tries):
    """What starting costs; the three commands take turns, and the first turn, which compiles, does not count."""
    commands = ("-c", "pass"), ("-m", "evals.run", "--quiet"), ("-m", "evals.run", "--help")
    turns = [[seconds(*words) for words in commands] for _ in range(tries + 1)][1:]
    middle = lambda values: round(statistics.median(values), 3)
    return {"bare_seconds": middle(bare for bare, _, _ in turns),
            "free_path_of_all_kits": middle(free / bare for bare, free, _ in turns),
            "help_of_a_run": middle(helps / bare for bare, _, helps in turns),
            "help_adds_seconds": middle(helps - bare for bare, _, helps in turns)}


def seconds(*words, **environment):
    """The wall time of a Python command in this checkout."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *words], cwd=kits.ROOT, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    return time.perf_counter() - start


def ratio(one, other):
    return round(one / other, 2)


def overhead(kit, folder, tries, documents=3000):
    """Time of a model run over so many documents beside the bare script's, the same prompts to the same server."""
    data = folder / "data"
    multiplied(kit, data, documents)
    many = kits.load(kit.name, data)
    reply = to_json({key: row.get(key) for row in [next(many.gold())] for key in many.definition.keys(many.book)})
    prefix = "".join(part.text for part in many.prompt(next(many.documents())) if part.fixed)
    job = {"prefix": prefix, "corpus": str(data / "corpus"), "documents": list(many.documents())}
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    bare = ("-c", BARE, str(folder / "job.json"), str(folder / "out.jsonl"))
    run = ("-c", CALLS, kit.name, str(data), str(folder / "cache.jsonl"))
    spent = {"keeps": [], "closes": []}
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(LocalProvider(lambda body: reply, keeps)) for keeps in (True, False)]
        for turn in range(tries + 1):
            for server, pairs in zip(servers, spent.values()):
                environment = {**server.environment(), "STREAM": "off", "EVAL_WORKERS": str(WORKERS)}
                (folder / "cache.jsonl").unlink(missing_ok=True)
                pair = costs(*bare, **environment), costs(*run, **environment)
                if turn:        # the first one compiles
                    pairs.append(pair)
    return {"documents": documents, "workers": WORKERS,
            **{f"server_{what}_connections": _beside(pairs, documents) for what, pairs in spent.items()}}


def _beside(pairs, documents):
    """What pairs of (costs of the bare script, costs of the run) come to."""
    middle = lambda what: round(statistics.median(run[what] / bare[what] for bare, run in pairs), 2)
    return {"bare_seconds_per_document": round(statistics.median(bare[0] for bare, _ in pairs) / documents, 6),
            "run_over_bare": middle(0), "run_over_bare_of_the_processor": middle(1)}


def costs(*words, **environment):
    """(seconds on the wall, seconds of the processor) of one Python command in this checkout."""
    used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    before, wall = used(), seconds(*words, **environment)
    return wall, used() - before


# The calls of a model run and nothing else: prompt, adapter, reply, recheck, cache on disk.
CALLS = """
import sys
from pathlib import Path
from evals.shared import paid, progress
from evals.shared.cache import Cache
from src.shared import config, cost, kit as kits
kit, settings = kits.load(sys.argv[1], sys.argv[2]), config.load()
with Cache(Path(sys.argv[3])) as cache:
    asking = paid.Asking(kit, settings, cache, None)
    asking.budget = cost.Budget(None, asking.pricer, 1, 1)
    paid._ask_all(asking, kit.documents(), settings.eval_workers, progress.Progress(0, quiet=True))
"""


def deciding(kit, folder, bare, small, large):
    """Rows a second through `python -m src.decide`, and its peak memory at two sizes."""
    rows = (kit.data / "facts.jsonl").read_text(encoding="utf-8").splitlines()
    found = {}
    for size in (small, large):
        path = folder / f"rows-{size}.jsonl"
        with path.open("w", encoding="utf-8") as out:
            out.writelines(rows[i % len(rows)] + "\n" for i in range(size))
        found[size] = measured("-m", "src.decide", kit.name, str(path))
    return _rates(found, bare, small, large)


def scoring(kit, folder, bare, small, large):
    """Documents a second through the scorer of a free arm, and its peak memory at two sizes."""
    found = {}
    for size in (small, large):
        multiplied(kit, folder / f"score-{size}", size)
        found[size] = measured("-c", SCORES, kit.name, str(folder / f"score-{size}"), str(folder / f"eval-{size}.json"))
    return _rates(found, bare, small, large)


# The free arm that answers nothing, through recheck, scorer and record, without the label gate.
SCORES = """
import importlib, sys
from pathlib import Path
from evals.shared import arms, record, scoring
from src.shared import follow, kit as kits
kit = kits.load(sys.argv[1], sys.argv[2])
bench = importlib.import_module(f"evals.{kit.name}.bench").BENCH
arm, grading = arms.free(kit, bench)["null"], scoring.Scoring(kit, bench)
entries = (grading.entry(row, follow.read(kit, row["id"], arm.call(row["id"], ""))) for row in kit.gold())
record.write(Path(sys.argv[3]), entries, grading.closing)
"""


def _rates(found, bare, small, large):
    (few, few_kib), (many, many_kib) = found[small], found[large]
    return {"rows": [small, large], "rows_per_second": round((large - small) / max(many - few, 1e-9)),
            "starts_per_1000_rows": ratio((many - few) / (large - small) * 1000, bare),
            "peak_mib": [round(few_kib / 1024, 1), round(many_kib / 1024, 1)],
            "bytes_for_one_more_row": round((many_kib - few_kib) * 1024 / (large - small), 1)}


# Runs its arguments as Python would, then says its own peak: what the parent sees of a child includes the parent.
PEAK = """
import re, runpy, sys
kind, what, *sys.argv[1:] = sys.argv[1:]
try:
    runpy.run_module(what, run_name="__main__", alter_sys=True) if kind == "-m" else exec(what)
except SystemExit as e:
    if e.code:
        raise
print(re.search(r"VmHWM:\\s+([0-9]+) kB", open("/proc/self/status").read())[1], file=sys.stderr)
"""


def measured(*words):
    """(seconds, peak KiB) of one Python command; the peak is Linux's."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", PEAK, *words], cwd=kits.ROOT, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)[:80]} exits with {done.returncode}: {done.stderr.strip()[-300:]}")
    return time.perf_counter() - start, int(done.stderr.split()[-1])


def multiplied(kit, folder, size):
    """The kit's data with its documents again and again under new ids, `size` in all; pages are links to its own."""
    (folder / "corpus").mkdir(parents=True)
    for path in kit.data.iterdir():
        if path.is_file() and path.name not in ("gold.jsonl", "facts.jsonl"):
            (folder / path.name).write_bytes(path.read_bytes())
    gold = list(kit.gold())
    with (folder / "gold.jsonl").open("w", encoding="utf-8") as out:
        for number in range(size):
            row = gold[number % len(gold)]
            name = f"{row['id']}-{number:06}"
            os.symlink(kit.data / "corpus" / f"{row['id']}.txt", folder / "corpus" / f"{name}.txt")
            out.write(to_json({**row, "id": name}) + "\n")


if __name__ == "__main__":
    sys.exit(main())
