"""What a model's self-check found, for the terminal."""

from collections.abc import Sequence

from ..models.selfcheck import Check

SIGNS = {True: "ok", False: "NO", None: "?"}


def check_lines(checks: Sequence[Check], *, all_of_them: bool = False) -> list[str]:
    """What is not right, and with `all_of_them` also what is right or cannot be told.

    >>> print(*check_lines([Check("probabilities sum to 1", False, "within 2.0e-01")]), sep="\\n")
    NO  probabilities sum to 1: within 2.0e-01
    """
    return [
        f"{SIGNS[check.ok]:<2}  {check.name}: {check.detail}"
        for check in checks
        if all_of_them or check.ok is False
    ]
