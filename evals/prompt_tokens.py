"""Measure how many tokens each part of a prompt is, by the provider's count: nested prefixes, one output token each.

    python -m evals.prompt_tokens label-restrict LBL-0001 LBL-0032 --run-id c001-label-restrict

A call is made for the prompt cut behind each part; a part's size is the difference of two counts. At least two
documents are measured, so that the fixed prefix is seen to be the same and not argued to be. Writes
`results/KIT/tokens-ID.json`. Exit codes: 0 measured, 2 usage or configuration, 3 a count is missing.
"""
import shlex
import sys

from evals.shared import progress, record, spending
from src.shared import config, console, ledger
from src.shared import kit as kits
from src.shared.fields import near
from src.shared.files import BadData, to_json, write_text
from src.shared.parts import Part

# Closes every prefix, so that each has a user turn and all differ by whole parts alone.
PROBE = Part("probe", "user", ".", True, None)
LETTER = "c"


def main(argv=None):
    args = _arguments().parse_args(argv)
    args.words = sys.argv[1:] if argv is None else list(argv)
    return console.run(lambda: run(args))


def run(args):
    """Measure, keep and print; returns the exit code."""
    if args.kit and len(kits.names()) == 1 and args.kit.replace("-", "_") not in kits.names():
        args.kit, args.documents = None, [args.kit, *args.documents]        # the only kit needs no name
    kit = kits.load(args.kit, args.data)
    record.check_id(args.run_id, kit, LETTER)
    path = kit.results / f"tokens-{args.run_id}.json"
    if path.exists():
        raise BadData(f"{path}: is there already; a kept measurement is not overwritten")
    try:
        found = measure(kit, _documents(kit, args.documents), args)
    except ledger.Limit as e:
        print(f"{e}; the measurement is incomplete and nothing is kept of it", file=sys.stderr)
        return 3
    if found is None:
        return 3
    write_text(path, to_json(found, indent=2) + "\n")
    print("\n".join([*lines(found), f"record: {path}"]))
    return 0


def measure(kit, documents, args):
    """{"parts": [{"part", "fixed", document: tokens…}], "prefix_is_fixed", …}; None where no count came."""
    from src.shared import adapters
    settings = config.load()
    settings.require_provider()
    prompts = {document: kit.prompt(document) for document in documents}
    calls = sum(len(parts) + 1 for parts in prompts.values())
    if not spending.confirm(f"{calls} calls of one output token to {settings.model} at {settings.host}", args.yes):
        raise BadData("nothing was sent")
    day = ledger.Ledger(settings.max_calls_per_day)
    schema = kit.definition.schema(kit.book) if settings.json_mode == "schema" else None
    counts = {}
    for document, parts in prompts.items():
        counts[document] = []
        for behind in range(len(parts) + 1):
            day.take()
            call = adapters.complete(settings, [*parts[:behind], PROBE], max_tokens=1, schema=schema,
                                     again=day.may_take)
            tokens = (call.usage or {}).get("input")
            if tokens is None:
                place = parts[behind - 1].name if behind else "nothing"
                print(f"{document}, behind {place}: the provider gave no count: "
                      f"{(call.error or {}).get('message', 'no usage in the reply')}", file=sys.stderr)
                return None
            counts[document].append(tokens)
    return _found(kit, args, settings, prompts, counts)


def lines(found):
    """The measurement as text."""
    out = [f"{found['run']['id']}: tokens by {found['settings']['model']}'s own count"]
    for part in found["parts"]:
        sizes = ", ".join(f"{document} {tokens:,}" for document, tokens in part["tokens"].items())
        out.append(f"  {part['part']}: {sizes}{', fixed' if part['fixed'] else ''}")
    for document, whole in found["whole"].items():
        fixed = sum(part["tokens"][document] for part in found["parts"] if part["fixed"])
        share = f"{100 * fixed / whole:.0f} %" if whole > 0 else "no share: counted the same with and without"
        out.append(f"  {document}: {fixed:,} of {whole:,} tokens ({share}) are the same on every call")
    if not found["prefix_is_fixed"]:
        out.append("  the fixed parts were counted differently on these documents: the prefix is not fixed, or the "
                   "count is not exact")
    return out


def _found(kit, args, settings, prompts, counts):
    names = [(part.name, part.fixed) for part in next(iter(prompts.values()))]
    parts = [{"part": name, "fixed": fixed,
              "characters": {document: len(prompts[document][i].text) for document in prompts},
              "tokens": {document: counts[document][i + 1] - counts[document][i] for document in prompts}}
             for i, (name, fixed) in enumerate(names)]
    command = shlex.join(["python", "-m", "evals.prompt_tokens", *args.words])
    return {"run": {"id": args.run_id, "kit": kit.name, "arm": "prompt_tokens", "date": progress.now()[:10],
                    "command": command},
            "settings": settings.public(), "parts": parts,
            "probe": {document: counts[document][0] for document in prompts},
            "whole": {document: counts[document][-1] - counts[document][0] for document in prompts},
            "prefix_is_fixed": all(len(set(part["tokens"].values())) == 1 for part in parts if part["fixed"])}


def _documents(kit, wanted):
    """The documents named, and the first other one where only one is: a fixed prefix shows on two."""
    known = list(kit.documents())
    for document in wanted:
        if document not in known:
            raise BadData(f"{kit.name} has no document {document}{near(document, known)}")
    wanted = list(dict.fromkeys(wanted))
    others = [document for document in known if document not in wanted]
    if len(wanted) == 1 and not others:
        raise BadData(f"{kit.data}: has one document alone; whether a prefix is fixed shows on two")
    return wanted if len(wanted) > 1 else wanted + others[:1]


def _arguments():
    parser = console.parser("evals.prompt_tokens", __doc__,
                            "python -m evals.prompt_tokens {kit} DOCUMENT --run-id c001-{kit}")
    add = parser.add_argument
    add("kit", nargs="?", help="name of the kit; not needed where there is only one")
    add("documents", nargs="+", metavar="DOC", help="documents to measure on; with one, another is taken beside it")
    add("--run-id", required=True, metavar="ID", help=f"name of the measurement, like c001-{console.a_kit()}")
    add("--data", metavar="DIR", help="data folder with your own rules and documents (default: the kit's)")
    add("--yes", action="store_true", help="spend without asking")
    return parser


if __name__ == "__main__":
    sys.exit(main())
