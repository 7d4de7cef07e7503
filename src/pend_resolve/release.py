"""Who applies a resolution: a claims examiner, on every claim. Nothing in this kit opens a category for anything else.

The answer takes a cause class and looks at nothing. That no policy, reply or sentence in a record has opened the gate
is checked where the kit is imported, for each record in the recheck, and for each page that the board shows.
"""
from src.shared import kit as kits
from src.shared import shapes
from src.shared.files import BadData, read_json, tell

EXAMINER, AUTO = ANSWERS = "EXAMINER-APPLIES", "AUTO-RELEASE"
GATE = shapes.record({
    "answers": shapes.Kind(lambda value: shapes.OBJECT.holds(value) and tuple(value) == ANSWERS,
                           f"an object of {', '.join(ANSWERS)}, in that order", shapes.TEXTS_BY_NAME.inside),
    "auto_release_open": shapes.Kind(lambda value: value == [], "[]; this kit opens no category for automatic release"),
    "configurable_in_kit": shapes.Kind(lambda value: value is False, "false; nothing in the kit opens the gate"),
    "conditions": shapes.some(shapes.list_of(shapes.TEXT))})


class GateOpened(RuntimeError):
    """Code of this kit was about to let a claim go without a person. No data can cause this."""


def who_applies(cause_class):
    """EXAMINER-APPLIES, for a claim of any cause class and for one of none."""
    return EXAMINER


def check(policy, where):
    """Hold a policy against the gate: no open category, not configurable, the two known answers. BadData otherwise."""
    tell(list(shapes.misfits(policy, {"release_gate": GATE}, f"{where}: /", ("release_gate",))))
    for cause in policy.get("causes") or ():
        hold({"cause_class": cause, "release": who_applies(cause)})


def hold(values):
    """Refuse decided values that say anything but EXAMINER-APPLIES. Raises GateOpened."""
    if values["release"] != EXAMINER:
        raise GateOpened(f"{values.get('cause_class')}: release {values['release']!r} was decided; every claim goes to "
                         "an examiner")


def _check_own(path):
    try:
        policy = read_json(path)
    except BadData:
        return      # what cannot be read opens no gate, and is said with all else that is wrong when it is loaded
    check(policy, path)


_check_own(kits.home(__package__.rpartition(".")[2]) / "policy.json")
