"""The minimum necessary: what no pend record may carry, and where a text looks as if it did.

Who the member is, as every kit with records about people looks for it, and what only a claim may not carry: an age, a
diagnosis in words or as a code, and anything clinical.
"""
from evals.shared import personal

ILLNESSES = (r"cancer|diabet\w+|fractures?|hypertension|asthma|sepsis|dementia|depression|strokes?|HIV|AIDS|COPD|CHF|"
             r"an?emia|epilep\w+|seizures?|schizophreni\w+|bipolar|anxiety|migraines?|obes\w+|influenza|covid\w*|"
             r"tubercul\w+|lupus|sclerosis|thrombosis|cirrhosis|embol\w+|parkinson\w*|alzheimer\w*|pneumonia|"
             r"\w+(?:carcinoma|lymphoma|melanoma|myeloma)|carcinoma|lymphoma|melanoma|myeloma|glaucoma|"
             r"\w{2,}itis|\w{3,}opath(?:y|ies)|(?:heart|renal|kidney|liver|respiratory) (?:failure|disease|attack)")
# The ends that name a substance's class, and substances that everybody knows.
MEDICINES = (r"\w{2,}(?:formin|statin|pril|sartan|olol|cillin|mycin|floxacin|prazole|conazole|dipine|azepam|azolam|"
             r"oxetine|triptyline|gliptin|gliflozin|glutide|tinib|[xz]umab|ximab|semide|thiazide|codone|cycline|parin)|"
             r"insulin|aspirin|warfarin|ibuprofen|paracetamol|acetaminophen|morphine|fentanyl|prednison\w*|steroids?|"
             r"antibiotics?|opioids?|chemotherapy|dialysis|[0-9]+ ?(?:mc?g|ml)|tablets?|capsules?")
CLINICAL = (r"symptoms?|complain(?:s|ed) of|present(?:s|ed) with|suffer\w*|treated for|history of|prognosis|"
            r"medications?|allerg\w+|vital signs|blood pressure|pain(?:ful)?|wounds?|tumou?rs?|infections?|pregnan\w+|"
            r"smok(?:es|er|ing)|(?:takes|took|taking) \w+ (?:daily|twice|nightly|weekly)|"
            r"(?:once|twice|three times) a day|\w{2,}ectomy|surgical history|clinical (?:picture|course)")
AGE = r"(?:1[01][0-9]|[1-9]?[0-9])"
NEVER = {
    **personal.WHO,
    "a birth date or an age": (
        r"\b(?:date of birth|birth ?dates?|birthday|born)\b",
        r"\b[0-9]{1,3}[- ]?(?:years?|yrs?|months?)[- ](?:old|of age)\b",
        rf"\bage[ds]?(?: (?:of|is|was))?[ :=]+{AGE}\b(?! ?(?:days?|weeks?|hours?|per ?cent|%))",
        rf"\b{AGE} ?y\.?/?o\b", rf"\b{personal.PERSON}[ ,(]{{1,2}}{AGE}[,)]",
        r"\bin (?:his|her|their) (?:late |early |mid-?)?(?:[1-9]0s|(?:twen|thir|for|fif|six|seven|eigh|nine)ties)\b"),
    "a diagnosis": (
        r"\bdiagnos[a-z]+", r"\b[ps]?dx\b", r"\bICD(?:-?(?:9|10))?\b", r"\b[A-TV-Z][0-9][0-9A-Z]\.[0-9A-Z]{1,4}\b",
        # Without its dot a code is told from a remark code (M, N) and from a procedure's, a letter with four digits.
        r"\bcodes?:? [A-LO-TV-Z][0-9][0-9A-Z](?:[0-9A-Z](?:[0-9A-Z]{2,3})?)?\b", rf"\b(?:{ILLNESSES})\b"),
    "clinical narrative": (rf"\b(?:{MEDICINES})\b", rf"\b(?:{CLINICAL})\b"),
}
PATTERNS = personal.compiled(NEVER)


def violations(text):
    """[(what it looks like, the words)] of everything in a record that goes beyond the minimum necessary."""
    return personal.found(PATTERNS, text)
