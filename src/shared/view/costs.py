"""What a kit would cost a month: tokens a document × dated price cards × the reader's own volume. Every figure is a
projection; where no model run has measured tokens, the tokens are an estimate from the prompts, and it says so.
"""
import datetime
import itertools
from decimal import Decimal

from src.shared import cost, rates
from src.shared.files import BadData, to_json
from src.shared.view import figures, panels, shelf

CHARACTERS_PER_TOKEN = 4        # a rule of thumb, for estimates alone; measured tokens are counted by the provider
SAMPLE = 100                    # so many prompts are looked at for an estimate
MOST = {"documents": 10_000_000, "input": 1_000_000, "cached": 100, "output": 100_000}
# What a reader may set: name → (label, unit, what it starts at where nothing is measured, whether steps go by powers)
INPUTS = {"documents": ("Documents a month", "documents", 1000, True),
          "input": ("Input a document", "tokens", None, True),
          "cached": ("Of it from the provider's cache", "%", 0, False),
          "output": ("Output a document", "tokens", None, True)}


def costs(opened, query, on=None, own=True):
    """{panels, controls} of the cost view. query {name: [text]} of INPUTS; on: the day of the prices (today, UTC); own:
    whether a tariff of one's own is shown too, which is nobody else's business.

    controls [{"name", "label", "unit", "value", "most", "powers"}] is what a reader may set; BadQuery for all else.
    """
    on = on or datetime.datetime.now(datetime.timezone.utc).date()
    known, where = _measured(opened) or _estimated(opened)
    for name in query:
        if name not in INPUTS:
            raise shelf.BadQuery(f"{name} is nothing that a cost hangs on here; there are {', '.join(INPUTS)}")
    values = {name: _number(name, query[name][-1]) if name in query else known.get(name, INPUTS[name][2])
              for name in INPUTS}
    usage = {"input": values["input"], "cached": values["input"] * values["cached"] // 100, "output": values["output"],
             "reasoning": None, "written": 0}
    controls = [{"name": name, "label": label, "unit": unit, "value": values[name], "most": MOST[name],
                 "powers": powers} for name, (label, unit, _, powers) in INPUTS.items()]
    return {"controls": controls, "panels": [where, _table(usage, values["documents"], on, own), _free()],
            "problems": opened.problems}


def asking(opened, document, settings, on=None):
    """The sentence that says, before a document is sent to the model of some settings, what that will take at most."""
    on = on or datetime.datetime.now(datetime.timezone.utc).date()
    tokens = _tokens(sum(len(part.text) for part in opened.kit.prompt(document)))
    pricer = cost.pricer(settings.model, settings.provider)
    most = pricer.at_most(tokens, settings.max_tokens, on=on)
    price = f"at most {_money(most)}, {pricer.label}" if most is not None else (
        f"unknown price: {pricer.why or 'its card has none for this'}")
    return f"About {tokens:,} input tokens (an estimate), at most {settings.max_tokens:,} output tokens; {price}."


def spent(settings, completion):
    """The sentence that says what an answer has taken: the tokens that were reported, and their price."""
    usage = completion.usage or {}
    told = [f"{usage[kind]:,} {kind} tokens" if usage.get(kind) is not None else f"{kind} tokens not reported"
            for kind in ("input", "output")]
    pricer = cost.pricer(settings.model, settings.provider)
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    found = pricer.call(completion._asdict(), now)
    usd, why = (found["usd"], found["why"]) if found else (None, "nothing was reported")
    price = f"unknown price: {why or 'its card has none for this'}" if usd is None else f"{_money(usd)}, {pricer.label}"
    return f"{', '.join(told)}; {price}."


def _measured(opened):
    """(tokens a document, note) of the newest committed model run whose calls all reported theirs; None without one."""
    for run in reversed(opened.runs):
        totals = run.record["totals"]
        told = {kind: total["sum"] for kind, total in totals["tokens"].items() if total["calls"] == totals["calls"]}
        if shelf.is_headline(run) and totals["calls"] and {"input", "output"} <= told.keys():
            if run.record["settings"]["provider"] in cost.CACHE_APART:
                told["input"] += told.get("cached", 0) + told.get("written", 0)
            known = {kind: round(told[kind] / totals["calls"]) for kind in ("input", "output")}
            known["cached"] = round(100 * told.get("cached", 0) / told["input"]) if told["input"] else 0
            return known, panels.note(
                f"Measured: the mean of {totals['calls']:,} calls of {run.id} ({run.about['model']}), as its provider "
                "counted them. The model that you ask may count, and answer, otherwise.", "Tokens a document")
    return None


def _estimated(opened):
    """(tokens a document, note) where nothing is measured: from the lengths of prompts and of the key's own answers."""
    asked, answered, rows = 0, 0, 0
    keys = opened.kit.definition.keys(opened.kit.book)
    for row in itertools.islice(opened.kit.gold(), SAMPLE) if opened.documents else ():
        try:
            asked += sum(len(part.text) for part in opened.kit.prompt(row["id"]))
        except BadData:     # a page that is missing has no prompt; its own view says what is wrong with it
            continue
        answered += len(to_json({key: row.get(key) for key in keys}))
        rows += 1
    known = {"input": _tokens(asked / (rows or 1)), "output": _tokens(answered / (rows or 1))}
    return known, panels.note(
        "Not measured: no committed model run of this kit has reported its tokens. An estimate stands in, from the "
        f"prompts of {rows} documents and the length of their right answers, {CHARACTERS_PER_TOKEN} characters to a "
        "token. Whatever a model thinks before it answers is billed as output too and is not in it.",
        "Tokens a document: an estimate", "warn")


def _table(usage, documents, on, own):
    rows = []
    private = rates.load(cost.TARIFF, own=True) if own and cost.TARIFF.exists() else []
    for card in private + rates.load(cost.RATES):
        told = {"text": card.id, "why": "own tariff" if card.own else f"public card, as of {card.as_of}"}
        try:
            least, most = cost.span(usage, card, on)
        except rates.Unknown as e:
            rows.append([told, {"text": figures.BLANK, "why": str(e)}, {"text": figures.BLANK}])
            continue
        rows.append([told, *({"text": _range(least * count, most * count)} for count in (1, documents))])
    return panels.table(["price card", "a document", f"{documents:,} documents a month"], rows,
                        f"Projection by the prices of {on}: no bill, and no taxes, batches or storage")


def _free():
    return panels.note("Grading, rechecking and scoring again make no call: they cost nothing at any volume.", "Free")


def _range(least, most):
    return _money(least) if least == most else f"{_money(least)} to {_money(most)}, by the hour"


def _money(usd):
    """A figure in words, without zeros behind its cents.

    >>> _money(Decimal("0.339")), _money(Decimal("0.0022964")), _money(Decimal("0.5")), _money(Decimal("1234.5"))
    ('$0.339', '$0.002296', '$0.50', '$1,234.50')
    """
    whole, point, cents = cost.in_words(usd).partition(".")
    return f"{whole}{point}{cents[:2]}{cents[2:].rstrip('0')}"


def _tokens(characters):
    return round(characters / CHARACTERS_PER_TOKEN)


def _number(name, text):
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) > MOST[name]:
        raise shelf.BadQuery(f"{name}={text[:40]}: a whole number from 0 to {MOST[name]:,} is wanted")
    return int(text)
