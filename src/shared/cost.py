"""What calls cost: measured tokens × a price card; what a run and a month of them cost; and the cap on a run.

A figure is a Decimal in US dollars, exact until it is shown, or None where something it needs is not known: a count
that was not reported, a model without a card, a time without a price. None is never counted as 0. Figures by a public
card are projections; those by a tariff of one's own are as good as the tariff.
"""
import datetime
from decimal import Decimal
from pathlib import Path

from src.shared import rates
from src.shared.fields import near
from src.shared.files import BadData
from src.shared.rates import Unknown

DATA = Path(__file__).resolve().parents[2] / "data"
RATES, TARIFF = DATA / "rates.json", DATA / "tariff.json"
MILLION = 10 ** 6
PLACES = Decimal("0.000001")        # to which a figure below a dollar is rounded where it is shown; else to the cent
# Wires whose input count leaves the cached tokens out; on the others they are a part of it.
CACHE_APART = ("anthropic",)
# Ends of an attempt after which its counts are final; the counts of an attempt that was cut are those of its beginning.
COUNTED = (None, "output_limit", "refusal", "content_filter", "empty_answer", "unknown_finish")
# Statuses with which a provider turns a call away before it works on it; behind others there may have been work.
TURNED_AWAY = {*range(300, 500), 503, 529} - {408}


def price(usage, card, at=None, wire="openai-compatible"):
    """Dollars of one attempt as an exact Decimal, or None where that is not known.

    usage  {"input", "cached", "output", "reasoning", and where it is kept "written"}: counts, None for not reported
    at     its time in UTC, "2026-09-01T10:00:00Z"; a card that has windows needs it
    """
    try:
        return _bill(usage, card, at, wire)
    except Unknown:
        return None


def span(usage, card, on, wire="openai-compatible"):
    """(least, most) dollars of a call by the prices that a card has at any hour of a date. rates.Unknown says what is not
    known; for the other arguments see `price`."""
    found = [_by(prices, usage, card, wire) for prices in rates.prices_on(card, on)]
    if not found:
        raise Unknown(f"card {card.id} has no price for {on}")
    return min(found), max(found)


class Pricer:
    """Prices the calls of one run. `.card` or None, `.label` what its figures are, `.why` there is no card."""

    def __init__(self, model, wire, cards):
        self.card, self.wire = rates.pick(model, cards) if model else None, wire
        self.label = self.why = None
        if self.card is None:
            known = [name for card in cards for name in card.models]
            self.why = (f"no price card is for the model {model}{near(model, known)}; put its prices into "
                        f"data/{TARIFF.name}, in the form of data/{RATES.name}")
        else:
            self.label = "own tariff" if self.card.own else f"projection on card {self.card.id} of {self.card.as_of}"

    def call(self, completion, at=None):
        """What one call cost: {"usd": Decimal or None, "why": None or what is not known, "reported": Decimal or None}.

        completion  the mapping that a cache line keeps; all its attempts count. `at` is the time of that line
        reported    what the provider says the last attempt cost: it stands beside the figure and is never mixed into it
        None for a completion without a call behind it.
        """
        attempts = completion["attempts"] or ([{"usage": completion["usage"]}] if completion["usage"] else [])
        if not attempts:
            return None
        usd, why = None, self.why
        if self.card:
            try:
                usd = sum((_attempt(attempt, self.card, at, self.wire) for attempt in attempts), Decimal(0))
            except Unknown as e:
                why = str(e)
        return {"usd": usd, "why": why, "reported": exact(completion["reported_cost"])}

    def at_most(self, input_tokens, output_tokens, calls=1, on=None):
        """The most that so many tokens in so many calls can cost by the dearest prices of a date (today), or None.

        Not in it: an attempt that is billed and then repeated, and images beyond the tokens they were counted as.
        """
        on = on or datetime.datetime.now(datetime.timezone.utc).date()
        found = rates.prices_on(self.card, on) if self.card else []
        if not found or self.card.input_up_to and input_tokens > self.card.input_up_to * calls:
            return None
        read = max(number for prices in found for name, number in prices.items() if name != "output")
        return (input_tokens * read + output_tokens * max(prices["output"] for prices in found)) / MILLION


def pricer(model, wire, public=RATES, tariff=TARIFF):
    """The Pricer of a model on a wire: by one's own tariff where that names the model, else by the public cards."""
    return Pricer(model, wire, (rates.load(tariff, own=True) if tariff.exists() else []) + rates.load(public))


def total(costs, label=None):
    """Add up what `Pricer.call` gave, as it came or as a record kept it; None entries were no calls. See `Sum.total`."""
    found = Sum()
    for each in costs:
        found.add(each)
    return found.total(label)


def joined(totals):
    """The total of several totals of one label, as records keep them: of the shards of a run."""
    found = {name: sum(total[name] for total in totals) for name in ("priced", "calls", "reporting")}
    add = lambda name: sum((exact(total[name]) or Decimal(0) for total in totals), Decimal(0))
    whole = all(total["usd"] is not None for total in totals)
    return {**found, "label": totals[0]["label"], "usd_priced": add("usd_priced"), "usd": add("usd") if whole else None,
            "reported": add("reported") if found["reporting"] else None}


class Sum:
    """A total that grows call by call."""

    def __init__(self):
        self._sums, self._counts = {"usd": Decimal(0), "reported": Decimal(0)}, {"usd": 0, "reported": 0}
        self._calls = 0

    def add(self, found):
        """What `Pricer.call` gave for one document, or None where there was no call."""
        self._calls += found is not None
        for kind in self._sums if found else ():
            self._counts[kind] += found[kind] is not None
            self._sums[kind] += exact(found[kind]) or 0

    def total(self, label=None):
        """{"usd": Decimal, or None unless every call has a price, "usd_priced": what those with one cost, "priced": how
        many, "calls", "label", "reported": Decimal or None, what providers reported, "reporting": in how many calls}"""
        sums, counts = self._sums, self._counts
        return {"usd": sums["usd"] if self._calls and counts["usd"] == self._calls else None, "usd_priced": sums["usd"],
                "priced": counts["usd"], "calls": self._calls, "label": label,
                "reported": sums["reported"] if counts["reported"] else None, "reporting": counts["reported"]}


def monthly(found, documents):
    """A run's total × a volume: {"usd_per_document", "usd_per_month", "documents", "label", "assumptions": [text]}."""
    each = None if found["usd"] is None else exact(found["usd"]) / found["calls"]
    return {"usd_per_document": each, "usd_per_month": each if each is None else each * documents,
            "documents": documents, "label": found["label"], "assumptions": [
                f"{documents:,} documents a month: your own number",
                f"a document costs what the {found['calls']} calls of this run cost on average: pages, replies, hits "
                "in the provider's cache and hours of the day are as they were there",
                "prices stay as they are on this card",
                "grading and re-scoring make no call and cost nothing"]}


def in_words(usd):
    """A figure as people read it, rounded here and only here.

    >>> in_words(Decimal("0.0022964")), in_words(Decimal("1234.567")), in_words(None)
    ('$0.002296', '$1,234.57', 'unknown')
    """
    if usd is None:
        return "unknown"
    if 0 < usd < PLACES:
        return f"<${PLACES}"
    return f"${exact(usd).quantize(PLACES if usd < 1 else Decimal('0.01')):,f}"


def exact(figure):
    """A figure as Decimal: one from a record, where it was a JSON number, by the digits it was written with."""
    return figure if figure is None or isinstance(figure, Decimal) else Decimal(repr(figure))


class Budget:
    """The cap on a run (MAX_COST_USD): a call is made only while the most it can cost still fits. Safe under threads.

    `.spent` dollars so far; a call of unknown cost counts as the most it can have cost, and in `.unknown`. A call that
    is billed for an attempt and repeated can exceed its bound: the calls after it have that much less.
    BadData, before any call, for a limit that cannot be kept since prices are not known, or that not one call fits.
    """

    def __init__(self, limit, pricer, input_tokens, output_tokens, spent=Decimal(0)):
        """limit: dollars or None; the tokens of the longest prompt and of a reply; what the run has spent before."""
        import threading
        self.limit, self.spent, self.unknown = limit, spent, 0
        self.at_most = pricer.at_most(input_tokens, output_tokens)
        self._flying, self._closed, self._change = 0, False, threading.Condition()
        if limit is not None and self.at_most is None:
            why = pricer.why or f"card {pricer.card.id} has no price for today or for {input_tokens:,} input tokens"
            raise BadData(f"MAX_COST_USD={limit}: a cap cannot be kept on unknown prices: {why}; or unset MAX_COST_USD")
        if limit is not None and self.at_most > limit:
            raise BadData(f"MAX_COST_USD={limit}: one call may cost {in_words(self.at_most)} by itself; "
                          "raise MAX_COST_USD or lower MAX_TOKENS")

    def may_call(self):
        """True when one more call fits; one `add` has to follow. False when none does any more, or all is closed.

        While that hangs on what the calls in flight turn out to cost, it waits for them.
        """
        with self._change:
            while not (self._closed or self._fits()) and self._flying:
                self._change.wait()
            if self._closed or not self._fits():
                return False
            self._flying += 1
            return True

    def add(self, usd):
        """A call has ended: its cost, or None where that is not known."""
        with self._change:
            self._flying -= 1
            self.unknown += usd is None
            self.spent += (self.at_most or 0) if usd is None else usd
            self._change.notify_all()

    def close(self):
        """Let nobody call any more, and wake who waits."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    def why(self):
        """The sentence for a run that ends here."""
        return (f"MAX_COST_USD={self.limit}: {in_words(self.spent)} is spent, and one more call may cost "
                f"{in_words(self.at_most)}")

    def _fits(self):
        return self.limit is None or self.spent + (self._flying + 1) * self.at_most <= self.limit


def _attempt(attempt, card, at, wire):
    """Dollars of one attempt: 0 where the provider turned it away or was never reached."""
    status, kind = attempt.get("status"), attempt.get("kind")
    if kind in COUNTED:
        return _bill(attempt["usage"] or {}, card, at, wire)
    if status in TURNED_AWAY or status is None and (kind == "config" or attempt.get("detail") == "unknown_host"):
        return Decimal(0)
    raise Unknown(f"an attempt ended as {kind}, and what was billed for it is not known")


def _bill(usage, card, at, wire):
    return _by(rates.prices_at(card, at), usage, card, wire)


def _by(prices, usage, card, wire):
    """Dollars of some counts by one set of prices."""
    apart = wire in CACHE_APART
    read, output = _count(usage, "input"), _count(usage, "output")
    # Counts matter where they have a price of their own. Where the cache is apart nothing is written to it unless a
    # request asks for that, which none here does.
    cached = _count(usage, "cached", apart or prices.get("cached_input") != prices["input"])
    written = _count(usage, "written", not apart and prices.get("cache_write", prices["input"]) != prices["input"])
    prompt = read + cached + written if apart else read
    if cached + written > prompt:
        raise Unknown(f"{cached} cached and {written} written tokens are more than the {read} of the input they are in")
    if (usage.get("reasoning") or 0) > output:
        raise Unknown("more reasoning than output is reported, so it is counted apart, and how it is billed is unknown")
    if card.input_up_to and prompt > card.input_up_to:
        raise Unknown(f"card {card.id} is for prompts of at most {card.input_up_to:,} tokens")
    counts = dict(zip(rates.PRICES, (prompt - cached - written, cached, written, output)))
    for name, number in counts.items():
        if number and name not in prices:
            raise Unknown(f"card {card.id} has no price {name}")
    return sum(number * prices[name] for name, number in counts.items() if number) / Decimal(MILLION)


def _count(usage, name, is_needed=True):
    number = usage.get(name)
    if number is None and not is_needed:
        return 0
    if type(number) is not int or number < 0:
        raise Unknown(f"{name} tokens are not reported")
    return number
