"""Records as text that people like to read: one table a kit, arms side by side, and the expensive errors by name."""
from src.shared import cost, wording
from src.shared.follow import ANSWERED, REFUSED, TRUNCATED, UNPARSED
from src.shared.wording import count, rate

ROWS_SHOWN = 8
STUB = "stub"


def free(kit, bench, records, gate_says):
    """The table of a kit's free arms. `records` {arm: record}; every figure comes with its count.

    The stub measures nothing, so it stands below the table, with what it planted.
    """
    arms = [arm for arm in records if arm != STUB] or list(records)
    lines = [f"{kit.name}: {kit.about['title']}",
             f"{records[arms[0]]['totals']['documents']} {kit.about['documents']}; label gate: {gate_says}", ""]
    rows = [["right, of all documents (95 % interval)", "", *arms]]
    for metric in bench.metrics:
        rows += _pair(metric, [_metric(records[arm], metric.id) for arm in arms], rate)
    rows += [[], ["named errors, over their opportunities", "", *arms]]
    for error in bench.errors:
        rows += _pair(error._replace(title=error.head), [_error(records[arm], error.id) for arm in arms], count)
    lines += grid(rows)
    for arm in arms:
        lines += _names(arm, bench, records[arm])
        lines += _beside(arm, records[arm])
    if STUB in records and STUB not in arms:
        lines += ["", "stub, gold with one planted fault of every kind, to show that each counter counts:",
                  *outcomes(records[STUB])]
    return "\n".join(lines)


def single(kit, bench, found, floors):
    """The table of one run: raw, rechecked and null side by side, floors behind them as baselines."""
    run = found["run"]
    documents = f"{found['totals']['documents']} {kit.about['documents']}"
    lines = [f"{run['id']}: arm {run['arm']} of {kit.name}, {documents}", ""]
    names = list(floors)
    rows = [["right, of all documents (95 % interval)", "raw", "rechecked", "null", *(f"({name})" for name in names)]]
    for metric in found["metrics"]:
        if metric["raw"] and not metric["id"].startswith("field."):
            rows.append([metric["title"], rate(metric["raw"]), rate(metric["rechecked"]), rate(metric["null"]),
                         *(rate(_metric(floors[name], metric["id"])["raw"]) for name in names)])
    rows += [[], ["named errors, over their opportunities", "raw", "rechecked", "", *(f"({name})" for name in names)]]
    for error in found["errors"]:
        rows.append([error["title"], count(error["raw"]), count(error["rechecked"]), "",
                     *(count(_error(floors[name], error["id"])["raw"]) for name in names)])
    lines += grid(rows)
    lines += _names(run["arm"], bench, found) + _beside(run["arm"], found)
    return "\n".join(lines + [""] + outcomes(found))


def closing(found, path, code, command, seconds):
    """The last lines of a model run: counts, tokens, calls, time, where the record is, what to type next."""
    totals = found["totals"]
    tokens = ", ".join(f"{kind} {total['sum']:,} (reported by {total['calls']} of {totals['calls']} calls)"
                       for kind, total in totals["tokens"].items() if total["calls"]) or "not reported"
    price = totals["cost"]["label"] or "no price card for this model"
    lines = [f"{totals['outcomes'][ANSWERED]} of {totals['documents']} answered; {totals['calls']} calls; "
             f"tokens: {tokens}; cost {cost.in_words(totals['cost']['usd'])} ({price}); {seconds:.1f} s",
             f"record: {path}"]
    lines += [f"  {each['documents']} times {each['outcome'].replace('_', ' ')}: {each['why']}"
              for each in found["failures"][:5]]
    cut = {name: totals["outcomes"][name] for name in (TRUNCATED, REFUSED) if totals["outcomes"][name]}
    if cut and not code:
        lines.append(f"{counts(cut)}: counted as misses; the same command with --resume asks for them again, and pays")
    if not code:
        lines.append(f"look at it: {command}")
    elif any(number for name, number in totals["outcomes"].items() if name not in (ANSWERED, UNPARSED)):
        lines.append(f"documents without a whole reply count as misses; go on with:\n  {command}")
    else:
        lines.append("not one reply holds what was asked for, so this is no verdict; all are whole, and --resume would "
                     "ask for none: look at the prompt and at the model")
    return "\n".join(lines)


def outcomes(found):
    """Answered and the five ways not to be, each with its count over all documents."""
    totals = found["totals"]
    lines = [f"  of {totals['documents']} documents: {counts(totals['outcomes'])}; repaired {totals['repaired']}, "
             f"overridden by the recheck {totals['overrides']}"]
    sizes = totals["characters"]
    if sizes["not_answered"] is not None:
        answered = "" if sizes["answered"] is None else f", {sizes['answered']:,} where one did"
        lines.append(f"  median page: {sizes['not_answered']:,} characters where no answer came{answered}")
    return lines


def counts(outcomes):
    """{outcome: documents} in words."""
    return ", ".join(f"{name.replace('_', ' ')} {number}" for name, number in outcomes.items())


def grid(rows):
    """Rows of cells as lines, the first two columns to the left, the others to the right."""
    width = max(map(len, rows))
    widths = [max((len(row[i]) for row in rows if i < len(row)), default=0) for i in range(width)]
    return ["  ".join(cell.rjust(size) if i > 1 else cell.ljust(size)
                      for i, (cell, size) in enumerate(zip(row, widths))).rstrip() for row in rows]


def _pair(item, found, form):
    """One or two rows of a metric: raw, and rechecked where the recheck can move it."""
    rows = [[item.title, "raw", *(form(each["raw"]) for each in found)]]
    if item.rechecked:
        rows.append(["", "rechecked", *(form(each["rechecked"]) for each in found)])
    return rows


def _beside(arm, found):
    """What is no rate: scores over the documents that have one, lists of first causes, how the headline went wrong."""
    lines = [f"{arm}: {score['title']}: {score['raw']['value']:.4f} over {score['raw']['documents']} documents"
             for score in found["scores"] if score["raw"]]
    for matrix in found["matrices"]:
        if matrix["listed"] and matrix["raw"]:
            counts = dict(zip(matrix["labels"], matrix["raw"][0]))
            causes = ", ".join(f"{name.replace('_', ' ')} {number}" for name, number in counts.items() if number)
            lines.append(f"{arm}: {matrix['title']}, of {sum(counts.values())}: {causes}")
    if found["blame"] and any(found["blame"]["raw"].values()):
        lines.append(f"{arm}: {wording.blame(found['blame']['raw'])}")
    return ["", *lines] if lines else []


def _metric(found, mark):
    return next((metric for metric in found["metrics"] if metric["id"] == mark), {"raw": None, "rechecked": None})


def _error(found, mark):
    return next((error for error in found["errors"] if error["id"] == mark), {"raw": None, "rechecked": None})


def _names(arm, bench, found):
    """The rows of the most expensive error, so that a reader can open one; a row may hold the error more than once."""
    error = _error(found, bench.errors[0].id)
    rows = error["raw"]["rows"] if error["raw"] else []
    if not rows:
        return []
    more = f" and {len(rows) - ROWS_SHOWN} more" if len(rows) > ROWS_SHOWN else ""
    where = f", in {len(rows)} documents" if error["raw"]["count"] != len(rows) else ""
    unit = f" {bench.errors[0].unit}" if bench.errors[0].unit else ""
    return ["", f"{arm}: {bench.errors[0].title} on {error['raw']['count']} of {error['raw']['opportunities']}{unit}"
                f"{where}; {bench.errors[0].why}:", f"  {' '.join(rows[:ROWS_SHOWN])}{more}"]
