"""Answer spans against a reference that looks at every window by itself and at every pair of positions in turn."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs shoal[hf]")
pytest.importorskip("transformers", reason="needs shoal[hf]")

from shoal import load_model  # noqa: E402

TEXT = "anna bob carol lives works in paris london as doctor baker the film was good bad"


def passages(count, longest, seed=0):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(TEXT.split(), rng.integers(1, longest))) for _ in range(count)]
    return [(text, "where did anna go ?") for text in texts]


def reference(folder, context, question, room, stride):
    """The reference code's loop, with the windows cut by hand."""
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    model, tokenizer = (
        AutoModelForQuestionAnswering.from_pretrained(folder),
        AutoTokenizer.from_pretrained(folder),
    )
    asked = tokenizer(question, add_special_tokens=False)["input_ids"]
    read = tokenizer(context, add_special_tokens=False, return_offsets_mapping=True)
    size = room - len(asked) - 3
    best, answer = -np.inf, ""
    for begin in range(0, len(read["input_ids"]), size - stride):
        tokens, places = read["input_ids"][begin : begin + size], read["offset_mapping"][begin : begin + size]
        ids = [2, *asked, 3, *tokens, 3]
        kinds = [0] * (len(asked) + 2) + [1] * (len(tokens) + 1)
        with torch.no_grad():
            said = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([kinds]))
        starts, ends = said.start_logits[0].tolist(), said.end_logits[0].tolist()
        first = len(asked) + 2
        for i in sorted(range(len(ids)), key=lambda at: -starts[at])[:20]:
            for j in sorted(range(len(ids)), key=lambda at: -ends[at])[:20]:
                inside = first <= i < first + len(tokens) and first <= j < first + len(tokens)
                if inside and i <= j and j - i + 1 <= 30 and starts[i] + ends[j] > best:
                    best, answer = starts[i] + ends[j], context[places[i - first][0] : places[j - first][1]]
        if begin + size >= len(read["input_ids"]):
            break
    return answer.replace("\n", " ")


@pytest.mark.parametrize("longest", [12, 150])
def test_spans_are_the_references_over_all_windows(folders, longest):
    examples = passages(12, longest)
    found = load_model(f"hf:{folders['reader']}").extract(examples)
    expected = [
        reference(folders["reader"], context, question, room=48, stride=16) for context, question in examples
    ]
    assert found.texts == expected
    assert len(set(expected)) > 6, "a model that always answers alike tests nothing"


def test_a_question_without_room_for_its_context_is_an_error_of_its_own(folders):
    found = load_model(f"hf:{folders['reader']}").extract([("anna", "who " * 60), ("anna in paris", "who ?")])
    assert list(found.errors) == [0] and "no room for the context" in found.errors[0]
    assert found.texts[1]


@pytest.mark.parametrize("words", (26, 44))
def test_a_long_question_leaves_windows_that_get_on_all_the_same(folders, words):
    """In 48 tokens windows share 16; beside so many words there is room for no more than that, down to one token."""
    model, context = load_model(f"hf:{folders['reader']}"), " ".join(TEXT.split() * 3)
    (windows,) = model.windows([(context, "who " * words)])
    read = {place for _, ids, _, places in windows for place in places if place is not None}
    assert max(len(ids) for _, ids, _, _ in windows) <= 48
    assert "".join(context[a:b] for a, b in sorted(read)) == context.replace(" ", "")
    assert not model.extract([(context, "who " * words)]).errors


def test_padding_that_the_network_likes_is_never_looked_at(folders):
    """In a batch with a long context more than twenty paddings stand behind a short one."""
    from types import SimpleNamespace

    from shoal.models.spans import extract

    class LikesPadding:
        device = "cpu"

        def __call__(self, input_ids, **inputs):
            scores = (input_ids == 0) * 100.0 + torch.arange(input_ids.shape[1]) / 100
            return SimpleNamespace(start_logits=scores, end_logits=scores)

    tokenizer = load_model(f"hf:{folders['reader']}").tokenizer
    examples = [("anna lives in paris", "where ?"), ("bob " * 38, "where ?")]
    assert extract(LikesPadding(), tokenizer, examples, 48).texts[0] == "paris"
