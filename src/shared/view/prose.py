"""Fill the figures into a kit's prose (`board` reads it): what a placeholder may name, and the words that it gives.

No figure is typed in the prose. It stands as a placeholder in braces, names with dots between them:

    {documents}                  documents of the key
    {runs.LETTER}                kept runs of one kind: r, s, a, c, b, t or x, as run ids begin
    {enough}                     opportunities below which no event is no sign of safety
    {opportunities.MARK}         opportunities that the documents offer for a metric or a named error
    {null.MARK}                  the null baseline of a metric: a figure
    {data.FILE.KEY…}             what stands in FILE.json of the data folder: a text or number, of a list or object how
                                 many entries it has; in a list an entry is named by its id, case, name, fact or run
    {run.b001.WHAT…}             something of the kept run whose id begins with b001
    {model.WHAT…}                the same of the newest kept model run

WHAT is one of id, arm, model, date, documents, calls, overrides, repaired; outcomes.NAME; tokens.KIND; cost.usd;
setting.NAME; seconds.p50 or seconds.p95; or a figure, MARK.raw or MARK.rechecked with or without a part of it behind.
MARK is the id of a metric, named error or score, such as verdict or field.crop_proposed. Without a part a figure is
told in full; the parts are count, of, rate, interval, missed (what a metric lacks), documents (how many made an error),
value (of a score).

What is not measured, because no such run is kept or nobody had the opportunity, fills in as "not measured". A
placeholder that means nothing stays as it stands and is told among the problems.
"""
import math
import re
import statistics

from src.shared import intervals, wording
from src.shared.fields import near
from src.shared.files import read_json
from src.shared.view import runs, shelf
from src.shared.view.panels import words_of

NOT_MEASURED = "not measured"
PLACE = re.compile(r"\{([^{}]*)\}")
SHORT = re.compile(r"[a-z][0-9]{3}")
NAMED_BY = ("id", "case", "name", "fact", "run")    # the keys by which an entry of a list goes, the first that it has
PARTS = ("count", "of", "rate", "interval", "missed", "documents", "value")
SUBJECTS = ("documents", "runs", "enough", "opportunities", "null", "data", "run", "model")
PLAIN = ("id", "arm", "model", "date", "documents", "calls", "overrides", "repaired")
GROUPS = ("outcomes", "tokens", "cost", "setting", "seconds")
MEDIAN, SHARE_95 = "p50", 0.95


class Unknown(Exception):
    """A placeholder that means nothing; the message is the sentence that says so."""


def figures(opened):
    """What the placeholders of a kit's prose are filled from: the Figures of a `shelf.Opened`."""
    return Figures(opened)


def fill(text, found):
    """A text with its placeholders filled from Figures; what means nothing stays, and is kept in `found.unknown`."""
    return PLACE.sub(lambda place: found.of(place[1]), text)


def column_and_mark(text):
    """(column, mark id) of a mark as the commands write it: raw, unless it begins with `rechecked.`

    >>> column_and_mark("rechecked.verdict"), column_and_mark("field.crop_proposed")
    (('rechecked', 'verdict'), ('raw', 'field.crop_proposed'))
    """
    column, _, mark = text.partition(".")
    return (column, mark) if column in runs.COLUMNS else (runs.RAW, text)


class Figures:
    """Every figure that prose may name, looked up in records and data when it is asked for."""

    def __init__(self, opened):
        self.opened, self.unknown = opened, []      # sentences, one a placeholder that means nothing
        self.kept = kept(opened)
        self.marks = marks(opened)
        self._files = {}

    def of(self, place):
        """The words for one placeholder, given without its braces."""
        try:
            found = self._of(place)
        except Unknown as e:
            said = f"{{{place}}}: {e}"
            self.unknown += [said] * (said not in self.unknown)
            return f"{{{place}}}"
        return NOT_MEASURED if found is None else found if type(found) is str else words_of(found)

    def run(self, short):
        """The kept run that a placeholder calls `short`, such as b001, or None."""
        return next((run for run in self.kept if run.id.partition("-")[0] == short), None)

    @property
    def model(self):
        """The newest kept model run, or None."""
        return next((run for run in reversed(self.kept) if shelf.is_headline(run)), None)

    def _of(self, place):
        head, *rest = place.split(".")
        match head, rest:
            case "documents", []:
                return len(self.opened.documents)
            case "enough", []:
                return intervals.n_for_zero(wording.MAY_STILL_BE)
            case "runs", [letter]:
                _known(letter, runs.KINDS, "kind of run")
                return sum(run.id.startswith(letter) for run in self.kept)
            case "opportunities", [*names] if names:
                return self._opportunities(self._mark(names))
            case "null", [*names] if names:
                return self._null(self._mark(names))
            case "data", [file, *keys]:
                return self._data(file, keys)
            case "run", [short, *what] if what and SHORT.fullmatch(short):
                return self._told(self.run(short), what)
            case "model", [*what] if what:
                return self._told(self.model, what)
        _known(head, SUBJECTS, "placeholder")
        raise Unknown("is not a whole placeholder; a name is missing behind it, or one is too many")

    def _mark(self, names):
        return _known(".".join(names), self.marks, "metric, named error or score") if self.marks else ".".join(names)

    def _opportunities(self, mark):
        found = [figure(run, mark, runs.RAW) or {} for run in self.kept + self.opened.runs]
        return next(filter(None, (one.get("den", one.get("opportunities")) for one in found)), None)

    def _null(self, mark):
        nulls = [metric["null"] for run in self.kept + self.opened.runs for metric in run.record["metrics"]
                 if metric["id"] == mark]
        return next((_rate(null, None) for null in nulls if null), None)

    def _data(self, file, keys):
        if not re.fullmatch(r"[a-z_]+", file) or not (self.opened.kit.data / f"{file}.json").exists():
            known = [path.stem for path in self.opened.kit.data.glob("*.json")]
            raise Unknown(f"the data folder has no {file[:40]}.json{near(file[:40], known)}")
        if file not in self._files:
            self._files[file] = read_json(self.opened.kit.data / f"{file}.json")
        found, at = self._files[file], f"{file}.json"
        for key in keys:
            if type(found) is list:
                found = {str(next((entry[name] for name in NAMED_BY if name in entry), None)): entry
                         for entry in found if type(entry) is dict}
            if type(found) is not dict or key not in found:
                raise Unknown(f"{at} has no {key}{near(key, found if type(found) is dict else ())}")
            found, at = found[key], f"{at} /{key}"
        if found is None:
            raise Unknown(f"{at} is null; a text, a number, a list or an object is wanted")
        return len(found) if type(found) in (list, dict) else found

    def _told(self, run, what):
        head, *rest = what
        said = run and {**run.about, **run.record["totals"], "id": run.about["id"]}
        if head in PLAIN and not rest:
            return said and said[head]
        if head in GROUPS and len(rest) == 1:
            return self._of_group(run, said, head, rest[0])
        column = next((place for place, name in enumerate(what) if name in runs.COLUMNS), None)
        if not column:
            _known(head, [*PLAIN, *GROUPS, *self.marks], "thing told of a run")
            raise Unknown(f"raw or rechecked is missing behind {'.'.join(what)}")
        mark, (column, *part) = self._mark(what[:column]), what[column:]
        if len(part) > 1 or part and part[0] not in PARTS:
            raise Unknown(f"{'.'.join(part)} is no part of a figure{near(part[0], PARTS)}; parts: {', '.join(PARTS)}")
        part = part[0] if part else None
        self._suits(mark, part)
        found = run and figure(run, mark, column)
        return found and TOLD[self.marks[mark].kind](found, part)

    def _suits(self, mark, part):
        """Refuse a part that figures of this kind do not have, whether or not one is measured."""
        kind = self.marks[mark].kind if mark in self.marks else None
        if part and kind and part not in PARTS_OF[kind]:
            raise Unknown(f"this figure has no {part}; it has {', '.join(PARTS_OF[kind])}")

    def _of_group(self, run, said, head, name):
        match head:
            case "seconds":
                _known(name, (MEDIAN, "p95"), "share of the calls")
                found = sorted(row.seconds for row in run.rows.values() if row.seconds is not None) if run else []
                return _seconds(found, name) if found else None
            case "setting":
                settings = (run and run.record["settings"]) or {}
                found = settings.get(name)
                if settings and name not in settings:
                    _known(name, settings, "setting of that run")
                return found if found is None else str(found)
            case "tokens":
                found = said and said["tokens"].get(name)
                return found["sum"] if found and found["calls"] else None
            case "outcomes":
                return said and _known(name, said["outcomes"], "outcome") and said["outcomes"][name]
        _known(name, ("usd",), "part of the cost")
        usd = said and said["cost"]["usd"]
        return None if usd is None else f"{usd:.4f} USD"


def kept(opened):
    """The runs that are kept, without those of `local/`: in order of date and id."""
    return sorted((run for run in opened.runs if not run.about["local"]),
                  key=lambda run: (run.about["date"] or "", run.id))


class Mark:
    """What a mark's figures are: `.title`, `.why` (of a named error, else None) and `.kind`: metric, error or score."""

    def __init__(self, kind, found):
        self.kind, self.title, self.why = kind, found["title"], found.get("why")


def marks(opened):
    """{mark id: Mark} of every metric, named error and score that a run of the kit tells of."""
    return {found["id"]: Mark(kind, found) for kind, group in (("metric", "metrics"), ("error", "errors"),
                                                              ("score", "scores"))
            for run in opened.runs for found in run.record[group]}


def figure(run, mark, column):
    """A run's figure of a mark in one column as its record keeps it, or None where it is not measured."""
    return next((found.get(column) for group in ("metrics", "errors", "scores") for found in run.record[group]
                 if found["id"] == mark), None)


def _known(name, known, what):
    if name not in known:
        raise Unknown(f"{name} is no {what}{near(name, list(known))}")
    return name


def _rate(found, part):
    ends = f"{100 * found['low']:.0f}–{100 * found['high']:.0f} %"
    told = {"count": found["num"], "of": found["den"], "rate": wording.percent(found["rate"]), "interval": ends,
            "missed": found["den"] - found["num"]}
    return told[part] if part else f"{told['count']} of {told['of']} ({told['rate']}, 95 % interval {ends})"


def _count(found, part):
    number, of = found["count"], found["opportunities"]
    most = math.ceil(100 * intervals.rule_of_three(found.get("clusters") or of))
    told = {"count": number, "of": of, "rate": wording.percent(number / of), "documents": len(found["rows"])}
    if part:
        return told[part]
    return f"{number} of {of} ({told['rate'] if number else f'none, which still allows {most} %'})"


def _score(found, part):
    told = {"value": f"{found['value']:.3f}", "of": found["documents"]}
    return told[part] if part else f"{told['value']} over {told['of']} documents"


TOLD = {"metric": _rate, "error": _count, "score": _score}
PARTS_OF = {"metric": ("count", "of", "rate", "interval", "missed"),
            "error": ("count", "of", "rate", "documents"), "score": ("value", "of")}


def _seconds(found, name):
    at = statistics.median(found) if name == MEDIAN else found[min(len(found) - 1, int(SHARE_95 * len(found)))]
    return f"{at:.1f} s"
