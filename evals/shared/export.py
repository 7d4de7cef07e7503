"""Records in the forms that other tools read, chosen by suffix: .json .csv .junit.xml .md"""
import csv
import io
import os
from pathlib import Path

from evals.shared import record
from src.shared import tally
from src.shared.files import BadData, read_text, write_text

COLUMNS = ("id", "case", "kit", "arm", "outcome", "why", "overrides", "repairs")


def check(path):
    """BadData for a file whose suffix names no form; called before anything is run or spent."""
    if not any(str(path).endswith(suffix) for suffix in FORMS):
        raise BadData(f"-o {path}: no form has this suffix; one of {', '.join(FORMS)}")
    if Path(path).is_dir():
        raise BadData(f"-o {path}: is a folder; a file is wanted")
    folder = Path(path).absolute().parent
    if not os.access(folder, os.W_OK):
        raise BadData(f"-o {path}: {folder} is no folder that can be written to")


def write(path, paths, table):
    """Write runs to a file. `paths` lead to their records, of one kit or several; `table` is what was printed."""
    form = next(form for suffix, form in FORMS.items() if str(path).endswith(suffix))
    try:
        write_text(path, form(paths, table))
    except OSError as e:
        raise BadData(f"-o {path}: cannot be written: {e.strerror}") from None


def _json(paths, table):
    return "[" + ",\n".join(read_text(path).rstrip("\n") for path in paths) + "]\n"


def _csv(paths, table):
    """One row per document and arm: what became of it, then every mark, raw and rechecked (1, 0, or hits/of)."""
    rows, marks = [], {}
    for found in map(record.read, paths):
        run = {name: found["run"][name] for name in ("kit", "arm")}
        for entry in found["documents"]:
            row = {**{name: entry.get(name) for name in COLUMNS}, **run,
                   "overrides": " ".join(entry["overrides"]), "repairs": "; ".join(entry["repairs"])}
            for column in tally.COLUMNS:
                row |= {f"{column}.{mark}": _cell(hit) for mark, hit in entry["marks"][column].items()}
            marks |= dict.fromkeys(key for key in row if key not in COLUMNS)
            rows.append({key: _inert(value) for key, value in row.items()})
    out = io.StringIO()
    writer = csv.DictWriter(out, [*COLUMNS, *sorted(marks)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _junit(paths, table):
    """One test case per document and arm: failed where the headline is wrong, an error where there is no answer."""
    from xml.etree import ElementTree       # for this form alone
    suites = ElementTree.Element("testsuites")
    for found in map(record.read, paths):
        headline, name = found["metrics"][0]["id"], f"{found['run']['kit']}.{found['run']['arm']}"
        suite = ElementTree.SubElement(suites, "testsuite", name=name,
                                       tests=str(len(found["documents"])))
        counts = {"failures": 0, "errors": 0}
        for entry in found["documents"]:
            case = ElementTree.SubElement(suite, "testcase", classname=name, name=entry["id"])
            wrong = [column for column in tally.COLUMNS if entry["marks"][column].get(headline) is False]
            if entry["outcome"] != "answered":
                counts["errors"] += 1
                ElementTree.SubElement(case, "error", type=entry["outcome"], message=_clean(entry["why"] or ""))
            elif wrong:
                counts["failures"] += 1
                want, got = entry["cells"][wrong[0]].get(headline, ("", ""))
                ElementTree.SubElement(case, "failure", type=headline, message=_clean(
                    f"{', '.join(wrong)}: {got} where {want} is right" if got else f"{', '.join(wrong)}: wrong"))
        for kind, number in counts.items():
            suite.set(kind, str(number))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


def _markdown(paths, table):
    return f"```text\n{table}\n```\n"


def _cell(hit):
    return f"{hit[0]}/{hit[1]}" if isinstance(hit, list) else "" if hit is None else int(hit)


def _inert(value):
    """A cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _clean(text):
    """Text without the characters that XML cannot hold."""
    return "".join(c if c in "\t\n\r" or (" " <= c and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff") else "\ufffd"
                   for c in text)


FORMS = {".junit.xml": _junit, ".json": _json, ".csv": _csv, ".md": _markdown}
