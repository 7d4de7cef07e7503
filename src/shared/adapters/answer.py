"""What one attempt has brought so far, and the verdict whether that is a whole answer."""
import json

from . import faults
from .faults import Failure

# Finish words of the providers, folded to lower case. Only the first row means that the reply is whole.
MEANINGS = {
    "stop": "stop end_turn stop_sequence eos eos_token end_of_sequence complete completed",
    "length": "length max_tokens max_output_tokens model_length token_limit model_context_window_exceeded",
    "refusal": "refusal refused",
    "content_filter": "content_filter content_filtered safety recitation blocklist prohibited_content spii sensitive"
                      " guardrail_intervened",
    "tool_calls": "tool_calls tool_use function_call tool_call",
    "error": "error network_error insufficient_system_resource abort aborted cancelled canceled",
}
_NOT_WHOLE = MEANINGS.keys() - {"stop"}
_MEANING = {word: meaning for meaning, words in MEANINGS.items() for word in words.split()}

# The names under which servers report each count; the first usable one is taken, an inner name by its path.
COUNTS = {
    "input": ("prompt_tokens", "input_tokens"),
    "cached": ("prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens", "cache_read_input_tokens",
               "prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens"),
    "output": ("completion_tokens", "output_tokens"),
    "reasoning": ("completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens",
                  "reasoning_tokens"),
}
_PATHS = [(field, [name.split(".") for name in names]) for field, names in COUNTS.items()]
_ABSURD = 10 ** 10


class Answer:
    """Text, reasoning, refusal, finish word, usage and notes of one attempt. Each attempt owns its own.

    usage  {"input", "cached", "output", "reasoning"}: the last number reported for each, None when none was
    notes  what was odd about a reply that was taken all the same, as short codes
    """

    def __init__(self, clock, notes=()):
        self.clock = clock
        self.pieces, self.reasoning, self.refusal, self.notes = [], [], [], list(notes)
        self.status = self.finish = self.model = self.cost = None
        self.is_done = self.has_tool_call = self.is_open = False
        self.usage = dict.fromkeys(COUNTS)

    def say(self, piece):
        """Answer text. An earlier finish word no longer proves that the reply is whole."""
        if isinstance(piece, str) and piece:
            self.pieces.append(piece)
            self.is_open = True
            self.clock.output(len(piece))

    def think(self, piece):
        """Reasoning: a sign of life, never part of the answer."""
        if isinstance(piece, str) and piece:
            self.reasoning.append(piece)
            self.clock.output(0)

    def refuse(self, piece):
        """A refusal in a field of its own."""
        if isinstance(piece, str) and piece:
            self.refusal.append(piece)
            self.clock.output(len(piece))

    def call_tool(self):
        """A call of a tool, though none was offered."""
        self.has_tool_call = True
        self.clock.output(0)

    def end(self, word):
        """The provider's finish word; null words are passed over, the last real one counts.

        But a word that says why the answer is not whole stands until more text comes: no later word makes it whole.
        """
        if isinstance(word, str) and word:
            if self.is_open or self.meaning() not in _NOT_WHOLE:
                self.finish = word
            self.is_open = False
            # on purpose: a "stop" before any text may end the reasoning only, so the answer may still be long in coming
            if self.pieces or self.refusal or self.meaning() != "stop":
                self.clock.finish()

    def count(self, usage):
        """Take over a usage snapshot, field by field; anything but a sensible count is as good as not reported."""
        if not isinstance(usage, dict):
            return
        for field, paths in _PATHS:
            for path in paths:
                number = _at(usage, path)
                if type(number) is int and 0 <= number < _ABSURD:       # on purpose: True is no count
                    self.usage[field] = number
                    break
        cost = usage.get("cost")
        if type(cost) in (int, float) and 0 <= cost < _ABSURD:
            self.cost = cost

    def is_whole(self):
        """True once the provider has said that the reply is over and no text came after it said so."""
        return self.is_done or self.finish is not None and not self.is_open

    def meaning(self):
        """The finish word in the house's vocabulary: a key of MEANINGS, "unknown" for none, else the word itself."""
        if self.finish is None:
            return "unknown"
        return _MEANING.get(self.finish.strip().casefold(), self.finish)

    def text(self):
        """The answer text, its surrogate pairs joined again where two pieces held a half each."""
        whole = self.pieces[-1] if self._are_snapshots() else "".join(self.pieces)
        return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def settle(self, broken):
        """The text of a whole answer, or the Failure that names why it is none.

        broken  the transport's Failure when the connection did not end well, else None
        """
        if not self.is_whole():
            raise broken or Failure(faults.REPLY_CUT, f"the reply ended after {self.clock.arrived} characters without "
                                    "a finish reason or an end marker")
        self._refuse_all_but_stop()
        text = self.text()
        if not text.strip():
            text = self._text_from_reasoning()
        self._note(not self.is_done, "no_done_marker")
        self._note(self.finish is None, "no_finish_reason")
        self._note(self._are_snapshots(), "cumulative_deltas")
        self._note("\ufffd" in text and "\ufffd" not in "".join(self.pieces), "lone_surrogates")
        return text

    def _refuse_all_but_stop(self):
        meaning = self.meaning()
        if meaning == "length":
            raise Failure(faults.OUTPUT_LIMIT, f"the output limit was reached after {self.clock.arrived} characters "
                          f"(finish reason {self.finish})")
        if meaning == "content_filter":
            raise Failure(faults.CONTENT_FILTER, f"filtered (finish reason {self.finish})")
        if meaning == "refusal" or self.refusal:
            raise Failure(faults.REFUSAL, "the model refuses", "".join(self.refusal) or self.text())
        if meaning == "tool_calls" or self.has_tool_call and not self.pieces:
            raise Failure(faults.EMPTY_ANSWER, "a tool call instead of an answer", detail="tool_calls")
        if meaning == "error":
            raise Failure(faults.SERVER_ERROR, f"the server gave up (finish reason {self.finish})")
        if meaning not in ("stop", "unknown"):
            raise Failure(faults.UNKNOWN_FINISH, "a finish reason nobody here knows", self.finish)

    def _text_from_reasoning(self):
        """Some servers file the whole answer under reasoning. Taken only when all of it is one JSON object."""
        text = "".join(self.reasoning).strip()
        try:
            is_object = self.meaning() == "stop" and isinstance(json.loads(text), dict)
        except (ValueError, RecursionError):
            is_object = False
        if not is_object:
            raise Failure(faults.EMPTY_ANSWER, "the reply holds no answer" + (", only reasoning" if text else ""))
        self._note(True, "text_from_reasoning")
        return text

    def _are_snapshots(self):
        """True when each piece repeats all that came before and goes on: the whole text so far, not an addition.

        Asked of the whole stream at once, so that a token that happens to repeat never counts. Two pieces are enough
        where both open the object that is wanted: added up, they would be none.
        """
        grown = len({len(piece) for piece in self.pieces})
        grown = grown >= 3 or grown == 2 and self.pieces[0].lstrip().startswith("{")
        return grown and all(after.startswith(before) for before, after in zip(self.pieces, self.pieces[1:]))

    def _note(self, holds, code):
        if holds:
            self.notes.append(code)


def _at(usage, path):
    for name in path:
        usage = usage.get(name) if isinstance(usage, dict) else None
    return usage
