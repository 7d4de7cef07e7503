"""The payment clock: calendar days from receipt to the register read, held against one deadline. Pure; reads no today.

The day a claim pended is never counted from. What that wrong sum would give is worked out beside the right one, so
that the mistake can be recognised by its signature.
"""
from collections import namedtuple

FROM, TO, NEVER = "received_on", "register_read_on", "pended_on"
READS = ("line_of_business", "clean", FROM, TO)     # without any of these there is no state
SOMETIMES = ("contracted",)                         # read by some of the deadline rules

# state, deadline rule and days (days are int) or None throughout; trace of the deadline rules; from_pend: what counting
# from the pend date would give, as (state, elapsed, remaining), Nones where it cannot be counted
Clock = namedtuple("Clock", "state rule deadline_days elapsed remaining trace from_pend")
UNCOUNTED = (None, None, None)


def read(book, values):
    """The Clock of one claim. No state where no deadline applies, a date is missing, or no time can have run.

    `values` as `policy.read` gives them; nothing is swapped, made absolute or assumed.
    """
    # Here what cannot be read is as good as missing: no state where a rule needs it, and a flag alone where none does.
    walked = book.deadlines.decide(values, {})
    elapsed = _days(values[FROM], values[TO])
    if walked.decision is None or elapsed is None or elapsed < 0:
        return Clock(None, None, None, None, None, walked.trace, UNCOUNTED)
    limit = book.days[walked.rule]
    state, _, remaining = _counted(book, limit, elapsed)
    return Clock(state, walked.rule, limit, elapsed, remaining, walked.trace,
                 _counted(book, limit, _days(values[NEVER], values[TO])))


def explain(book, values, clock):
    """The arithmetic, one line a step: [(what it is, left, sign, right, result)]; [] where there is no state."""
    if clock.state is None:
        return []
    state, elapsed, remaining = clock.from_pend
    steps = [("days run, from receipt to the register read", values[TO], "−", values[FROM], _said(clock.elapsed)),
             (f"days left of the deadline by {clock.rule}", clock.deadline_days, "−", clock.elapsed,
              _said(clock.remaining)),
             _compared(book, clock)]
    if state is not None:
        steps.append(("counted from the pend date, which is the mistake to avoid", values[TO], "−", values[NEVER],
                      f"{_said(elapsed)}, {remaining} left: {state}"))
    return steps


def missing(values, clock):
    """The values without which there is no state; [] where there is one."""
    if clock.state is not None:
        return []
    stopped = clock.trace[-1]["result"] == "not readable"
    return [name for name in READS + SOMETIMES * stopped if values[name] is None]


def _counted(book, limit, elapsed):
    if elapsed is None:
        return UNCOUNTED
    return book.states.decide({"remaining": limit - elapsed}, {}).decision, elapsed, limit - elapsed


def _days(start, end):
    return None if start is None or end is None else (end - start).days


def _compared(book, clock):
    """The comparison that gave the state: the rule of the states that matched, or the last one that did not."""
    rules = book.states.rules
    trace = book.states.decide({"remaining": clock.remaining}, {}).trace
    rule = next(rule for rule in rules if rule["id"] == trace[-1]["rule"])
    holds = trace[-1]["result"] == "matched"
    sign = {"<": ("<", "≥"), "<=": ("≤", ">")}[rule["when"]["test"]][not holds]
    return "days left against the limit", clock.remaining, sign, rule["when"]["value"], clock.state


def _said(days):
    return f"{days} day" if abs(days) == 1 else f"{days} days"
