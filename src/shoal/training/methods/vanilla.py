"""Plain training: each batch's own loss, down its gradient (empirical risk minimisation)."""

from dataclasses import dataclass

from .base import Method


@dataclass
class Vanilla(Method):
    """What the other methods are compared with; it has no options."""
