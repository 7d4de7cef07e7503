"""Who applies a resolution: a claims examiner, on every claim. Nothing in this kit opens a category for anything else.

The answer takes a cause class and looks at nothing. That no policy, reply or sentence in a record has opened the gate
is checked where the kit is imported, for each record in the recheck, and for each page that the board shows.
"""
from src.shared import kit as kits
from src.shared.files import BadData, read_json

EXAMINER, AUTO = ANSWERS = "EXAMINER-APPLIES", "AUTO-RELEASE"
KEYS = ("answers", "auto_release_open", "configurable_in_kit", "conditions")


class GateOpened(RuntimeError):
    """Code of this kit was about to let a claim go without a person. No data can cause this."""


def who_applies(cause_class):
    """EXAMINER-APPLIES, for a claim of any cause class and for one of none."""
    return EXAMINER


def check(policy, where):
    """Hold a policy against the gate: no open category, not configurable, the two known answers. BadData otherwise."""
    gate = policy.get("release_gate") or {}
    problems = [f"{where}: /release_gate/{key}: unknown key; the gate has {', '.join(KEYS)} and nothing else"
                for key in gate if key not in KEYS]
    if gate.get("auto_release_open") != []:
        problems.append(f"{where}: /release_gate/auto_release_open: {gate.get('auto_release_open')!r}: this kit opens "
                        "no category for automatic release; write []")
    if gate.get("configurable_in_kit") is not False:
        problems.append(f"{where}: /release_gate/configurable_in_kit: {gate.get('configurable_in_kit')!r}: nothing in "
                        "the kit opens the gate; write false")
    if tuple(gate.get("answers") or ()) != ANSWERS:
        problems.append(f"{where}: /release_gate/answers: {', '.join(ANSWERS)} are wanted, in that order")
    if not isinstance(gate.get("conditions"), list) or not gate["conditions"]:
        problems.append(f"{where}: /release_gate/conditions: what it would take is wanted, a list of at least one")
    if problems:
        raise BadData(*problems)
    for cause in policy.get("causes") or ():
        hold({"cause_class": cause, "release": who_applies(cause)})


def hold(values):
    """Refuse decided values that say anything but EXAMINER-APPLIES. Raises GateOpened."""
    if values["release"] != EXAMINER:
        raise GateOpened(f"{values.get('cause_class')}: release {values['release']!r} was decided; every claim goes to "
                         "an examiner")


_OWN = kits.home(__package__.rpartition(".")[2]) / "policy.json"
check(read_json(_OWN), _OWN)
