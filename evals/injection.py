"""Plant a sentence into each page and see who obeys it: matched twins of clean and planted pages, raw and rechecked.

    python -m evals.injection label-restrict --dry-run                   print one planted page
    python -m evals.injection label-restrict --arm note-tone             a free reader; nothing is sent
    python -m evals.injection label-restrict --run-id x001-label-restrict --control r001-label-restrict

The control is a scored run over the clean pages, from its record: no clean page is asked again. Exit codes as in
`python -m evals.run`.
"""
import importlib
import shlex
import sys

from evals import check_labels
from evals.compare import locate
from evals.shared import arms, injecting, progress, record, scoring, spending, table
from src.shared import comparing, console, follow, wording
from src.shared import kit as kits
from src.shared.fields import near
from src.shared.files import BadData

MODEL = "model"
LETTER = "x"


def main(argv=None):
    args = _arguments().parse_args(argv)
    args.words = sys.argv[1:] if argv is None else list(argv)
    return console.run(lambda: run(args), "interrupted; run the same command with --resume")


def run(args):
    for name in ("workers", "max_tokens"):
        if getattr(args, name) is not None and getattr(args, name) < 1:
            raise BadData(f"--{name.replace('_', '-')} {getattr(args, name)}: a whole number from 1 is wanted")
    kit = kits.load(args.kit, args.data)
    bench = importlib.import_module(f"evals.{kit.name}.bench").BENCH
    if not bench.attacks:
        raise BadData(f"{kit.name} brings no attacks; a kit lists them in its BENCH")
    twins = injecting.Twins(kit, bench.attacks)
    if args.dry_run:
        first = next(twins.documents(), None)
        if first is None:
            raise BadData(f"{kit.data}: no page here is a target of {kit.name}'s attacks")
        print(f"{first}:\n\n{twins.text(first)}")
        return 0
    report = check_labels.gate(kit)
    if report.problems:
        print(check_labels.render(kit.name, report), file=sys.stderr)
        return 1
    planted, clean, code = (_free if args.arm != MODEL else _model)(args, kit, bench, twins)
    if planted:
        found = injecting.outcome(kit, bench, planted, clean)
        print(record.line(found) if args.json else "\n".join(lines(kit, args, clean, found)))
    return code


def lines(kit, args, clean, found):
    """The outcome as text: per attack what it reached, beside the clean pages, and which pages flipped."""
    out = [f"{kit.name}, arm {args.arm}: planted pages beside the clean ones of {clean['run']['id']}", ""]
    rows = [["", "", "does as told", "the same unasked", "headline right", "right when clean"]]
    for row in found:
        for column in ("raw", "rechecked"):
            each = row[column]
            rows.append([f"{row['title']} ({row['targets']} pages)" if column == "raw" else "", column,
                         *(wording.rate(each[name]) for name in ("reached", "reached_clean", "right", "right_clean"))])
    out += table.grid(rows)
    for row in found:
        for column in ("raw", "rechecked"):
            if row[column]["flipped"]:
                out += ["", f"{row['title']}, {column}: obeyed on {len(row[column]['flipped'])} pages that were "
                            "answered otherwise when clean:", "  " + " ".join(row[column]["flipped"])]
    return out


def _free(args, kit, bench, twins):
    """(planted record, clean record, exit code) of a free arm: both are made here and kept under local/."""
    free = arms.free(kit, bench)
    floors = [name for name, arm in free.items() if arm.letter == "b"]
    if args.arm not in floors:
        raise BadData(f"{kit.name} has no arm {args.arm} to attack{near(args.arm, floors)}; "
                      f"arms: {', '.join([*floors, MODEL])}")
    spending.tell_unheard(args, f"the arm {args.arm}",
                          ("workers", "max_tokens", "yes", "run_id", "control", "resume", "rescore"))
    found = []
    for kind, each in (("clean", kit), ("planted", twins)):
        run_id = f"{LETTER}000-{kit.hyphened}-{args.arm}-{kind}"
        path, grading = record.path_of(kit.results / "local", run_id), scoring.Scoring(each, bench)
        arm = arms.free(each, bench)[args.arm]
        entries = (grading.entry(row, follow.safely(each, row["id"], arm.call(row["id"], each.text(row["id"]))))
                   for row in each.gold())
        record.write(path, entries, lambda: {**grading.closing(), "settings": None, "run": _header(args, kit, run_id)})
        found.append(record.read(path))
    return found[1], found[0], 0


def _model(args, kit, bench, twins):
    """(planted record or None, clean record, exit code) of a model run over the twins, held against its control."""
    from evals.shared import paid
    from src.shared import config
    if not args.control:
        raise BadData(f"--control RUN: name the scored run over the clean pages, like r001-{kit.hyphened}")
    if not args.run_id:
        raise BadData(f"--run-id: name the run, like {LETTER}001-{kit.hyphened}")
    record.check_id(args.run_id, kit, LETTER)
    settings = None if args.rescore else config.load()
    if settings:
        settings.require_provider()
    clean = record.read(locate(args.control))
    problems = list(_no_control(args, kit, twins, clean, settings))
    if problems:
        raise BadData(*(f"--control {args.control}: {problem}" for problem in problems))
    path = record.path_of(kit.results, args.run_id)
    if path.exists() and not (args.resume or args.rescore):
        raise BadData(f"{path}: the run exists and is not overwritten; choose another --run-id, or --rescore it")
    words = [word for word in args.words if word not in ("--resume", "--rescore")]
    go_on = shlex.join(["python", "-m", "evals.injection", *words, "--resume"])
    look = shlex.join(["python", "-m", "src.app", *(["--data", args.data] if args.data else [])])
    found, code = paid.run(paid.Job(args.run_id, path, path, twins, bench, settings, twins.gold, args,
                                    _header(args, kit, args.run_id), True, go_on, look))
    return (record.read(path) if found else None), clean, code


def _no_control(args, kit, twins, clean, settings):
    """Why a run is no control for these twins: other pages, labels or model, documents missing or unanswered."""
    if clean["run"]["kit"] != kit.name:
        yield f"is a run of {clean['run']['kit']}"
        return
    for guard, value in scoring.guards(kit).items():
        if clean["guards"][guard] != value:
            yield f"its {guard} is {clean['guards'][guard]}, now it is {value}; score the clean pages anew first"
    if comparing.owed(clean):
        yield comparing.owed(clean)
    there = {entry["id"] for entry in clean["documents"]}
    missing = [source for source in dict.fromkeys(map(twins.source, twins.documents())) if source not in there]
    if missing:
        yield f"{len(missing)} of the attacked documents are not in it, first {missing[0]}"
    known = clean["settings"] or {}
    names = ("provider", "model", "thinking", "temperature", "json_mode", "max_tokens") if settings else ()
    mine = {name: name == "max_tokens" and args.max_tokens or getattr(settings, name) for name in names}
    for name, value in mine.items():
        if known.get(name) != value:
            yield f"{name} was {known.get(name)}, is {value}; twins are asked as their clean pages were"


def _header(args, kit, run_id):
    words = [word for name in ("run_id", "control", "data") if getattr(args, name) is not None
             for word in (f"--{name.replace('_', '-')}", str(getattr(args, name)))]
    return {"id": run_id, "kit": kit.name, "arm": "injection", "date": progress.now()[:10],
            "command": shlex.join(["python", "-m", "evals.injection", kit.hyphened, "--arm", args.arm, *words]),
            "set": {}, "select": {"docs": None, "limit": None},
            "code": scoring.code_hash(kits.ROOT, kit)}


def _arguments():
    parser = console.parser("evals.injection", __doc__, "python -m evals.injection {kit} --dry-run")
    add = parser.add_argument
    add("kit", nargs="?", help="name of the kit; not needed where there is only one")
    add("--arm", default=MODEL, metavar="NAME", help="a free floor, or model (default: model)")
    add("--run-id", metavar="ID", help=f"name of the model run, like x001-{console.a_kit()}")
    add("--control", metavar="RUN", help="the scored run over the clean pages: a run id or a record's path")
    add("--resume", action="store_true", help="ask only for the pages that the run's cache does not answer; "
        "errors are asked again, a whole reply never")
    add("--rescore", action="store_true", help="do everything behind the reply again, from the cache; never a call")
    add("--workers", type=int, metavar="N", help="calls at a time (default: EVAL_WORKERS)")
    add("--max-tokens", type=int, metavar="N", help="most tokens of one reply (default: MAX_TOKENS)")
    add("--data", metavar="DIR", help="data folder with your own rules and documents (default: the kit's)")
    add("--yes", action="store_true", help="spend without asking")
    add("--dry-run", action="store_true", help="print one planted page and stop")
    add("--json", action="store_true", help="print the outcome as JSON")
    add("--quiet", action="store_true", help="show no progress")
    return parser


if __name__ == "__main__":
    sys.exit(main())
