"""The minimum necessary: what no pend record may carry, and where a text looks as if it did.

The record goes to a model as it stands, so the list of its facts is a control only if something looks at every record.
Patterns err on the side of a finding: a person can take a harmless sentence out, and cannot take back a birth date.
"""
import functools
import re

OF_A_MEMBER = r"(?:member|patient|subscriber|insured|beneficiary|enrollee|policy|medicare|medicaid)(?:'s)?"
ROADS = "Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Court|Boulevard|Blvd|Way"
ILLNESSES = r"cancer|diabet\w+|fractures?|pneumonia|hypertension|asthma|sepsis|dementia|depression|stroke|HIV"
CLINICAL = (r"symptoms?|complain(?:s|ed) of|present(?:s|ed) with|prognosis|medications?|vital signs|blood pressure|"
            r"pain|wounds?|tumou?rs?|infections?|pregnan\w+|[0-9]+ ?mg|surgical history|clinical (?:picture|course)")
NEVER = {
    "a name of a member": (rf"\b{OF_A_MEMBER} name\b", r"\bname: ", r"\b(?:Mr|Mrs|Ms|Miss)\.? [A-Z][a-z]+"),
    "a birth date": (r"\b(?:date of birth|birth ?dates?|birthday|born (?:on|in)|DOB)\b",
                     r"\b[0-9]{1,3}[- ]years?[- ]old\b",
                     r"\b(?:1[89][0-9]{2}|20[01][0-9])-[0-9]{2}-[0-9]{2}\b", r"\b[0-9]{1,2}/[0-9]{1,2}/[0-9]{2,4}\b"),
    "an identifier of a member": (rf"\b{OF_A_MEMBER} (?:id|no\.|number|identifier)\b", r"\b(?:MRN|SSN|MBI|HICN)\b",
                                  r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b",
                                  r"\b[1-9][A-Z][A-Z0-9][0-9]-?[A-Z][A-Z0-9][0-9]-?[A-Z]{2}[0-9]{2}\b"),
    "an address": (rf"\b[0-9]+ (?:[A-Z][a-z]+ ){{1,3}}(?:{ROADS})\b", r"\bP\.? ?O\.? Box\b", r"[\w.]+@[\w.]+\.[a-z]+",
                   r"\b[A-Z]{2} [0-9]{5}(?:-[0-9]{4})?\b"),
    "a telephone number": (r"\(?\b[0-9]{3}\)?[ .-][0-9]{3}[ .-][0-9]{4}\b",
                           r"\b(?:phone|telephone|cell|mobile)(?: number)?:? ?[0-9(+]"),
    "a diagnosis": (r"\bdiagnos[a-z]+", r"\bICD(?:-10)?\b", r"\b[A-TV-Z][0-9][0-9A-Z]\.[0-9A-Z]{1,4}\b",
                    rf"\b(?:{ILLNESSES})\b"),
    "clinical narrative": (rf"\b(?:{CLINICAL})\b",),
}
PATTERNS = [(what, re.compile(pattern, 0 if what == "an address" else re.IGNORECASE))
            for what, patterns in NEVER.items() for pattern in patterns]


@functools.lru_cache(maxsize=256)
def violations(text):
    """[(what it looks like, the words)] of everything in a record that goes beyond the minimum necessary."""
    return [(what, found[0]) for what, pattern in PATTERNS for found in pattern.finditer(text)]
