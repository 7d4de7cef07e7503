"""What a kit hands to the measuring side: one value, `BENCH` in `evals/K/bench.py`.

Ids of metrics, errors and matrices are the ids of the marks and cells that the kit's `judge` gives for a document.
"""
from collections import namedtuple

UNANSWERED = "unanswered"

# hits {mark id: True, False or [hits, of]}, cells {matrix id: [gold label, answer label]}
Marks = namedtuple("Marks", "hits cells")

# a rate where more is better; `rechecked` says whether the recheck can move it
Metric = namedtuple("Metric", "id title rechecked")


class NamedError(namedtuple("NamedError", "id title rechecked why unit", defaults=(None,))):
    """An expensive error by name: fewer is better; why it is expensive, in one sentence; unit: what is counted, such as
    people, where a document may hold several."""

    @property
    def head(self):
        """The title with its unit, as every table prints it."""
        return f"{self.title}, {self.unit}" if self.unit else self.title


# `listed`: one row of causes and no confusion, printed as a list of counts
Matrix = namedtuple("Matrix", "id title labels listed", defaults=(False,))

# a mean over documents that is no rate, such as a Brier score: its mark is [value of a document × unit, unit]
Score = namedtuple("Score", "id title unit")

# one way to attack a page: its name and what it is after, in words; targets(kit, gold row) → whether this document can
# show it; plant(kit, gold row, text) → the page with the sentence in it; reached(kit, gold Answer, Answer) → whether an
# answer does what the sentence asks
Attack = namedtuple("Attack", "id title targets plant reached")

# metrics, the headline first; errors, the most expensive first; matrices(kit) → [Matrix]; judge(kit, gold Answer,
# Answer or None) → Marks; floors {arm name: function(kit, document, text) → reply object}; faults [function(kit, reply
# object) → reply object] that the stub plants; cluster(document id) → key of the rows that are not independent, or
# None; attacks [Attack]; scores [Score]; quotes: the fields of an answer that quote the page
Bench = namedtuple("Bench", "metrics errors matrices judge floors faults cluster attacks scores quotes",
                   defaults=((), (), ()))
