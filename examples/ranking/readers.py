"""Three simple readers of reviews, to be ranked beside a model: python:examples.ranking.readers:by_words and so on."""

GOOD = {"great", "good", "excellent", "reliable", "sturdy", "quiet", "sharp", "handy", "pleased", "recommend"}
BAD = {"bad", "poor", "broken", "flimsy", "loud", "blunt", "useless", "disappointed", "leaks", "avoid"}


def by_words(texts: list[str]) -> list[str]:
    """Counts good words against bad ones."""
    return ["positive" if _balance(text) >= 0 else "negative" for text in texts]


def last_clause(texts: list[str]) -> list[str]:
    """The same, of what comes after the last "but" only; a "not" turns it round."""
    answers = []
    for text in texts:
        clause = text.lower().rpartition(" but ")[2]
        balance = _balance(clause) * (-1 if " not " in f" {clause} " else 1)
        answers.append("positive" if balance >= 0 else "negative")
    return answers


def by_exclamation(texts: list[str]) -> list[str]:
    """Whoever shouts is pleased."""
    return ["positive" if "!" in text else "negative" for text in texts]


def _balance(text: str) -> int:
    words = [word.strip(".,!?") for word in text.lower().split()]
    return sum(word in GOOD for word in words) - sum(word in BAD for word in words)
