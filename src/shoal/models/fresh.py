"""Models that ship with the package, and networks that are built here: trained from nothing, controls, linear heads.

    tiny:sentiment   negative or positive
    tiny:paraphrase  different or duplicate, for two questions
    tiny:nli         entailment, neutral or contradiction, for a premise and a hypothesis
    tiny:reading     finds the answer to a question in a passage
    tiny:masked      a masked language model without weights: a plan pre-trains it
    tiny:classifier  a classifier without weights: a plan trains it

`python -m shoal.training.tiny` trains the small BERT models that ship.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.errors import ModelError
from . import ModelSpec, check_options
from .checkpoint import HEADS, libraries
from .hf import PLAIN as OPTIONS
from .hf import HFModel, LastText, load_unprompted

__all__ = ["OPTIONS", "fresh_model", "load", "make_linear"]

FOLDER = Path(__file__).with_name("tiny")
UNTRAINED = {
    "masked": '--set pretrain.text=example, or a file; in a plan, [bias] pretrain.text = "example"',
    "classifier": '[ranking.train] with on = "FILE" in the plan',
}
"""Models that a plan trains from nothing, and the setting that does it."""


def load(spec: ModelSpec) -> "HFModel | LastText | Untrained":
    if spec.name in UNTRAINED:
        check_options(spec, ())  # the plan's training settings define it
        return Untrained(f"tiny:{spec.name}", UNTRAINED[spec.name])
    shipped, name = sorted(path.name for path in FOLDER.iterdir() if path.is_dir()), f"tiny:{spec.name}"
    if name not in (known := [f"tiny:{each}" for each in (*shipped, *UNTRAINED)]):
        raise ModelError.unknown(f"{name}: no such model", name, known)
    return load_unprompted(ModelSpec("hf", str(FOLDER / spec.name), spec.options))


class Fresh:
    """A network and its tokenizer in memory, with the interface of a checkpoint and one head."""

    gguf = None
    dtype = "float32"

    def __init__(self, name: str, kind: str, network: Any, tokenizer: Any) -> None:
        self.name, self.kind = name, kind
        self._network, self._tokenizer = network, tokenizer
        self.config: dict[str, Any] = network.config.to_dict()

    def fingerprint(self) -> dict[str, str]:
        """Return the name; the training recipe identifies the weights."""
        return {"made here": self.name}

    def tokenizer(self) -> Any:
        return self._tokenizer

    def network(self, asked: str) -> Any:
        """Return the network with its own head, or its encoder."""
        if asked == self.kind:
            return self._network
        if asked == "embed":
            return self._network.base_model
        raise ModelError(
            f"{self.name} has no trained {HEADS[asked][1]}",
            why=f"it has a {HEADS[self.kind][1]}",
            fix="a checkpoint with that head: hf:DIR",
        )

    def with_fresh_head(self, labels: Sequence[str], seed: int) -> Any:
        """Return a classifier on a copy of the encoder; head and pooler are drawn from the seed."""
        torch, transformers = libraries()
        config = type(self._network.config).from_dict(self._network.config.to_dict())
        config.id2label = dict(enumerate(labels))
        config.label2id = {name: code for code, name in enumerate(labels)}
        with torch.random.fork_rng(range(torch.cuda.device_count())):
            torch.manual_seed(seed)
            network = transformers.AutoModelForSequenceClassification.from_config(config).float()
        encoder = self._network.base_model.state_dict()
        missing, unknown = network.base_model.load_state_dict(encoder, strict=False)
        assert not unknown and all(name.startswith("pooler.") for name in missing)
        return network.eval()


def fresh_model(name: str, kind: str, network: Any, tokenizer: Any) -> HFModel:
    """Return a model around a network in memory."""
    model = HFModel(Fresh(name, kind, network, tokenizer), {"task": kind})  # type: ignore[arg-type]
    model.adopt(kind, network)
    return model


class Untrained:
    """A model that a plan has yet to train: it has a name but gives no answers."""

    def __init__(self, name: str, needs: str) -> None:
        self.name, self.needs = name, needs

    def __repr__(self) -> str:
        return self.name

    def fingerprint(self) -> dict[str, str]:
        """Return the name; the training recipe identifies the weights."""
        return {"unmade": self.name}

    def refuse(self) -> ModelError:
        return ModelError(
            f"{self.name} has no weights yet", why="shoal has to train it first", fix=self.needs
        )


def make_linear(network: Any, name: str) -> None:
    """Replace a classifier's head by one linear layer on the first token's last state.

    Transformers puts a layer and a tanh between the two: BERT in its pooler, RoBERTa and others in the head. Papers
    often write "a linear classifier on [CLS]" and mean either.
    """
    torch, _ = libraries()
    nn = torch.nn

    class FirstState(nn.Module):  # type: ignore[misc, name-defined]
        """Replaces a pooler: (texts, tokens, width) to (texts, width)."""

        def forward(self, states: Any) -> Any:
            return states[:, 0]

    class LinearOnFirstState(nn.Module):  # type: ignore[misc, name-defined]
        """Replaces a head that reads all states: (texts, tokens, width) to (texts, labels)."""

        def __init__(self, dropout: Any, out_proj: Any) -> None:
            super().__init__()
            self.dropout, self.out_proj = dropout, out_proj

        def forward(self, states: Any, **_: Any) -> Any:
            return self.out_proj(self.dropout(states[:, 0]))

    head: Any = getattr(network, "classifier", None)
    encoder = network.base_model
    if isinstance(head, nn.Linear) and isinstance(getattr(encoder, "pooler", None), nn.Module):
        encoder.pooler = FirstState()
    elif isinstance(getattr(head, "out_proj", None), nn.Linear) and hasattr(head, "dropout"):
        network.classifier = LinearOnFirstState(head.dropout, head.out_proj)
    else:
        raise ModelError(
            f"{name}: no linear head for a {type(network).__name__}",
            why="shoal supports models with BERT's pooler or RoBERTa's head",
            fix='head = "own"',
        )
    tokens = torch.arange(1, 5, device=network.device)[None]
    with torch.inference_mode():
        try:
            state = encoder(input_ids=tokens).last_hidden_state[:, 0]
            logits = network(input_ids=tokens).logits
            is_linear = torch.allclose(getattr(head, "out_proj", head)(state), logits, atol=1e-5)
        except RuntimeError:  # a pooler that reads something else than all states
            is_linear = False
    if not is_linear:
        raise ModelError(
            f"{name}: the answers of a {type(network).__name__} are not linear in the first token's state",
            why="its pooler or head reads more than that state",
            fix='head = "own"',
        )
