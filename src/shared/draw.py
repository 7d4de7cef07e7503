"""The one source of chance of a corpus: a seeded generator over the pools of `pools.json`, each named by its path.

Every generator draws through this, so that one seed gives one corpus, byte for byte. What it draws for is planned in
`cases.json`, which is read here as well.
"""
from src.shared import shapes
from src.shared.fields import near
from src.shared.files import BadData, Problems, read_json, to_json
from src.shared.values import shown

CASE = {"case": shapes.LINE, "count": shapes.COUNT, "sentence": shapes.SAID}     # what every kit's cases say
FILLING = {"#": "0123456789", "@": "ABCDEFGHJKLMNPQRSTUVWXYZ"}


class Draw:
    """Pools of one file, and every way to take something from them. `.rng` is the generator itself.

    `kinds` {key: Kind} says what the file may hold; BadData lists all that is wrong in it.
    """

    def __init__(self, path, seed, kinds):
        import random  # only a build pays for this import
        problems = []
        self.path, self.pools = path, shapes.read(path, kinds, problems)
        if problems:
            raise BadData(*problems)
        self.rng, self.given, self._decks = random.Random(seed), set(), {}

    def pool(self, *names):
        """What stands at a path in the file. BadData where it is missing or empty."""
        found = self.pools
        for name in names:
            found = found.get(name) if isinstance(found, dict) else None
        if not found:
            raise self.refusal("entries to draw from are wanted", *names)
        return found

    def refusal(self, why, *names):
        """The BadData that says what is wrong with a pool."""
        return BadData(f"{self.path}: /{'/'.join(map(str, names))}: {why}")

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


def planned(data, seed, pools, case, problems):
    """(the Draw over a data folder's pools.json, its planned cases); BadData lists all that is wrong in both files.

    `pools` and `case` {key: Kind}; `problems(draw, case)` yields a sentence for whatever in a case names nothing, and
    with None for the case whatever in the pools does.
    """
    wrong = Problems()
    draw = wrong.of(Draw, data / "pools.json", seed, pools)
    unfit = [f"{draw.path}: {problem}" for problem in problems(draw, None)] if draw else []
    cases = wrong.of(read_cases, data / "cases.json", case, lambda case: problems(draw, case) if draw else ())
    wrong.found += unfit
    wrong.refuse()
    return draw, cases


def read_cases(path, kinds, problems):
    """The planned cases of cases.json, each with the words `where` it stands.

    `kinds` {key: Kind} are those of a case; `problems(case)` yields a sentence for whatever in a sound one names
    nothing. BadData lists all.
    """
    cases, found = read_json(path), []
    if not shapes.LIST.holds(cases) or not cases:
        raise BadData(f"{path}: {shown(cases)} is not a list of planned cases")
    for place, case in enumerate(cases, 1):
        name = case.get("case") if shapes.OBJECT.holds(case) else None
        where = f"{path}: {name if shapes.LINE.holds(name) else f'case {place}'}"
        at = f"{where}: /"
        unfit = [*shapes.unknown(case, kinds, at), *shapes.misfits(case, kinds, at, kinds)]
        found += unfit or (f"{where}: {problem}" for problem in problems(case))
        cases[place - 1] = {**case, "where": where} if not unfit else None
    if found:
        raise BadData(*found)
    return cases


def plan_problems(case, problems):
    """A sentence for each fault of a case's planned `documents`: how many they are, and their `problems`."""
    if case["count"] != len(case["documents"]):
        yield f"count {case['count']} and {len(case['documents'])} planned documents; make them agree"
    for place, plan in enumerate(case["documents"]):
        yield from (f"/documents/{place}: {problem}" for problem in problems(plan))


def decided(where, document, decide, *arguments):
    """What the rules say of a drawn document; BadData with its case where they cannot say anything."""
    try:
        return decide(*arguments)
    except BadData as e:
        raise BadData(*(f"{where}: drawn as {document}: {problem}" for problem in e.problems)) from None


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


def not_one_of(name, value, known):
    """A sentence for a plan's value outside the words that it may be; none for one inside."""
    words = ", ".join(map(str, known))
    return [] if value in known else [f"{name} {value!r} is not one of {words}{near(value, known)}"]
