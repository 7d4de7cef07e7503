"""What the arms and the terms of the board mean, for somebody who meets them for the first time.

`words.json` beside this module explains what all kits share; `arms` and `terms` of a kit's board.json explain its own.
"""
from pathlib import Path

from src.shared.files import read_json
from src.shared.view import board as boards

SHARED = read_json(Path(__file__).with_suffix(".json"))


def of_arm(opened, arm):
    """One sentence on what an arm does, or None where nobody has written one."""
    own = {entry["arm"]: entry["says"] for entry in boards.kept(opened)["arms"]}
    return own.get(arm) or SHARED["arms"].get(arm)


def about(opened, run):
    """What a run says of itself, with `says`: what its arm does."""
    return run.about | {"says": of_arm(opened, run.about["arm"])}


def glossary(opened=None):
    """[{"term", "says"}]: the terms of a kit, if one is given, then those that all kits share."""
    return [*(boards.kept(opened)["terms"] if opened else ()), *SHARED["terms"]]
