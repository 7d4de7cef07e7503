"""The one source of chance of a corpus: a seeded generator over the pools of `pools.json`, each named by its path.

Every generator draws through this, so that one seed gives one corpus, byte for byte. What it draws for is planned in
`cases.json`, which is read here as well.
"""
from src.shared.fields import near
from src.shared.files import BadData, read_json, to_json

FILLING = {"#": "0123456789", "@": "ABCDEFGHJKLMNPQRSTUVWXYZ"}


class Draw:
    """Pools of one file, and every way to take something from them. `.rng` is the generator itself."""

    def __init__(self, path, seed):
        import random  # only a build pays for this import
        self.path, self.pools, self.rng, self.given, self._decks = path, read_json(path), random.Random(seed), set(), {}

    def pool(self, *names):
        """What stands at a path in the file. BadData where it is missing or empty."""
        found = self.pools
        for name in names:
            found = found.get(name) if isinstance(found, dict) else None
        if not found:
            raise BadData(f"{self.path}: /{'/'.join(names)}: entries to draw from are wanted")
        return found

    def one(self, *names):
        """One entry of a pool."""
        return self.rng.choice(self.pool(*names))

    def deal(self, *names):
        """The next entry of a pool: each once, in an order drawn at first use, before the same order begins again.

        So an entry comes again only after all others, which `one` cannot promise.
        """
        deck = self._decks.get(names)
        if deck is None:
            deck = self._decks[names] = self.rng.sample(list(self.pool(*names)), len(self.pool(*names)))
        deck.append(deck.pop(0))
        return deck[-1]

    def fresh(self, make):
        """What `make` draws, drawn until it is new to this build."""
        for _ in range(1000):
            found = make()
            if found not in self.given:
                self.given.add(found)
                return found
        raise BadData(f"{self.path}: nothing new like {found!r} can be drawn any more; add entries to its pools")

    def option(self, value):
        """A value as it is, or one of a list of them."""
        return self.rng.choice(value) if isinstance(value, list) else value

    def code(self, *names):
        """A pattern of a pool, filled: `#` is a digit, `@` a capital letter (I and O are left out)."""
        return "".join(self.rng.choice(FILLING.get(mark, mark)) for mark in self.one(*names))


def read_cases(path, keys, problems):
    """The planned cases of cases.json, each with the words `where` it stands.

    Every case has the `keys`; `problems(case)` yields a sentence for whatever in it names nothing. BadData lists all.
    """
    cases = read_json(path)
    if not isinstance(cases, list):
        raise BadData(f"{path}: a list of cases is wanted")
    found = [f"{path}: case {place}: an object with {', '.join(sorted(keys))} is wanted"
             for place, case in enumerate(cases, 1) if not isinstance(case, dict) or not keys <= case.keys()]
    if not found:
        cases = [{**case, "where": f"{path}: {case['case']}"} for case in cases]
        found = [f"{case['where']}: {problem}" for case in cases for problem in problems(case)]
    if found:
        raise BadData(*found)
    return cases


def plan_problems(case, known, problems):
    """A sentence for each fault of a case's planned `documents`: how many they are, their keys, their `problems`."""
    if case["count"] != len(case["documents"]):
        yield f"count {case['count']} and {len(case['documents'])} planned documents; make them agree"
    for place, plan in enumerate(case["documents"], 1):
        for problem in (*unknown_keys(plan, known), *problems(plan)):
            yield f"document {place}: {problem}"


def refuse_unplanned(outcomes):
    """BadData for each document that the rules answer otherwise than planned.

    `outcomes` [(where its case stands, the planned answer {name: value}, the rules' answer, document id)].
    """
    told = [(where, expect, {name: answer[name] for name in expect}, document)
            for where, expect, answer, document in outcomes]
    found = [f"{where}: planned as {to_json(expect)}, but the rules say {to_json(answer)} ({document}); change the "
             f"plan, the expectation or the rule" for where, expect, answer, document in told if answer != expect]
    if found:
        raise BadData(*found)


def unknown_keys(plan, known):
    """A sentence for each key of a plan that is not among the `known`."""
    return [f"unknown key {name!r}{near(name, known)}; known: {', '.join(known)}" for name in plan if name not in known]


def not_one_of(name, value, known):
    """A sentence for a plan's value outside the words that it may be; none for one inside."""
    words = ", ".join(map(str, known))
    return [] if value in known else [f"{name} {value!r} is not one of {words}{near(value, known)}"]
