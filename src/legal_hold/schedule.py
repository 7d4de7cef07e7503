"""The watch positions of the extracts in a data folder: which run of which matter was taken when, and what is next."""
from src.legal_hold import page
from src.shared.files import BadData, read_text


def positions(book):
    """(problems, [position]) of every extract in `corpus/`, for `python -m tools.due`.

    A position is {"chain", "run", "runs", "document", "snapshot", "run_on", "previous", "next"}, dates as ISO text or
    None; a problem is a sentence about an extract whose position cannot be read.
    """
    problems, found = [], []
    for path in sorted((book.data / "corpus").glob("*.txt")):
        try:
            position = page.read_position(read_text(path))
        except BadData as e:
            problems += [f"{path.name}: {problem}" for problem in e.problems]
            continue
        found.append({"document": path.stem, "chain": position.pop("matter"), **position})
    return problems, found


def schedule(book):
    """{"positions", "problems", "stale_after_days"} of a data folder."""
    problems, found = positions(book)
    return {"positions": found, "problems": problems, "stale_after_days": book.rules.days["stale_after_days"]}
