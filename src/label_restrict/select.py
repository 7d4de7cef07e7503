"""Which part of the page leaves the machine: the sections that a field is read from, and no others."""
from src.shared import sections
from src.shared.files import BadData


def sent(book, document, text, guarded=True):
    """The text that goes into the prompt. `guarded=False` gives the whole page, to measure what the guard takes out.

    BadData where the page lacks a section: what cannot be told apart is not sent.
    """
    if not guarded:
        return text
    found = {section.title: section for section in sections.cut(text)}
    missing = [title for title in book.fields.sections_sent if title not in found]
    if missing:
        raise BadData(f"{document}: no section {', '.join(missing)} underlined with dashes; the page is not sent, "
                      f"since what must stay here cannot be told apart (found: {', '.join(found) or 'no section'})")
    return "\n\n".join(f"{title}\n{'-' * len(title)}\n{sections.body(text, found[title])}"
                       for title in book.fields.sections_sent)
