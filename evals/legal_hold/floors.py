"""Three free readers of an extract. All take the structured lines at their word and read no narrative.

`dept-only` is the department column of a spreadsheet, typed once and remembered by nobody. `dept-only-mem` is the same
column with a list that it keeps by itself. `roster-rule-mem` is the whole rule over everything that stands in a
labelled line, given the same carried state as the model: the one to beat.
"""
import functools

from src.legal_hold import legalhold, matter, page, recheck, state


def dept_only(kit, document, text):
    """Custodian is whoever stands in a listed department today; nothing is remembered, so everybody is always new."""
    run = _read(kit, text)
    custodians = _listed(run)
    if run.unsettled:
        return _reply(run, "INCOMPLETE", (), ())
    if run.release:
        return _reply(run, "RELEASING", (), ())
    return _reply(run, "SCOPING" if custodians else "MONITORING", custodians, ())


def dept_only_mem(kit, document, text):
    """The department column with a memory of its own list: who was put on it stays on it, and the clock is kept."""
    *earlier, _ = kit.book.chains.up_to(document)
    run = _as_if_every_access_fitted(_read(kit, text))
    return _answered(run, legalhold.step(run, _list_after(kit, tuple(earlier)), kit.book.rules)[0])


def roster_rule_mem(kit, document, text):
    """Department, system and period as rule L-1 wants them, from labelled lines alone, with the carried state."""
    run, carried = _read(kit, text), kit.book.chains.carried(document)
    return _answered(run, legalhold.step(run, carried, kit.book.rules)[0])


def _read(kit, text):
    return _kept(kit.book.chains, text)


@functools.lru_cache(maxsize=128)
def _kept(chains, text):
    words = chains.rules.policy["events"]
    return matter.read(words, page.read(text, words))


def _listed(run):
    """The people whose department is listed, and their system be what it may."""
    listed = {" ".join(name.split()).casefold() for name in run.scope.departments}
    return {person.id for person in run.candidates if person.department and person.department.casefold() in listed}


@functools.lru_cache(maxsize=128)
def _list_after(kit, documents):
    """What the column with a memory has kept of the runs so far, given as their documents."""
    if not documents:
        return state.NOTHING
    run = _as_if_every_access_fitted(_read(kit, kit.text(documents[-1])))
    return legalhold.step(run, _list_after(kit, documents[:-1]), kit.book.rules)[1]


def _as_if_every_access_fitted(run):
    """The run with one access for everybody that rule L-1 accepts, so that the department alone decides."""
    fitting = [matter.Access(run.scope.systems[0], run.scope.start, None)]
    return run._replace(candidates=[person._replace(accesses=fitting) for person in run.candidates])


def _answered(run, outcome):
    custodians = {name for name, status in (outcome.hold_status or {}).items() if status == legalhold.CUSTODIAN}
    return _reply(run, outcome.stage, custodians, outcome.escalate or ())


def _reply(run, stage, custodians, escalate):
    people = [{"id": person.id,
               "hold_status": legalhold.CUSTODIAN if person.id in custodians else legalhold.NOT_CUSTODIAN}
              for person in run.candidates]
    return {recheck.STAGE: stage, recheck.PEOPLE: people, recheck.ESCALATE: list(escalate),
            recheck.RATIONALE: "read off the labelled lines"}
