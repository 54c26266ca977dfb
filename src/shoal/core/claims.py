"""Levels of tests, and the scope of claims (`docs/method/beyond.md` 7.19)."""

ALPHA = 0.05
"""The level of every test, after adjustment."""
POWER = 0.8
"""How often a difference as large as the minimum detectable effect is found."""
FLAGGED = 0.10
"""Applicability that differs by more is flagged: a model can raise its rate by what it is not asked."""
ENOUGH_SEEDS = 5
"""Fewer, and a claim about the recipe is not well supported."""
ONE_CHECKPOINT = "this checkpoint only"
ENOUGH_TEMPLATES = 6
"""With fewer, an exact test over templates cannot reject at 5 %: five that all favour B give p = .06."""
TOO_FEW_TEMPLATES = "too few templates"
"""The fact of a number over templates that cannot be given, with how many templates there are."""


def too_few_templates(number: int) -> str:
    """Return the text shown instead of an interval over templates.

    >>> too_few_templates(3)
    'too few templates (3)'
    """
    return f"{TOO_FEW_TEMPLATES} ({number})"


def reach(seeds: int) -> str:
    """Return the scope of a number from this many seeds.

    >>> reach(1), reach(3)
    ('this checkpoint only', '3 seeds')
    """
    return ONE_CHECKPOINT if seeds == 1 else f"{seeds} seeds"


def reach_so_far(seeds: int, known: int) -> list[str]:
    """Return the same where some of the known seeds may not be complete, with what so few do not support.

    >>> reach_so_far(3, 4)
    ['3 of 4 seeds complete', 'fewer than 5 seeds: no claim about the recipe']
    """
    words = [f"{seeds} of {known} seeds complete"] if seeds < known else []
    if seeds == 1:
        return [*words, ONE_CHECKPOINT]
    few = f"fewer than {ENOUGH_SEEDS} seeds: no claim about the recipe"
    return [*(words or [reach(seeds)]), *([few] if seeds < ENOUGH_SEEDS else [])]


def claim_of_rows(seeds: int) -> str:
    """Return the scope of a table whose rows are means over seeds.

    >>> claim_of_rows(3)
    'mean of 3 seeds; fewer than 5 support no claim about the recipe'
    """
    if seeds < 2:
        return f"one seed a row: {ONE_CHECKPOINT}, on new cases of these functionalities"
    if seeds < ENOUGH_SEEDS:
        return f"mean of {seeds} seeds; fewer than {ENOUGH_SEEDS} support no claim about the recipe"
    return f"mean of {seeds} seeds: for this training recipe, on new cases of these functionalities"
