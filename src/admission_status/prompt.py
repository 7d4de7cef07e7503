"""The call for one admission record: instructions, rulebook, elements and reply shape first, the record last."""
from src.admission_status import elements

_NULLABLE = {"citation": "string", elements.DISCHARGE: "string", elements.NIGHTS: "integer"}


def build(book, document, text, guarded=True):
    """[Part] in send order. The whole record is sent; there is no part of it that a reader could do without."""
    return book.template.fill(document=text)


def schema(book):
    """The JSON schema of a reply: four elements, each with a word of its own, then support, confidence and why."""
    words = list(dict.fromkeys(word for element in book.elements.values() for word in element.words.values()))
    row = {"element": {"type": "string", "enum": list(book.elements)}, "finding": {"type": "string", "enum": words},
           **{name: {"type": [kind, "null"]} for name, kind in _NULLABLE.items()}}
    return _object({
        "elements": {"type": "array", "minItems": len(elements.ELEMENTS), "maxItems": len(elements.ELEMENTS),
                     "items": _object(row)},
        elements.SUPPORT: {"type": "string", "enum": list(book.table.decisions)},
        elements.CONFIDENCE: {"type": "number"}, elements.WHY: {"type": "string"}})


def _object(properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
