"""Credit for a quotation: whether what an answer quotes is the labelled line, by the characters of the page.

The two thresholds are settings of kit.json, so that others are a re-score and no new run.
"""
from src.shared import citation
from src.shared.files import BadData


def spans(kit, document, answer, names):
    """{field: [[start, end] of each place on the page where what it quotes stands]} for the fields that quote something."""
    text, values = kit.text(kit.source(document)), answer.values if answer else {}
    return {name: list(map(list, citation.locate(text, values[name]).spans)) for name in names if values.get(name)}


def credit(kit, document, quote, labelled):
    """citation.Credit of `quote` (text or None) against the labelled line. BadData where that is not once on the page.

    A quote that stands nowhere has no `span`; one that stands in several places counts at its best.
    """
    text, settings = kit.text(document), kit.book.settings
    places = citation.locate(text, labelled).spans
    if len(places) != 1:
        raise BadData(f"{document}: the labelled line {labelled!r} stands {len(places)} times on the page; it has to "
                      f"once")
    return citation.credit(citation.locate(text, quote).spans if quote else [], places[0],
                           settings.get("coverage_min", citation.COVERAGE_MIN),
                           settings.get("precision_min", citation.PRECISION_MIN))
