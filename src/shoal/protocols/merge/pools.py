"""Problems to pools: for each shared word what may replace it, with everything that was said of each replacement.

Problems are worked on in blocks of the whole list: all blanks of a block go to a model at once.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...models.interface import WordFiller
from ...training.stage import Progress
from .filters import Filtered, filtered
from .problems import Problem
from .settings import Settings
from .suggest import Suggestion, suggest
from .tagger import Tagger
from .targets import targets_of

BLOCK = 64
"""Problems whose blanks go to a model together."""


@dataclass(slots=True)
class Pool:
    """A problem, its words with what may replace them, and what came to nothing."""

    problem: Problem
    words: list[Filtered] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """Words that are shared and not replaced, or for which a model has no suggestions, by why."""


def pools_of(
    problems: Sequence[Problem],
    suggesters: Mapping[str, WordFiller],
    settings: Settings,
    tagger: Tagger,
    progress: Progress,
    start: int = 0,
) -> Iterator[list[Pool]]:
    """The pools of every problem from a start on, block by block; the blocks are those of the whole list."""
    for first in range(start - start % BLOCK, len(problems), BLOCK):
        block = problems[first : first + BLOCK]
        yield list(_block(block, suggesters, settings, tagger))[max(0, start - first) :]
        progress("finding variants", first + len(block), len(problems))


def _block(
    problems: Sequence[Problem], suggesters: Mapping[str, WordFiller], settings: Settings, tagger: Tagger
) -> Iterator[Pool]:
    pools, wanted = [], []
    for problem in problems:
        targets, left_out = targets_of(problem.texts, settings, tagger)
        pools.append((Pool(problem, left_out=left_out), targets))
        wanted += [(problem.texts, target) for target in targets]
    suggested = iter(suggest(suggesters, wanted, settings))
    for pool, targets in pools:
        for target in targets:
            by_model = next(suggested)
            usable: dict[str, list[Suggestion]] = {}
            for name, suggestions in by_model.items():
                if isinstance(suggestions, str):
                    pool.left_out[f"{suggestions} for {name}"] += 1
                else:
                    usable[name] = suggestions
            if usable:
                pool.words.append(filtered(pool.problem.texts, target, usable, settings, tagger))
        yield pool
