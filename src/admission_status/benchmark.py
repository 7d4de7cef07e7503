"""The two-midnight arithmetic: an admission and one expectation → midnights crossed, by calendar and never by hours.

A midnight is crossed each time the date changes. 23:50 to the day after next crosses two on some 24 hours; 01:00 to
late the next day crosses one on some 46 (42 CFR 412.3(d)(1)). Times are the hospital's local times.
"""
from src.shared.values import Unreadable


class NotComputable(Unreadable):
    """The count cannot be made: `.flag` names the contradiction, `.why` says it, and what reads it decides nothing."""

    def __init__(self, flag, raw, why):
        super().__init__(raw, why)
        self.flag = flag

    def __str__(self):
        return f"{self.raw}: {self.why}"


def midnights(admitted_at, expected_discharge, expected_nights):
    """The midnights that the expected stay crosses, an int from 0; None where no expectation is stated.

    admitted_at datetime, expected_discharge date, expected_nights number, each or None. NotComputable for a discharge
    before the admission, both a date and nights, nights that are negative or no whole number, or no admission.

    >>> from datetime import date, datetime
    >>> midnights(datetime(2026, 6, 10, 23, 59), date(2026, 6, 12), None)
    2
    """
    if expected_discharge is None and expected_nights is None:
        return None
    if expected_discharge is not None and expected_nights is not None:
        raise NotComputable("date_and_nights_both_given", f"{expected_discharge} and {expected_nights}",
                            "a discharge date and a number of nights are given; exactly one of them is an expectation")
    if admitted_at is None:
        raise NotComputable("admission_not_stated", expected_discharge or expected_nights,
                            "an expectation is given and no admission to count from")
    if expected_nights is not None:
        return _whole(expected_nights)
    days = (expected_discharge - admitted_at.date()).days
    if days < 0:
        raise NotComputable("expected_discharge_before_admission", expected_discharge,
                            f"the expected discharge lies before the admission on {admitted_at.date()}")
    return days


def meets(count, threshold):
    """Whether a count reaches the benchmark; None where there is no count."""
    return None if count is None else count >= threshold


def explain(admitted_at, expected_discharge, expected_nights, threshold):
    """The arithmetic, one step a line: [(what it is, left, sign, right, result)], [] where no expectation is stated.

    NotComputable as in `midnights`.
    """
    count = midnights(admitted_at, expected_discharge, expected_nights)
    if count is None:
        return []
    if expected_nights is None:
        first = ("midnights from the admission date to the expected date", expected_discharge, "−", admitted_at.date(),
                 count)
    else:
        first = ("midnights, one for each further night", expected_nights, "×", 1, count)
    return [first, ("against the benchmark", count, "≥" if count >= threshold else "<", threshold,
                    "reached" if count >= threshold else "not reached")]


def _whole(nights):
    if nights < 0:
        raise NotComputable("negative_nights", nights, "fewer than no nights cannot be expected")
    if nights != int(nights):
        raise NotComputable("fractional_nights", nights, "a night is crossed or not; a whole number is wanted")
    return int(nights)
