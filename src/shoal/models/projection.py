"""A model without one direction: what the two texts of each pair in a file differ by is taken out of its last states.

    he,she ──► the mean last state of each text ──► their differences ──► the first principal component, v

    every token's last state h, whichever head reads it, becomes h - (h v) v

As Bolukbasi et al. 2016 do with words and Liang et al. 2020 with sentences, with one component. Nothing is trained, and
what lies along other directions, or in earlier layers, stays as it is.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import DataError, ModelError
from ..core.files import read_table
from .checkpoint import libraries

Floats = NDArray[np.float64]


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """The pairs of a table with two columns of texts."""
    columns, rows = read_table(path)
    if len(columns) != 2:
        raise DataError(
            f"{path}, line 1: {len(columns)} columns",
            why="two are expected",
            fix="a first line that names them, such as: male,female",
        )
    pairs = []
    for line, row in rows:
        first, second = (row[column].strip() for column in columns)
        if not first or not second or first == second:
            raise DataError(
                f"{path}, line {line}: {first!r} and {second!r}",
                why="two texts that differ are expected",
                fix="remove the line",
            )
        pairs.append((first, second))
    if not pairs:
        raise DataError(
            f"{path}: no pairs",
            why="the first line names the columns",
            fix="behind it a line for each pair, such as: he,she",
        )
    return pairs


def direction_of(model: Any, path: Path) -> Floats:
    """The unit vector along which a model's states of the paired texts differ most."""
    first, second = (
        model.embed([(text,) for text in texts]) for texts in zip(*read_pairs(path), strict=True)
    )
    return first_component(first - second, f"{model!r}: {path}")


def first_component(differences: Floats, where: str = "differences") -> Floats:
    """The first principal component of differences about 0, which is that of pairs about their own middles.

    >>> first_component(np.array([[2.0, 0.0], [-1.0, 0.1]])).round(3).tolist()
    [1.0, -0.02]
    """
    _, sizes, axes = np.linalg.svd(differences, full_matrices=False)
    if not sizes[0] > 1e-6:
        raise ModelError(
            f"{where}: the model does not tell the two texts of any pair apart", fix="other pairs"
        )
    axis: Floats = axes[0] * np.sign(axes[0][np.abs(axes[0]).argmax()])
    return axis


def project_out(network: Any, direction: Floats, name: str) -> None:
    """From now on a network's last states have nothing along a direction, and what is made of them neither."""
    torch, _ = libraries()
    base = network.base_model
    axis = torch.from_numpy(direction)

    def hook(module: Any, _inputs: Any, output: Any) -> Any:
        states = output.last_hidden_state
        own = axis.to(states)
        output.last_hidden_state = states - (states @ own)[..., None] * own
        if getattr(output, "hidden_states", None):
            output.hidden_states = (*output.hidden_states[:-1], output.last_hidden_state)
        if getattr(output, "pooler_output", None) is not None:
            output.pooler_output = module.pooler(output.last_hidden_state)
        return output

    _check(base, name)
    base.register_forward_hook(hook)


def _check(base: Any, name: str) -> None:
    """Refuse a network whose heads read something else than these states."""
    torch, _ = libraries()
    tokens = torch.arange(1, 5, device=base.device)[None]
    try:
        with torch.inference_mode():
            output = base(input_ids=tokens)
            states, pooled = output.last_hidden_state, getattr(output, "pooler_output", None)
            plain = pooled is None or torch.allclose(base.pooler(states), pooled, atol=1e-5)
    except (AttributeError, TypeError, ValueError):
        plain = False
    if not plain:
        raise ModelError(
            f"{name}: nothing can be taken out of the states of a {type(base).__name__}",
            why="its heads read more than its last states",
            fix="leave without out",
        )
