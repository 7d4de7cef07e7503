"""The one source of chance of a corpus: a seeded generator over the pools of `pools.json`, each named by its path.

Every generator draws through this, so that one seed gives one corpus, byte for byte.
"""
from src.shared.files import BadData, read_json

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
