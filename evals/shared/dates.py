"""Calendar days counted by hand, for the label gates: a date is a number of days, and a difference is a subtraction.

Imports only the standard library, and of that no calendar, so that a gate shares no date with the code that it judges.
"""
import re

ISO = re.compile("([0-9]{4})-([0-9]{2})-([0-9]{2})")
CLOCK = re.compile("(?:[01][0-9]|2[0-3]):[0-5][0-9]")


def day_number(text):
    """The days since the first of March of year 0, counted by hand; None for what is no calendar date.

    >>> day_number("2028-03-01") - day_number("2028-02-28")
    2
    """
    found = ISO.fullmatch(text) if type(text) is str else None
    year, month, day = map(int, found.groups()) if found else (0, 0, 0)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    length = (31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not (year and 1 <= month <= 12 and 1 <= day <= length[month - 1]):
        return None
    # A year counted from March has its leap day last, where it moves no other.
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 1


def is_moment(text):
    """Whether a text is a calendar date and a time of that day, `YYYY-MM-DD HH:MM`."""
    date, _, clock = text.partition(" ")
    return day_number(date) is not None and CLOCK.fullmatch(clock) is not None
