"""Price cards: dollars per million tokens of a model, validated when read, and the prices that hold at a moment.

`data/rates.json` holds public cards, each with its date and its page. `data/tariff.json`, ignored by git and in the
same form, holds prices of one's own. Prices may change with the hour, the day of the week, a holiday or a date.
"""
import datetime
import fnmatch
import re
from collections import namedtuple
from decimal import Decimal

from src.shared.fields import near
from src.shared.files import BadData, read_json
from src.shared.values import shown

UNIT = "USD per million tokens"
PRICES = ("input", "cached_input", "cache_write", "output")
PRICED = ("input", "output")
CARD = ("provider", "as_of", "source", "reading", "notes", "input_up_to", "holidays", "windows")
WINDOW = ("name", "days", "hours", "from", "until", *PRICES)
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun", "holiday")
WHOLE_DAY = "00:00-24:00"

Card = namedtuple("Card", "id models as_of source windows holidays input_up_to own")
# days: those on which the window begins. start, end: minutes of the UTC day, from start to before end, over midnight
# where end is not after start. first, last: dates, both included, None for open. prices {name of PRICES: Decimal}.
Window = namedtuple("Window", "days start end first last prices")


class Unknown(Exception):
    """A figure that cannot be given; the message says what is not known."""


def load(path, own=False):
    """The cards of a rates or tariff file, in order. BadData lists every problem, each with its JSON pointer.

    The file is {"unit": UNIT, "cards": [card], "about": anything}. A card has
      id, models     its name; the models it is for, exact names or patterns such as `gpt-x-20[0-9]*`
      as_of, source  the day on which the prices stood on which page; not asked of one's `own` tariff
      PRICES         input, output, and as far as there is one cached_input (read from a cache) and cache_write. A card
                     without cached_input prices cached tokens to unknown; where they cost as much as input, it says so
      input_up_to    the longest prompt, in tokens, that the prices are for
      windows        instead of prices: [{"days", "hours", "from", "until", PRICES}], in UTC; the first that fits counts
      holidays       dates that count as the day "holiday" and as no day of the week
    """
    document = read_json(path)
    problems = [f"{path}: {pointer}: {what}" for pointer, what in _problems(document, own)]
    if problems:
        raise BadData(*problems)
    return [_card(entry, own) for entry in document["cards"]]


def pick(model, cards):
    """The first card that is for a model of this very name, or None: nothing is guessed from its relatives."""
    return next((card for card in cards if model in card.models
                 or any(fnmatch.fnmatchcase(model, name) for name in card.models)), None)


def prices_at(card, at):
    """{name: Decimal} that hold at a moment, "2026-09-01T10:00:00Z" or None. Unknown where no window does."""
    if at is None:
        if len(card.windows) == 1 and card.windows[0][:-1] == _ALWAYS[:-1]:
            return card.windows[0].prices
        raise Unknown(f"card {card.id} depends on the time of the call, which is not known")
    moment = datetime.datetime.fromisoformat(at)
    moment = moment.astimezone(datetime.timezone.utc) if moment.tzinfo else moment
    for window in card.windows:
        if _holds(window, card.holidays, moment):
            return window.prices
    raise Unknown(f"card {card.id} has no price for {at}")


def prices_on(card, day):
    """All prices, [{name: Decimal}], that may hold at some hour of a date."""
    return [window.prices for window in card.windows if _is_valid(window, day)]


def _holds(window, holidays, moment):
    minute, day = moment.hour * 60 + moment.minute, moment.date()
    over_midnight = window.end <= window.start
    if over_midnight and minute < window.end:
        began = day - datetime.timedelta(days=1)
    elif window.start <= minute and (over_midnight or minute < window.end):
        began = day
    else:
        return False
    return _is_valid(window, day) and ("holiday" if began in holidays else DAYS[began.weekday()]) in window.days


def _is_valid(window, day):
    return (window.first or day) <= day <= (window.last or day)


def _card(entry, own):
    return Card(entry["id"], tuple(entry["models"]), entry.get("as_of"), entry.get("source"),
                tuple(map(_window, entry.get("windows", [entry]))), frozenset(map(_date, entry.get("holidays", ()))),
                entry.get("input_up_to"), own)


def _window(entry):
    start, end = _minutes(entry.get("hours", WHOLE_DAY))
    return Window(frozenset(entry.get("days", DAYS)), start, end, _date(entry.get("from")), _date(entry.get("until")),
                  {name: Decimal(entry[name]) for name in PRICES if name in entry})


def _date(text):
    return text and datetime.date.fromisoformat(text)


def _minutes(text):
    start, end = (int(hour) * 60 + int(minute) for hour, minute in (part.split(":") for part in text.split("-")))
    return start, end


def _problems(document, own):
    """Yield (JSON pointer, what is wrong)."""
    document = document if isinstance(document, dict) else {}
    yield from _entry(document, "", ("unit", "cards"), ("about",))
    seen = {}
    for i, card in enumerate(_rows(document, "cards")):
        at, priced = f"/cards/{i}", () if "windows" in card else PRICES
        dated = () if own else ("as_of", "source")
        yield from _entry(card, at, ("id", "models", *dated, *(priced and PRICED)), (*CARD, *priced))
        for j, window in enumerate(_rows(card, "windows")):
            yield from _entry(window, f"{at}/windows/{j}", PRICED, WINDOW)
            if "until" in window and str(window["until"]) < str(window.get("from", "")):
                yield f"{at}/windows/{j}/until", f"{shown(window['until'])} is before {shown(window['from'])}"
        names = [("id", str(card["id"]), f"{at}/id")] if "id" in card else []
        names += [("models", name, f"{at}/models/{j}") for j, name in enumerate(_rows(card, "models"))]
        for kind, name, pointer in names:
            if seen.setdefault((kind, name), pointer) != pointer:
                yield pointer, f"{shown(name)} stands at {seen[kind, name]} already"


def _rows(entry, key):
    """The entries of a list that is in order, else none."""
    return entry[key] if key in entry and _CHECKS[key][0](entry[key]) else ()


def _entry(entry, at, required, others):
    """What is wrong with the keys of an object, and with the values that have a check."""
    for key in required:
        if key not in entry:
            yield f"{at}/{key}", "is missing"
    for key, value in entry.items():
        if key not in required and key not in others:
            yield f"{at}/{key}", f"is not known here{near(key, [*required, *others])}"
        elif key in _CHECKS and not _CHECKS[key][0](value):
            yield f"{at}/{key}", f"{shown(value)} is not {_CHECKS[key][1]}"


def _is_text(value):
    return isinstance(value, str) and bool(value.strip())


def _is_list(holds):
    return lambda value: isinstance(value, list) and len(value) > 0 and all(map(holds, value))


def _is_date(value):
    try:
        return bool(re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value)) and bool(_date(value))
    except (TypeError, ValueError):
        return False


def _is_hours(value):
    clock = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
    found = isinstance(value, str) and re.fullmatch(rf"{clock}-(?:{clock}|24:00)", value)
    return bool(found) and len(set(_minutes(value))) == 2


def _is_price(value):
    return type(value) in (int, Decimal) and 0 <= value < 10 ** 6


def _is_object(value):
    return isinstance(value, dict)


_TEXT, _DATE = (_is_text, "a text"), (_is_date, "a date like 2026-09-01")
_CHECKS = {
    "unit": (lambda value: value == UNIT, f'"{UNIT}"'), "cards": (_is_list(_is_object), "a list of cards"),
    "id": _TEXT, "source": _TEXT, "models": (_is_list(_is_text), "a list of model names"),
    "as_of": _DATE, "from": _DATE, "until": _DATE, "holidays": (_is_list(_is_date), "a list of dates like 2026-09-01"),
    "days": (_is_list(DAYS.__contains__), f"a list out of {', '.join(DAYS)}"),
    "hours": (_is_hours, f"hours in UTC like 22:00-06:00 or {WHOLE_DAY}"),
    "input_up_to": (lambda value: type(value) is int and value > 0, "a whole number above 0"),
    "windows": (_is_list(_is_object), "a list of windows"),
    **dict.fromkeys(PRICES, (_is_price, "dollars per million tokens, 0 or more")),
}
_ALWAYS = _window({})
