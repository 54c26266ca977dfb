"""Which words of two texts belong together: shared, one inside the other, or swapped (`docs/method/ranking.md` 6.4).

Words are compared in lower case, without the marks around them; marks alone belong to nothing.
"""

from collections.abc import Sequence

from ....explaining.words import plain_word

FUNCTION_WORDS = frozenset(
    word
    for line in (
        "a an the this that these those some any no each every all both of in on at by for from to into onto",
        "with without about as than then over under between among through during before after since until",
        "against and or but nor so if when while because although though unless whether is are was were be",
        "been being am do does did done has have had having can could will would shall should may might must",
        "not n't i you he she it we they me him her us them my your his its our their mine yours hers ours",
        "theirs who whom whose which what where why how there here",
    )
    for word in line.split()
)

Places = list[int]
Pairs = list[tuple[int, int]]
"""Places in the first text and in the second."""


def _plain(words: Sequence[str]) -> tuple[list[str], Places]:
    """Words to compare, and where each stands."""
    kept = [(plain_word(word), place) for place, word in enumerate(words) if plain_word(word)]
    return [word for word, _ in kept], [place for _, place in kept]


def contiguous(first: Sequence[str], second: Sequence[str]) -> Pairs:
    """Where the whole second text stands in the first, the first time that it does; empty if it does not.

    >>> contiguous("the cat saw the dog".split(), "the dog .".split())
    [(3, 0), (4, 1)]
    """
    words, places = _plain(first)
    wanted, others = _plain(second)
    for start in range(len(words) - len(wanted) + 1 if wanted else 0):
        if words[start : start + len(wanted)] == wanted:
            return list(zip(places[start:], others, strict=False))
    return []


def shared_words(first: Sequence[str], second: Sequence[str]) -> Pairs:
    """The words that both have: the second text as it stands in the first, else one to one from left to right.

    >>> shared_words("the dog saw a cat".split(), "a dog saw the bird".split())
    [(0, 3), (1, 1), (2, 2), (3, 0)]
    """
    whole = contiguous(first, second)
    if whole:
        return whole
    words, places = _plain(first)
    wanted, others = _plain(second)
    pairs: Pairs = []
    for word, place in zip(words, places, strict=True):
        if word in wanted:
            match = wanted.index(word)
            pairs.append((place, others[match]))
            wanted[match] = ""
    return pairs


def swapped_words(first: Sequence[str], second: Sequence[str]) -> tuple[Places, Places]:
    """The words that stand in each other's places, function words left out.

    What both begin and end with is set aside. If the rest is A P B against B P A, with P as long as can be, these are A
    and B; else whatever is not in the leftmost longest common subsequence.

    >>> swapped_words("good person become bad".split(), "bad person become good".split())
    ([0, 3], [0, 3])
    """
    words, places = _plain(first)
    others, other_places = _plain(second)
    start = 0
    while start < min(len(words), len(others)) and words[start] == others[start]:
        start += 1
    end = 0
    while end < min(len(words), len(others)) - start and words[-1 - end] == others[-1 - end]:
        end += 1
    rest, other_rest = words[start : len(words) - end], others[start : len(others) - end]
    left, right = exchanged(rest, other_rest) or outside_common(rest, other_rest)
    return (
        [places[start + place] for place in left if rest[place] not in FUNCTION_WORDS],
        [other_places[start + place] for place in right if other_rest[place] not in FUNCTION_WORDS],
    )


def exchanged(first: Sequence[str], second: Sequence[str]) -> tuple[Places, Places] | None:
    """The places of A and B in A P B and B P A; None where the two have no such form.

    >>> exchanged(list("abpc"), list("cpab"))
    ([0, 1, 3], [0, 2, 3])
    """
    size = len(first)
    if size != len(second):
        return None
    for total in range(2, size + 1):
        for a in range(1, total):
            b = total - a
            if (
                first[:a] == second[size - a :]
                and first[size - b :] == second[:b]
                and first[a : size - b] == second[b : size - a]
            ):
                return [*range(a), *range(size - b, size)], [*range(b), *range(size - a, size)]
    return None


def outside_common(first: Sequence[str], second: Sequence[str]) -> tuple[Places, Places]:
    """What of both is not in their longest common subsequence, the leftmost where there are several.

    >>> outside_common(list("axb"), list("ayb"))
    ([1], [1])
    """
    longest = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for a in reversed(range(len(first))):
        for b in reversed(range(len(second))):
            same = first[a] == second[b]
            longest[a][b] = 1 + longest[a + 1][b + 1] if same else max(longest[a + 1][b], longest[a][b + 1])
    left, right = set(range(len(first))), set(range(len(second)))
    a = b = 0
    while a < len(first) and b < len(second):
        if first[a] == second[b]:
            left.discard(a)
            right.discard(b)
            a, b = a + 1, b + 1
        elif longest[a][b + 1] >= longest[a + 1][b]:
            b += 1
        else:
            a += 1
    return sorted(left), sorted(right)
