"""What may tell who somebody is: patterns for the label gates that sweep records about people, and one way to use them.

A record goes to a model as it stands, so a list of what it may hold is a control only if something looks at every
record. Patterns err on the side of a finding: a person can take a harmless sentence out, and cannot take a name back.
No pattern sees a bare name in the middle of a sentence; whoever brings records of their own reads them as well.
"""
import re
from functools import lru_cache

POSSESSIVE = r"(?:['\u2019]s)?"
# Whose name, number or birth date it would be, and the short forms of a desk.
PERSON = (r"(?:members?|mbr|patients?|pt|subscribers?|insured|beneficiary|beneficiaries|bene|enrollees?|"
          r"policy ?holders?|claimants?|guarantors?|dependents?|spouse|husband|wife|mother|father|parents?|son|"
          r"daughter|child|guardian|caregiver)")
# What begins with a capital behind such a word and is no name: departments, programmes, days, first words.
NO_NAME = (r"Services?|Accounts?|Access|Relations|Financial|Enrollment|Eligibility|Portal|Handbook|Medicare|Medicaid|"
           r"Part|Plan|Claims?|Number|No|None|Not|Unknown|The|This|That|Is|Was|Has|In|On|And|Or|But|To|By|For|With|"
           r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day")
MONTH = (r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
         r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?")
UPPER, LETTER = r"[^\W\d_a-zß-öø-ÿ]", r"[^\W\d_]"
PARTICLES = r"(?:(?:da|de|del|della|den|der|di|dos|el|la|le|van|von) )*"
NAME = (rf"(?!(?i:{NO_NAME})\b|{MONTH} [0-9]){PARTICLES}(?:{UPPER}['\u2019]?{UPPER}?[a-zß-öø-ÿ]{LETTER}*|"
        rf"{UPPER}\.(?= ?{UPPER})|{UPPER}{{2,}}, ?{UPPER})")
NUMBER = r"(?:id\b|no\.|number|identifier|#)"
LIVING = r"(?:1[89][0-9]{2}|200[0-9]|201[0-9])"      # years in which people are born and no claim is dated
ROADS = "Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Court|Ct|Boulevard|Blvd|Way|Terrace|Place|Pl"
# {what it looks like: patterns}; (?-i:…) is where a capital matters.
WHO = {
    "a name of a member": (
        rf"\b{PERSON}{POSSESSIVE} name\b", r"\bname: ?\S", r"\b(?:Mrs?|Ms|Mx)\. ?\w",
        rf"\b(?-i:Mrs?|Ms|Miss|Mx|MRS?|MS|MISS) (?-i:{UPPER})",
        rf"\b{PERSON}: ?(?!(?:{NO_NAME})\b)(?-i:{UPPER}{{2,}} {UPPER}{{2,}})\b",
        rf"\b{PERSON}{POSSESSIVE}(?: (?:is|was|named|called|name is))?[ ,:;(\u2013\u2014-]{{1,3}}(?-i:{NAME})"),
    "a birth date": (
        r"\b(?:DOB|D\.O\.B)\b",
        rf"\b(?:birth|birth ?date|birthday|born)\b\W{{0,3}}(?:(?:is|was|on|in) )?(?:{MONTH} )?[0-9]",
        rf"\b{LIVING}-[0-9]{{2}}-[0-9]{{2}}\b",
        r"\b[0-9]{1,2}/[0-9]{1,2}/[0-9]{2,4}\b", rf"\b[0-9]{{1,2}}\.[0-9]{{1,2}}\.{LIVING}\b",
        rf"\b(?-i:{MONTH}) [0-9]{{1,2}}(?:st|nd|rd|th)?,? {LIVING}\b", rf"\b[0-9]{{1,2}} (?-i:{MONTH}) {LIVING}\b"),
    "an identifier of a member": (
        rf"\b{PERSON}{POSSESSIVE} {NUMBER}", rf"\b(?:policy|medicare|medicaid) {NUMBER}",
        rf"\b{PERSON}{POSSESSIVE}[ ,:#(]{{1,3}}[A-Z]{{0,3}}[0-9][0-9-]{{4,}}",
        r"\b(?:MRN|SSN|MBI|HICN)\b", r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b",
        r"\b[1-9][A-Z][A-Z0-9][0-9]-?[A-Z][A-Z0-9][0-9]-?[A-Z]{2}[0-9]{2}\b"),
    "an address": (
        rf"(?-i:\b[0-9]+ (?:[A-Z][a-z]+ ){{1,3}}(?:{ROADS})\b)", r"\bP\.? ?O\.? Box\b", r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
        r"(?-i:\b[A-Z]{2} [0-9]{5}(?:-[0-9]{4})?\b)"),
    "a telephone number": (
        r"(?:\([0-9]{3}\) ?|\b[0-9]{3}[ .-])[0-9]{3}[ .-][0-9]{4}\b",
        r"\b(?:phone|telephone|cell|mobile)(?: (?:number|no\.?))?:? ?[0-9(+]"),
}
SPOKEN_OF = re.compile(rf"\b{PERSON}\b", re.IGNORECASE)


def compiled(kinds):
    """{what: patterns} as (what, compiled pattern, whether it begins with a word for a person), for `found`."""
    return tuple((what, re.compile(pattern, re.IGNORECASE), pattern.startswith(rf"\b{PERSON}"))
                 for what, patterns in kinds.items() for pattern in patterns)


def found(patterns, text):
    """[(what it looks like, the words)] of everything in a text that one of the `compiled` patterns finds in a line."""
    return [each for line in text.split("\n") for each in _found_in(patterns, line)]


@lru_cache(maxsize=4096)
def _found_in(patterns, line):
    """The same of one line; remembered, since the pages of a kit have many lines in common."""
    people = [hit.start() for hit in SPOKEN_OF.finditer(line)]
    return [(what, hit[0]) for what, pattern, is_of_person in patterns
            for hit in (filter(None, (pattern.match(line, at) for at in people)) if is_of_person
                        else pattern.finditer(line))]
