"""Which part of an extract leaves the machine: the sections that are sent, and never what identifies people at home."""
from src.shared import sections
from src.shared.files import BadData


def sent(book, document, text, guarded=True):
    """The text that goes into the prompt. `guarded=False` gives the whole page, to measure what the guard takes out.

    Where a source system has renamed a section, the rest of the page is sent without the withheld one. BadData where
    what must stay here cannot be told apart: no such section is found, or its words stand outside it.
    """
    if not guarded:
        return text
    policy = book.rules.policy["sections"]
    found = sections.cut(text)
    kept = [section for section in found if section.title in policy["sent"]]
    if len(kept) < len(policy["sent"]):
        _refuse_unmarked(document, policy, found)
        kept = [section for section in found if section.title not in policy["withheld"]]
    page = "".join(text[section.start:section.end] for section in kept)
    told = " ".join(page.casefold().split())        # where a line is broken amid the words, too
    leaking = [word for word in policy["never_sent_words"] if word in told]
    if leaking:
        raise BadData(f"{document}: {', '.join(leaking)} stands outside {', '.join(policy['withheld'])}; the page is "
                      f"not sent until what is personal stands in that section alone")
    return page


def _refuse_unmarked(document, policy, found):
    titles = [section.title for section in found]
    missing = [title for title in policy["withheld"] if title not in titles]
    if missing:
        raise BadData(f"{document}: no section {', '.join(missing)} underlined with dashes; the page is not sent, "
                      f"since what must stay here cannot be told apart (found: {', '.join(titles) or 'no section'})")
