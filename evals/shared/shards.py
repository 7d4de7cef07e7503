"""One run on several machines: each takes a stable share of the documents, `evals.merge` joins what they wrote.

The share of a document hangs on its id alone, so it stays where it is when documents are added.
"""
import hashlib
import re
from collections import namedtuple

from src.shared.files import BadData

# index counts from 1
Shard = namedtuple("Shard", "index of")

FORM = re.compile(r"(?:([0-9]+)/)?([0-9]+)")


def parse(text, environment):
    """`I/N` as a Shard; `N` or nothing takes the index, and where it can the count, from the array job around.

    BadData where neither says which share this is.
    """
    found = FORM.fullmatch(text or "0")
    if not found:
        raise BadData(f"--shard {text}: write it like 2/8, or 8 inside an array job")
    if found[1]:
        return _checked(int(found[1]), int(found[2]), text)
    for index, first, count in SCHEDULERS:
        if index in environment:
            counted = count(environment)
            of = int(found[2]) or counted
            if not of:
                raise BadData(f"--shard: {index} says which share this is, and nothing for sure of how many; "
                              "write --shard N")
            return _checked(_number(environment, index) - first + 1, of, f"{index}={environment[index]} of {of}")
    raise BadData(f"--shard {text or ''}: no array job is around ({', '.join(names[0] for names in SCHEDULERS)} are "
                  "not set); write it like 2/8")


def _slurm_count(environment):
    """How many shares a Slurm array 1–N has, or 0 where its tasks are others, as when a few are submitted again.

    BadData for an array from 0: a few of its tasks, submitted again, could not be told from those of an array from 1.
    """
    count = _number(environment, "SLURM_ARRAY_TASK_COUNT")
    low = _number(environment, "SLURM_ARRAY_TASK_MIN", 1)
    high = _number(environment, "SLURM_ARRAY_TASK_MAX", count)
    if low == 0:
        raise BadData(f"--shard: this Slurm array counts from 0; shares count from 1, so write --array=1-{high + 1}")
    return count if (low, high) == (1, count) else 0


def _number(environment, name, default=0):
    text = environment.get(name, str(default))
    if not text.isdecimal():
        raise BadData(f"--shard: {name}={text} is no whole number; write the share like 2/8")
    return int(text)


# Array jobs: the variable of the task's index, what the first index is, and how many tasks there are, 0 where that is
# not said. Slurm's own count is of the tasks of this submission.
SCHEDULERS = (("SLURM_ARRAY_TASK_ID", 1, _slurm_count), ("JOB_COMPLETION_INDEX", 0, lambda environment: 0),
              ("AWS_BATCH_JOB_ARRAY_INDEX", 0, lambda environment: _number(environment, "AWS_BATCH_JOB_ARRAY_SIZE")))


def holds(shard, document):
    """Whether a document belongs to a share."""
    digest = hashlib.sha256(document.encode()).digest()
    return int.from_bytes(digest[:8], "big") % shard.of == shard.index - 1


def suffix(shard):
    """How a share's files are named behind the run id."""
    return f".shard-{shard.index}-of-{shard.of}" if shard else ""


def _checked(index, of, text):
    if not 1 <= index <= of:
        raise BadData(f"--shard {text}: shares count from 1 to {of}")
    return Shard(index, of)
