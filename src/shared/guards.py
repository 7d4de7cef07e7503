"""What has to be equal before two runs are differenced: the pages, the key, the rules and the fixed part of the prompt.

A run keeps these hashes in its record; the board computes them anew, to say which runs still speak of what is in hand.
"""
import hashlib

from src.shared.files import read_text

RULE_FILES = ("checks.json", "policy.json", "policy.md", "fields.json", "facts.json")


def sha(*pieces):
    """A short name for bytes or texts: the first 16 hex digits of their SHA-256."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece if isinstance(piece, bytes) else piece.encode())
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def guards(kit):
    """{"gold", "rules", "prefix"} of a kit as it stands: hashes of its key, its rules, the fixed part of its prompt."""
    first = next(kit.documents())
    prefix = "".join(f"{part.role}\0{part.text}" for part in kit.prompt(first) if part.fixed)
    rules = [read_text(kit.data / name) for name in RULE_FILES if (kit.data / name).exists()]
    return {"gold": _file_hash(kit.data / "gold.jsonl"), "rules": sha(*rules), "prefix": sha(prefix)}


def in_hand(kit):
    """Every guard of a kit as it stands now, its pages too: all of them are read."""
    digest, documents = hashlib.sha256(), 0
    for name in kit.documents():
        digest.update(sha(name, kit.text(name)).encode())
        documents += 1
    return {"documents": documents, "corpus": digest.hexdigest()[:16], **guards(kit)}


def _file_hash(path):
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()[:16]
