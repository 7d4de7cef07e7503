"""Build a kit's corpus and key from its seed, prove that what is committed is such a build, or derive a key anew.

    python -m tools.build_corpus label_restrict            write corpus, facts, gold and stats
    python -m tools.build_corpus --check                   every kit: committed bytes equal a fresh build, no gap
    python -m tools.build_corpus label_restrict --seed 7 --out ../other          write a data folder of another seed
    python -m tools.build_corpus label_restrict --derive-gold --data ../mine     your own facts and rules → gold

A gap is a rule that no document shows in one of its results, a limit without a document just below it, exactly at it
and just above it, or a field with one value throughout. Gaps and differences go to standard error, the exit code is 1.
"""
import os
import shutil
import sys
from pathlib import Path

from src.shared import console, key
from src.shared import kit as kits
from src.shared.files import BadData, parse_json, read_jsonl, replacing, to_json, visible, write_text
from src.shared.values import shown


STATS = "stats.json"        # stands only beside a build, so where it is missing the documents may be somebody's own
KEY = ("gold.jsonl", STATS)


def main(argv=None):
    parser = _arguments()
    args = parser.parse_args(argv)
    if args.seed is not None and not args.out:
        parser.error("--seed goes with --out DIR: the kit's own folder is built from the seed in its kit.json")
    try:
        names = args.kits or kits.names()
        if len(names) > 1 and (args.data or args.out):
            parser.error(f"--data and --out take one kit; name it: {', '.join(kits.names())}")
        opened = [kits.load(name, args.data) for name in names]
        return 1 if sum([_run(kit, args) for kit in opened]) else 0
    except BadData as e:
        print(e, file=sys.stderr)
    except OSError as e:
        print(f"{e.filename}: {e.strerror}", file=sys.stderr)
    return 2


def build(kit, seed):
    """{path in the data folder: text} as the kit's generator gives it. BadData for a kit that has none."""
    if kit.definition.build is None:
        raise BadData(f"{kit.name}: the kit has no generator; use --derive-gold to derive a key from facts.jsonl")
    return kit.definition.build(kit.book, seed)


def write(kit, built, replace=False):
    """Put a build into the kit's data folder. BadData, and nothing is written, where documents would be left over.

    So it is where documents that are no build would be replaced, unless to `replace` them is asked for.
    """
    own = not (kit.data / STATS).exists() and bool(visible(kit.data / "corpus"))
    if own and not replace and not _is_of(kit, built):
        raise BadData(f"{_shown(kit.data / 'corpus')}: holds documents that are no build (there is no {STATS}); a "
                      "build would replace them: use --derive-gold to keep them, or --replace to draw others")
    strays = [f"{_shown(path)}: is no document of this build; delete it, or keep your own documents and use "
              f"--derive-gold" for path in _left_over(kit.data, built)]
    if strays:
        raise BadData(*strays)
    for name, text in built.items():
        write_text(kit.data / name, text)


def write_copy(kit, built, seed, out):
    """Write a whole data folder: the kit's hand-written files, kit.json with this seed, and the build."""
    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadData(f"{_shown(out)}: is not an empty folder; --out names a new one")
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted(kit.data.iterdir()):
        if path.is_file() and path.name not in built:
            shutil.copyfile(path, out / path.name)
    write_text(out / kits.MARKER, to_json({**kit.about, "seed": seed}, indent=2) + "\n")
    for name, text in built.items():
        write_text(out / name, text)


def differences(kit, built):
    """A sentence for each file that is not, byte for byte, what a fresh build gives."""
    for path in _left_over(kit.data, built):
        yield f"{_shown(path)}: is no document of this build; delete it"
    for name, text in built.items():
        path = kit.data / name
        found = path.read_bytes() if path.is_file() else None
        if found is None:
            yield f"{_shown(path)}: is missing"
        elif found != text.encode():
            pairs = zip(found.split(b"\n"), text.encode().split(b"\n"))
            line = next((i for i, (old, new) in enumerate(pairs, 1) if old != new), "after the last common one")
            yield f"{_shown(path)}: line {line}: differs from a fresh build"


def derive_gold(kit):
    """Write gold.jsonl from facts.jsonl and the folder's own rules, one row in memory at a time; returns the row count.

    BadData lists every row that cannot be decided, and the old key stays.
    """
    path, problems, rows = kit.data / "facts.jsonl", [], 0
    names = kit.definition.keys(kit.book)
    with replacing(kit.data / "gold.jsonl") as gold:
        for rows, (number, facts) in enumerate(read_jsonl(path), 1):
            try:
                if not kits.is_file_name(facts.get("id")):
                    raise BadData(f"id {shown(facts.get('id'))} is no document; write the name of a file in corpus/, "
                                  f"without .txt")
                answers = kit.definition.decide(kit.book, facts)
                if "unknown_key" in answers["flags"]:
                    raise BadData(*(note for note in answers["notes"] if " is no field" in note))
                gold.write(key.json_lines([key.gold_row(facts, answers, names)]))
            except BadData as e:
                problems += [f"{_shown(path)}: line {number}: {problem}" for problem in e.problems]
        if not rows:
            problems.append(f"{_shown(path)}: has no row; a key is derived from one row a document")
        if problems:
            raise BadData(*problems)
    return rows


def _is_of(kit, built):
    """Whether everything that a key is derived from lies there as a fresh build gives it."""
    return all((kit.data / name).is_file() and (kit.data / name).read_bytes() == text.encode()
               for name, text in built.items() if name not in KEY) and not _left_over(kit.data, built)


def _count_anew(kit):
    """Let stats.json count the derived key where the documents are such as a build gives; else take it away and say so.
    """
    stats = kit.data / STATS
    try:
        built = build(kit, _seed(kit))
    except BadData:     # as where no case is planned yet: then nobody drew these documents
        built = None
    if built and _is_of(kit, built):
        write_text(stats, built[STATS])
    elif stats.exists():
        stats.unlink()
        print(f"{kit.name}: {_shown(stats)} is taken away: it counted documents that were drawn, and these are not what "
              f"the rules and plans beside them would draw; nothing but the tests of drawn documents asks for it",
              file=sys.stderr)


def _run(kit, args):
    """One kit, as the arguments ask; returns how many problems there are."""
    if args.derive_gold:
        rows = derive_gold(kit)
        _count_anew(kit)
        print(f"{kit.name}: {rows} rows derived into {_shown(kit.data / 'gold.jsonl')}; "
              f"now: {_gate(kit, args.data)}")
        return 0
    seed = _seed(kit) if args.seed is None else args.seed
    built = build(kit, seed)
    stats = parse_json(built["stats.json"], "stats.json")
    problems = list(key.gaps(stats))
    if args.check:
        problems = list(differences(kit, built)) + problems
    elif args.out:
        write_copy(kit, built, seed, args.out)
    else:
        write(kit, built, args.replace)
    _tell(kit, stats, problems, args)
    return len(problems)


def _tell(kit, stats, problems, args):
    for problem in problems:
        print(f"{kit.name}: {problem}", file=sys.stderr)
    what = f"{kit.name}: {stats['documents']} documents of seed {stats['seed']}"
    if not args.check:
        print(f"{what} written to {_shown(args.out or kit.data)}; now: {_gate(kit, args.out or args.data)}")
    elif problems:
        print(f"{what}: {len(problems)} problems; if a change is meant, build without --check and read the diff")
    else:
        print(f"{what}: the bytes are those of a fresh build; every rule and both sides of every limit occur")


def _gate(kit, data):
    """The command that judges what was written; a stand-alone kit's commands need no name."""
    return "python -m evals.check_labels" + ("" if kit.alone else f" {kit.name}") + (f" --data {data}" if data else "")


def _seed(kit):
    seed = kit.about.get("seed")
    if type(seed) is not int:
        raise BadData(f"{_shown(kit.data / kits.MARKER)}: /seed: {seed!r} is not a whole number to draw from")
    return seed


def _left_over(folder, built):
    """Documents in the folder's corpus that a build would neither write nor replace."""
    return [path for path in visible(Path(folder) / "corpus") if f"corpus/{path.name}" not in built]


def _shown(path):
    inner = os.path.relpath(path)
    return str(path) if inner.startswith(os.pardir) else inner


def _arguments():
    parser = console.parser("tools.build_corpus", __doc__, "python -m tools.build_corpus {kit} --check")
    parser.add_argument("kits", nargs="*", metavar="KIT", help="kits to build (default: all)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="write nothing; compare with a fresh build, find gaps")
    what.add_argument("--derive-gold", action="store_true", help="write gold.jsonl alone, from facts.jsonl and rules")
    what.add_argument("--out", metavar="DIR", help="write a whole data folder to DIR, which must be new or empty")
    parser.add_argument("--replace", action="store_true", help="build over documents that are no build")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the copy (default: the one in kit.json)")
    parser.add_argument("--data", metavar="DIR", help="data folder to work on (default: the kit's)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
