"""Steps never wait for a GPU: nothing reads a tensor, copies do not block, batches are prepared ahead."""

import threading
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from shoal import load_model
from shoal.training.batch import Tokens
from shoal.training.config import TrainConfig
from shoal.training.environments import Alike, Answered, Environment
from shoal.training.from_scratch import Shape, fresh_masked_model, pretrain
from shoal.training.loaders import EveryItem
from shoal.training.loop import BLOCK, ahead, train
from shoal.training.methods import METHODS, make_method
from shoal.training.methods.base import Method

HOW = TrainConfig(learning_rate=1e-3, batch=8, epochs=0.5)
LABELS = ("negative", "positive")
READING = {"_local_scalar_dense", "item", "is_nonzero", "equal", "nonzero", "masked_select"}
COPYING = {"_to_copy", "copy_"}


class NeverWaiting(TorchDispatchMode):
    """Refuses every operation after which a program waits for its GPU."""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = function.overloadpacket.__name__
        assert name not in READING, f"{name} waits for the device"
        indices = args[1] if name in ("index", "index_put", "index_put_") else ()
        for one in indices:
            assert one is None or one.dtype != torch.bool, f"{name} counts a mask"
            assert one is None or one.device == args[0].device, f"{name} copies its indices"
        if name in COPYING:
            target = kwargs.get("device") or args[0].device
            source = args[1 if name == "copy_" else 0].device
            is_free = kwargs.get("non_blocking") or args[2:3] == (True,)
            assert torch.device(target) == source or is_free, f"{name} from {source} to {target} blocks"
            assert torch.device(target).type != "cpu" or source.type == "cpu", f"{name} back from {source}"
        return function(*args, **kwargs)


@pytest.fixture
def never_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watch every step of every method."""
    kinds: set[Any] = {owner for one in METHODS.values() for owner in one.__mro__ if "step" in vars(owner)}
    for kind in kinds:
        monkeypatch.setattr(kind, "step", watched(kind.step))


def watched(step: Any) -> Any:
    def step_never_waiting(self: Method, *given: Any) -> Any:
        with NeverWaiting():
            return step(self, *given)

    return step_never_waiting


CASES = [(name, {}) for name in METHODS]
CASES += [
    ("l2", {"penalty": True}),
    ("fish", {"extra_momentum_step": True}),
    ("group-dro", {"importance": False}),
]


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda value: str(value or ""))
def test_no_method_reads_a_tensor(name, options, toy, fresh, never_waiting):
    losses = train(fresh(), toy, make_method(name, options), HOW, 0)
    assert losses and np.isfinite(losses).all()


@pytest.mark.parametrize("name", ["vanilla", "irm", "group-dro"])
@pytest.mark.parametrize("spans", ["context", "reference"])
def test_nor_with_questions(name, spans, never_waiting):
    pairs = [
        (f"{who} lives in Rome.", f"Where does {who} live?") for who in ("Anna", "Ben", "Maximilian Otto")
    ]
    answered = [Answered(pair, ((pair[0].index("Rome"), pair[0].index("Rome") + 4),)) for pair in pairs * 4]
    alike = [Alike(pair, ((pair[0], pair[1].lower()),)) for pair in pairs * 4]
    environments = [Environment("i.i.d.", "iid", answered), Environment("case", "INV", alike)]
    model = load_model("tiny:reading").with_fresh_span_head(0)
    assert train(model, environments, make_method(name), HOW, 0, losses={"spans": spans})


def test_nor_with_masked_words(tmp_path, never_waiting):
    text = tmp_path / "text.txt"
    text.write_text("\n".join("some words and a number " + "more " * (n % 7) + str(n) for n in range(40)))
    model = fresh_masked_model(str(text), Shape(32, 1, 2, 300, 32), seed=1)
    assert pretrain(model, str(text), HOW, 32, 1, lambda *_: None, lambda *_: None, ())


def test_a_step_elsewhere_mixes_no_devices_and_no_copy_blocks(toy):
    """A meta tensor has no data, so that reading it is an error."""
    for environment in toy:
        model = load_model("tiny:sentiment").with_fresh_head(LABELS, 0)
        vars(model)["device"] = "meta"
        network = model.network("classify").to("meta")
        source = Tokens(model, [example for item in environment.items for example in item.examples])
        with NeverWaiting():
            feed = EveryItem([environment], source, 8, np.random.default_rng(0))
            (batch,) = next(iter(feed.epoch()))
            logits = model.forward(batch.inputs)
            loss = batch.loss(logits) + batch.bounded.floor(logits)
            loss.backward()
        assert loss.device.type == "meta"
        assert {weight.grad.device.type for weight in network.parameters()} == {"meta"}


def test_a_square_mask_hides_what_a_plain_one_hides():
    model = load_model("tiny:sentiment").with_fresh_head(LABELS, 0)
    texts = [("good",), ("a film that is longer than the other text",)]
    source = Tokens(model, texts)
    inputs = source.take(np.array([0, 1]))
    assert inputs["attention_mask"].shape == (2, 1, *inputs["input_ids"].shape[1:] * 2)
    assert "attention_mask" not in source.take(np.array([1, 1]))
    with torch.inference_mode():
        alone = torch.cat([model.forward(source.take(np.array([row]))) for row in (0, 1)])
        assert torch.allclose(model.forward(inputs), alone, atol=1e-5)


def test_losses_are_read_in_blocks_and_all_of_them(toy, fresh, monkeypatch):
    reads: list[int] = []
    tolist = torch.Tensor.tolist

    def counted(tensor: Any) -> Any:
        reads.append(tensor.numel())
        return tolist(tensor)

    monkeypatch.setattr(torch.Tensor, "tolist", counted)
    losses = train(fresh(), toy, make_method("vanilla"), TrainConfig(1e-3, 4, 0.5), 0)
    blocks, rest = divmod(len(losses), BLOCK)
    assert blocks and [size for size in reads if size == BLOCK] == [BLOCK] * blocks and rest in reads


def test_batches_are_prepared_ahead_in_the_same_order():
    second = threading.Event()

    def batches():
        yield [0]
        second.set()
        yield from ([number] for number in range(1, 5))

    seen = ahead(batches())
    assert next(seen) == [0] and second.wait(10)
    assert [*seen] == [[1], [2], [3], [4]]
