"""When a provider wants to be asked again: Retry-After and its relatives, read without ever failing."""
import datetime
import email.utils
import math
import re

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+")
_DURATION = re.compile(r"(?:([0-9.]+)d)?(?:([0-9.]+)h)?(?:([0-9.]+)m)?(?:([0-9.]+)s)?(?:([0-9.]+)ms)?")
_UNIT_SECONDS = (86400, 3600, 60, 1, 0.001)
_IN_WORDS = re.compile(r"(?:try again|retry) (?:in|after) ([0-9.]+ ?(?:ms|[dhms])[0-9.hms]*)", re.IGNORECASE)
_EPOCH_SECONDS, _EPOCH_MILLISECONDS = 1e9, 1e12


def asked(headers, said, now, limited=False):
    """Seconds the provider asks to wait, or None when it does not say.

    headers  any mapping whose `get` ignores case, as http.client gives it
    said     the provider's message ("Please try again in 6m0s" counts when no header does)
    now      epoch seconds; limited: a 429, so that the reset headers of the exhausted limits count
    """
    milliseconds = (headers.get("retry-after-ms") or "").strip()
    if _NUMBER.fullmatch(milliseconds):
        return _usable(float(milliseconds) / 1000)
    wait = seconds_until(headers.get("Retry-After") or "", now)
    if wait is None and limited:
        wait = max(_resets(headers, now), default=None)
    if wait is None and (words := _IN_WORDS.search(said)):
        wait = seconds_until(words[1].replace(" ", "").rstrip("."), now)
    return wait


def seconds_until(value, now):
    """Seconds from `now` (epoch) to the moment that a header value names; 0 for the past, None when it names none.

    Small numbers are seconds, ten digits an epoch, thirteen an epoch in milliseconds; `6m0s` is a duration; ISO and
    HTTP dates are absolute, and without a zone they are UTC.
    """
    value = value.strip()
    if _NUMBER.fullmatch(value):
        number = float(value)
        if number >= _EPOCH_SECONDS:
            number = max(0.0, (number / 1000 if number >= _EPOCH_MILLISECONDS else number) - now)
        return _usable(number)
    try:
        if value and (duration := _DURATION.fullmatch(value)):
            return _usable(sum(float(n) * unit for n, unit in zip(duration.groups(), _UNIT_SECONDS) if n))
        return max(0.0, _moment(value).timestamp() - now)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _resets(headers, now):
    """The waits of the reset headers whose matching `remaining` header is used up or absent."""
    for name in headers:
        if re.fullmatch(r"(?:x-|anthropic-)?ratelimit-(?:.*-)?reset(?:-.*)?", name.casefold()):
            remaining = headers.get(name.casefold().replace("reset", "remaining"))
            wait = seconds_until(headers.get(name), now)
            if wait is not None and (remaining is None or remaining.strip() == "0"):
                yield wait


def _moment(value):
    try:
        moment = datetime.datetime.fromisoformat(value)
    except ValueError:
        moment = email.utils.parsedate_to_datetime(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.timezone.utc)


def _usable(number):
    return number if math.isfinite(number) else None
