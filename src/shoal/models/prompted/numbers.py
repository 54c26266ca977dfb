"""Log-probabilities as probabilities of labels (`docs/method/prompted.md` 8.2).

likelihood    of every label, as a continuation of the prompt
first token   the likeliest first tokens of an answer, each put to the label that it begins
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

LOW_MASS = 0.5
"""Less than this on all labels together is flagged: the answer is about a small part of what the model would say."""

Floats = NDArray[np.float64]


def from_likelihoods(
    scores: Sequence[float], tokens: Sequence[int], normalise: str = "", prior: Floats | None = None
) -> Floats:
    """p = softmax(l), l by token or less ln p̄ where that is asked for.

    >>> from_likelihoods([-1.2, -2.3, -4.0], [1, 1, 2]).round(4).tolist()
    [0.7175, 0.2388, 0.0436]
    """
    logs = np.array(scores, np.float64)
    if normalise == "tokens":
        logs = logs / np.array(tokens)
    elif normalise == "prior":
        assert prior is not None
        logs = logs - np.log(prior)
    found: Floats = softmax(logs)
    return found


@dataclass(frozen=True, slots=True)
class FirstToken:
    """What the likeliest first tokens say of each label."""

    masses: tuple[float, ...]
    """m_c: of the tokens that begin this label and no other."""
    ambiguous: float
    """Of tokens that begin two labels; a part of what is elsewhere."""
    unseen: float
    """u: of all tokens that were not returned; any label may hide in it."""

    @property
    def mass(self) -> float:
        """Of all labels together."""
        return sum(self.masses)

    @property
    def truncated(self) -> bool:
        """Whether what was not returned could make another label the first."""
        first, second = sorted(self.masses, reverse=True)[:2]
        return first < second + self.unseen

    def probabilities(self) -> Floats:
        """p_c = m_c / Σ m."""
        return np.array(self.masses) / self.mass


def from_first_tokens(returned: Sequence[tuple[str, float]], verbalisers: Sequence[str]) -> FirstToken:
    """Every returned token, with its log-probability, to the one label that it begins.

    >>> found = from_first_tokens([("pos", np.log(.5)), ("I", np.log(.3))], ("positive", "negative"))
    >>> round(found.masses[0], 3), found.masses[1]
    (0.5, 0.0)
    """
    masses, ambiguous, all_of_it = [0.0] * len(verbalisers), 0.0, 0.0
    for token, log_probability in returned:
        mass = float(np.exp(log_probability))
        all_of_it += mass
        begun = [at for at, verbaliser in enumerate(verbalisers) if begins(token, verbaliser)]
        if len(begun) == 1:
            masses[begun[0]] += mass
        elif begun:
            ambiguous += mass
    return FirstToken(tuple(masses), ambiguous, max(0.0, 1.0 - all_of_it))


def begins(token: str, verbaliser: str) -> bool:
    """Whether a token, stripped, is the beginning of a verbaliser; only those of one letter keep their case."""
    bare = token.strip()
    if len(verbaliser) > 1:
        bare, verbaliser = bare.casefold(), verbaliser.casefold()
    return bool(bare) and verbaliser.startswith(bare)


def one_begins_another(verbalisers: Sequence[str]) -> tuple[str, str] | None:
    """Two verbalisers of which the first begins the second, if there are such."""
    pairs = ((short, long) for short in verbalisers for long in verbalisers if short != long)
    return next(((short, long) for short, long in pairs if begins(short, long)), None)
