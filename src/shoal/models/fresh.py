"""A model that was made here and stands in no folder: a network and its tokenizer, asked like any checkpoint."""

from collections.abc import Sequence
from typing import Any

from ..core.errors import ModelError
from .checkpoint import HEADS, libraries
from .hf import HFModel


class Fresh:
    """In the place of a checkpoint: one network, with the one head it was made with."""

    gguf = None
    dtype = "float32"

    def __init__(self, name: str, kind: str, network: Any, tokenizer: Any) -> None:
        self.name, self.kind = name, kind
        self._network, self._tokenizer = network, tokenizer
        self.config: dict[str, Any] = network.config.to_dict()

    def fingerprint(self) -> dict[str, str]:
        """Nothing by itself: how it was made is written in the recipe."""
        return {"made here": self.name}

    def tokenizer_name(self) -> str:
        """None: what it reads is remembered nowhere."""
        return ""

    def in_single_precision(self) -> "Fresh":
        """As it was made."""
        return self

    def tokenizer(self) -> Any:
        """The tokenizer that it was made with."""
        return self._tokenizer

    def whole(self, name: str) -> int | None:
        """A whole number of the configuration; None where it has none."""
        number: int | None = self.config.get(name)
        return number

    def network(self, asked: str) -> Any:
        """The network with its own head, or its encoder."""
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
        """A classifier for these labels on a copy of the encoder as it is now; head and pooler drawn from the seed."""
        torch, transformers = libraries()
        config = type(self._network.config).from_dict(self._network.config.to_dict())
        config.id2label = dict(enumerate(labels))
        config.label2id = {name: code for code, name in enumerate(labels)}
        with torch.random.fork_rng(range(torch.cuda.device_count())):
            torch.manual_seed(seed)
            network = transformers.AutoModelForSequenceClassification.from_config(config).float()
        encoder = self._network.base_model.state_dict()
        missing, unknown = network.base_model.load_state_dict(encoder, strict=False)
        if unknown or any(not name.startswith("pooler.") for name in missing):
            raise ModelError(
                f"{self.name}: its encoder does not fit a {type(network).__name__}",
                fix="save it, and name the folder: hf:DIR",
            )
        return network.eval()


def fresh_model(name: str, kind: str, network: Any, tokenizer: Any) -> HFModel:
    """A network that was made here, ready to be trained and asked."""
    model = HFModel(Fresh(name, kind, network, tokenizer), {"task": kind})  # type: ignore[arg-type]
    model.adopt(kind, network)
    return model


class Unmade:
    """A model that a plan has yet to make: it can be named, not asked."""

    def __init__(self, name: str, needs: str) -> None:
        self.name, self.needs = name, needs

    def __repr__(self) -> str:
        return self.name

    def fingerprint(self) -> dict[str, str]:
        """Its name; the rest is in the recipe that makes it."""
        return {"unmade": self.name}

    def refuse(self) -> ModelError:
        """Why it does not answer."""
        return ModelError(
            f"{self.name} has no weights yet",
            why="it is made by the training that a plan asks for",
            fix=self.needs,
        )
