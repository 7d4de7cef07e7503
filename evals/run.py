"""Run the arms of the kits and print what they got right, what they got wrong and which errors are expensive.

    python -m evals.run                                    every free arm of every kit; no key, no network
    python -m evals.run label-restrict --arm note-tone     one arm
    python -m evals.run label-restrict --arm model --run-id r001-label-restrict

The label gate runs first and refuses on any problem. Exit codes: 0 all well, 1 a gate failed, 2 usage or
configuration, 3 no verdict since calls are unanswered, 130 interrupted.
"""
import argparse
import collections
import contextlib
import functools
import importlib
import os
import shlex
import sys
from decimal import Decimal, InvalidOperation

from evals import check_labels
from evals.shared import arms, export, progress, record, scoring, shards, spending, table, thresholds
from src.shared import abreast, console, follow
from src.shared import kit as kits
from src.shared.fields import near
from src.shared.files import BadData

MODEL = "model"
# A run with any of these off its default is a calibration and no scored run.
PUBLISHED = ("max_tokens", "json_mode", "thinking", "temperature")
# What came of a kit: its exit code, the paths of the records that were written, and the table.
Ran = collections.namedtuple("Ran", "code paths text")
INTERRUPTED = "interrupted; what was kept before is kept, run the same command again"


def main(argv=None):
    args = _arguments().parse_args(argv)
    args.words = sys.argv[1:] if argv is None else list(argv)
    return console.run(lambda: run(args), INTERRUPTED)


def run(args):
    """Do what the arguments say; returns the exit code."""
    names = args.kit or (kits.names() if args.data is None else [None])
    if args.data is not None and len(names) != 1:
        raise BadData("--data is the folder of one kit; name that kit")
    _check(args, len(names) == 1)
    # An arm may ask a person, a provider and the day's ledger: one after the other. Free readers need nothing.
    each = map if args.arm or args.run_id or args.dry_run else abreast.each
    code, ran = 0, []
    for found in each(functools.partial(_run_named, args), names):
        if found is None:
            code = max(code, 1)
            break
        code = max(code, found.code)
        ran.append(found)
    paths = [path for found in ran for path in found.paths]
    for file in args.output or () if paths else ():
        export.write(file, paths, "\n\n".join(found.text for found in ran))
    return code


def _run_named(args, name):
    """Open a kit, see that its labels follow, and run it; the Ran, or None where they do not and nothing ran."""
    kit = kits.load(name, args.data)
    for setting, value in args.set:
        kit.set(setting, value)
    report = check_labels.gate(kit)
    if report.problems:
        print(check_labels.render(kit.name, report), file=sys.stderr)
        if not args.dry_run:            # a prompt may be looked at while the labels are being mended
            return None
    return _run_kit(args, kit, report)


def _run_kit(args, kit, report):
    bench = importlib.import_module(f"evals.{kit.name}.bench").BENCH
    free = arms.free(kit, bench)
    asked = {MODEL: ("r", kit.definition.prompt), **(kit.definition.variants or {})}
    known = _kept(args, kit)
    arm = args.arm or (known and known["arm"])
    if arm is None and args.run_id or args.rescore and known is None:
        _refuse_unknown(args, kit)
    if arm is not None and arm not in (*free, *asked):
        raise BadData(f"{kit.name} has no arm {arm}{near(arm, [*free, *asked])}; arms: {', '.join([*free, *asked])}")
    if known and known["arm"] != arm:
        raise BadData(f"{known['id']} is a run of the arm {known['arm']}, not of {arm}; give another --run-id")
    if args.rescore and known:
        args.docs, args.limit = known["select"]["docs"], known["select"]["limit"]
    if args.rescore or arm not in asked and not args.dry_run:
        spending.tell_unheard(args, "--rescore" if args.rescore else f"the arm {arm}" if arm else "a free arm")
    letter, prompt = asked.get(arm, asked[MODEL])
    kit.definition = kit.definition._replace(prompt=prompt)
    _foresee(args, kit, bench)
    if args.dry_run:
        return _dry_run(args, kit)
    if arm in asked:
        return _run_model(args, kit, bench, free, arm, letter)
    ran = _run_free(args, kit, bench, [free[arm]] if arm else list(free.values()))
    records = {name: found for name, (found, _) in ran.items()}
    beside = _baselines(args, kit, bench, free, (arm,)) if arm and not (args.quiet or args.json) else {}
    text = table.free(kit, bench, records | beside, report.says)
    _say(args, text, records)
    if arm and not (args.quiet or args.json):
        print(f"record: {ran[arm][1]}\nlook at it: {_look(args)}", file=sys.stderr)
    code = 3 if any(found["totals"]["outcomes"][follow.HARNESS] for found in records.values()) else 0
    return _conclude(args, code, text, [path for _, path in ran.values()], records)


def _run_free(args, kit, bench, chosen):
    """Run free arms over the documents, all in one pass, and write their records.

    Returns {arm name: (record without its documents, its path)}.
    """
    placed = {arm.name: _place(args, kit, arm.name, _letter(args, arm.letter)) for arm in chosen}
    placed = {name: (run_id, _apart(args, kit, path)) for name, (run_id, path) in placed.items()}
    gradings = {arm.name: scoring.Scoring(kit, bench) for arm in chosen}
    done = {}
    with contextlib.ExitStack() as stack:
        writers = {name: stack.enter_context(record.Writer(path, is_kept=bool(args.run_id)))
                   for name, (_, path) in placed.items()}
        for row in _wanted(args, kit):
            known, text = scoring.labelled(kit, bench, row), kit.text(row["id"])
            for arm in chosen:
                followed = follow.safely(kit, row["id"], arm.call(row["id"], text))
                writers[arm.name].add(gradings[arm.name].entry(known, followed))
        for name, (run_id, path) in placed.items():
            found = {**gradings[name].closing(), "settings": None, "run": _header(args, kit, name, run_id)}
            writers[name].close(found)
            done[name] = found, path
    return done


def _run_model(args, kit, bench, free, arm, letter):
    """Run the model arm, or one of the kit's own variants of its prompt, whose run ids begin with `letter`."""
    from evals.shared import paid           # threads and the network: nothing that a free run needs
    from src.shared import config
    settings = None if args.rescore else config.load()
    if settings:
        settings.require_provider()
    changed = settings and (args.max_tokens or any(getattr(settings, name) != getattr(config.Settings, name)
                                                   for name in PUBLISHED))
    letter = args.run_id[0] if args.rescore else "c" if changed else _letter(args, letter)
    run_id, path = _place(args, kit, arm, letter)
    job = paid.Job(run_id, path, _apart(args, kit, path), kit, bench, settings, lambda: _wanted(args, kit), args,
                   _header(args, kit, arm, run_id), bool(args.run_id), _go_on(args), _look(args))
    found, code = paid.run(job)
    if not found:
        return Ran(code, [], "")
    is_shown = args.output or not (args.quiet or args.json)
    text = table.single(kit, bench, found, _baselines(args, kit, bench, free, ("null",))) if is_shown else ""
    _say(args, text, found)
    return _conclude(args, code, text, [_apart(args, kit, path)], {arm: found})


def _baselines(args, kit, bench, free, but):
    """The records of the free floors `but` for some, unkept: what stands beside a figure. {arm name: record}."""
    unkept = argparse.Namespace(**{**vars(args), "run_id": None})
    chosen = [each for name, each in free.items() if each.letter == "b" and name not in but]
    return {name: found for name, (found, _) in _run_free(unkept, kit, bench, chosen).items()}


def _conclude(args, code, text, paths, records):
    """Hold a run against its thresholds, and say what came of it; the Ran."""
    verdicts = [thresholds.reached(found, args.floors) for found in records.values()]
    if args.baseline:
        (path,) = paths
        verdicts.append(thresholds.regressions(path, args.baseline, args.max_regressions))
    for _, lines in verdicts:
        print(*lines, sep="\n", end="\n" if lines else "", file=sys.stderr)
    return Ran(max([code, *(verdict for verdict, _ in verdicts)]), paths, text)


def _foresee(args, kit, bench):
    """Find what would only come to light behind the calls: a metric or baseline that is not there, a place to write."""
    known = [metric.id for metric in bench.metrics]
    for _, name, _ in args.floors:
        if name.startswith("field.") and not any(mark.startswith("field.") for mark in known):
            marks = {mark for row in kit.gold() for mark in scoring.labelled(kit, bench, row).null.hits}
            known += sorted(mark for mark in marks if mark.startswith("field."))
        if name not in known:
            raise BadData(f"--fail-under {name}: no such metric{near(name, known)}; metrics: {', '.join(known)}")
    if args.baseline:
        path = record.find(kit, args.baseline)
        if args.run_id and path == record.path_of(kit.results, args.run_id):
            raise BadData(f"--baseline {args.baseline}: is this very run; name the one before it")
        record.read(path)
        args.baseline = path


def _apart(args, kit, path):
    """Where a record scored with --set goes, since a kept run stays what it was published as; else its own place."""
    return kit.results / "local" / path.name if args.set else path


def _dry_run(args, kit):
    """Print one whole prompt as it would be sent, and the size of each part."""
    row = next(_wanted(args, kit), None)
    if row is None:
        raise BadData("no document is in this selection")
    parts = kit.prompt(row["id"])
    print("".join(part.text for part in parts))
    for part in parts:
        print(f"{part.name}: {len(part.text):,} characters{', the same on every call' if part.fixed else ''}",
              file=sys.stderr)
    return Ran(0, [], "")


def _say(args, text, found):
    if args.json:
        print(record.line(found))
    elif not args.quiet:
        print(text + "\n")


def _kept(args, kit):
    """What the run that is gone on with says of itself, from its record or its replies; None where there is none."""
    if not (args.run_id and (args.resume or args.rescore)):
        return None
    record.check_id(args.run_id, kit, args.run_id[0])
    return record.header(record.path_of(kit.results, args.run_id + shards.suffix(args.share)))


def _refuse_unknown(args, kit):
    """BadData for a run to go on with of which there is nothing: no record and no reply."""
    path = record.path_of(kit.results, args.run_id + shards.suffix(args.share))
    if not (path.exists() or record.cache_of(path).exists()):
        ids = [each.name.removeprefix("eval-").removesuffix(".json") for each in kit.results.glob("eval-*.json")]
        raise BadData(f"{args.run_id}: no such run, {path} is not there{near(args.run_id, ids)}; to begin one, give "
                      "its --arm, and no --rescore")


def _letter(args, letter):
    """A part of the documents makes a calibration of a model run and of a floor alike."""
    return "c" if args.limit or args.docs else letter


def _place(args, kit, arm, letter):
    """(run id, record path): under `local/` without a run id. A committed run is never overwritten."""
    if not args.run_id:
        run_id = f"{letter}000-{kit.hyphened}-{arm}"
        return run_id, record.path_of(kit.results / "local", run_id + shards.suffix(args.share))
    record.check_id(args.run_id, kit, letter)
    path = record.path_of(kit.results, args.run_id + shards.suffix(args.share))
    if path.exists() and not (args.resume or args.rescore):
        raise BadData(f"{path}: the run exists and is not overwritten; choose another --run-id, or --rescore it")
    return args.run_id, path


def _header(args, kit, arm, run_id):
    """The run's entry of its record: what makes it the run it is, and not where or how often it was gone on with."""
    words = [kit.hyphened, "--arm", arm, *(["--run-id", args.run_id] if args.run_id else [])]
    for name in ("docs", "limit", "max_tokens", "data"):
        if getattr(args, name) is not None:
            words += [f"--{name.replace('_', '-')}", str(getattr(args, name))]
    return {"id": run_id, "kit": kit.name, "arm": arm, "command": shlex.join(["python", "-m", "evals.run", *words]),
            "date": progress.now()[:10], "set": {name: str(value) for name, value in args.set},
            "select": {"docs": args.docs, "limit": args.limit}, "code": scoring.code_hash(kits.ROOT, kit)}


def _go_on(args):
    """The command that goes on with this run: as it was typed, its share named."""
    words = [word for word in args.words if word not in ("--rescore", "--resume")]
    if args.share:
        words = [word for i, word in enumerate(words) if not word.startswith("--shard")
                 and not (i and words[i - 1] == "--shard" and shards.FORM.fullmatch(word))]
        words += ["--shard", f"{args.share.index}/{args.share.of}"]
    return shlex.join(["python", "-m", "evals.run", *words, *(["--resume"] if args.run_id else [])])


def _look(args):
    """The command that shows this run on the board."""
    return shlex.join(["python", "-m", "src.app", *(["--data", args.data] if args.data else [])])


def _wanted(args, kit):
    """Yield the gold rows that --docs, --limit and --shard leave, in order."""
    return (row for row in scoring.wanted(kit, args.docs, args.limit)
            if args.share is None or shards.holds(args.share, row["id"]))


def _check(args, one):
    """Refuse combinations of options that mean nothing, before anything runs; `one` where one kit is named."""
    going_on = args.resume or args.rescore
    if args.run_id and not (one and (args.arm or going_on)):
        raise BadData("--run-id names one run: give one kit and an --arm with it")
    if going_on and not args.run_id:
        raise BadData("--resume and --rescore work on a run: name it with --run-id")
    if args.rescore and (args.docs is not None or args.limit is not None):
        raise BadData("--rescore scores the whole run anew; leave --docs and --limit out")
    args.set = [_setting(text) for text in args.set or ()]
    if args.set and not (one and (args.rescore or not args.run_id)):
        raise BadData("--set scores one kit's answers anew: give a kit, and --rescore with a --run-id")
    if args.docs is not None and not (one and args.docs.strip()):
        raise BadData("--docs names documents of one kit; name that kit and at least one document")
    if args.baseline and not args.arm:
        raise BadData("--baseline holds one run against another: name its --arm")
    if args.fail_under and not args.arm:
        raise BadData("--fail-under holds one run to a figure: name its --arm")
    if args.max_regressions is not None and not args.baseline:
        raise BadData("--max-regressions counts against a run: name it with --baseline")
    args.max_regressions = args.max_regressions or 0
    if args.max_regressions < 0:
        raise BadData(f"--max-regressions {args.max_regressions}: a whole number from 0 is wanted")
    args.share = None if args.shard is None else shards.parse(args.shard, os.environ)
    args.floors = thresholds.floors(args.fail_under or ())
    for file in args.output or ():
        export.check(file)
    for name in ("limit", "workers", "max_tokens"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise BadData(f"--{name.replace('_', '-')} {value}: a whole number from 1 is wanted")


def _setting(text):
    """`NAME=VALUE` of --set as (name, Decimal)."""
    name, _, value = text.partition("=")
    try:
        return name, Decimal(value)
    except InvalidOperation:
        raise BadData(f"--set {text}: write it like coverage_min=0.5") from None


def _arguments():
    parser = console.parser("evals.run", __doc__, "python -m evals.run {kit} --arm null")
    add = parser.add_argument
    add("kit", nargs="*", help="kits to run (default: all)")
    add("--arm", metavar="NAME", help="one arm: a floor, stub, model, or a kit's own variant of it (default: all free "
        "arms)")
    add("--run-id", metavar="ID", help=f"keep the run under this name, like b001-{console.a_kit()} (default: "
        "results/…/local)")
    add("--resume", action="store_true", help="ask only for the documents that the run's cache does not answer: errors "
        "(no connection, no output, cut at MAX_TOKENS, refused) are asked again, a whole reply never, be it readable "
        "or not")
    add("--rescore", action="store_true", help="do everything behind the reply again, from the cache; never a call")
    add("--set", action="append", metavar="NAME=VALUE", help="score with another setting of kit.json, like "
        "coverage_min=0.5; with --rescore the kept record stays, the new one goes to results/…/local")
    add("--docs", metavar="ID,GLOB", help="only these documents (default: all)")
    add("--limit", type=int, metavar="N", help="only the first N documents (default: all)")
    add("--workers", type=int, metavar="N", help="calls at a time (default: EVAL_WORKERS)")
    add("--max-tokens", type=int, metavar="N", help="most tokens of one reply (default: MAX_TOKENS)")
    add("--data", metavar="DIR", help="data folder with your own rules and documents (default: the kit's)")
    add("--yes", action="store_true", help="spend without asking")
    add("--dry-run", action="store_true", help="print one whole prompt with the sizes of its parts and stop")
    add("-o", dest="output", action="append", metavar="FILE", help="also write the result here; .json .csv .junit.xml "
        ".md")
    add("--shard", nargs="?", const="", metavar="I/N", help="one share of the documents; inside an array job N or "
        "nothing is enough (default: all)")
    add("--fail-under", action="append", metavar="METRIC=VALUE", help="exit 1 when a rate is lower, like verdict=0.95 "
        "or rechecked.verdict=0.95")
    add("--baseline", metavar="RUN", help="hold this run against another: a run id or a record's path")
    add("--max-regressions", type=int, metavar="N", help="exit 1 when more documents are worse than in the baseline "
        "(default: 0)")
    add("--json", action="store_true", help="print the aggregates as JSON instead of the table")
    add("--quiet", action="store_true", help="print nothing but errors")
    return parser


if __name__ == "__main__":
    sys.exit(main())
