"""Words for blanks, against the plain way: one text, one forward pass, the whole table of the vocabulary."""

import pytest

torch = pytest.importorskip("torch", reason="needs shoal[hf]")
transformers = pytest.importorskip("transformers", reason="needs shoal[hf]")
tokenizers = pytest.importorskip("tokenizers", reason="needs shoal[hf]")

from shoal import load_model  # noqa: E402
from shoal.models.interface import Blank, WordFiller  # noqa: E402
from shoal.models.likelihood import NOT_ONE_PIECE, OWN_MASK, TOO_LONG, Vocabulary  # noqa: E402

PAIR = ("the film was good", "a film is not bad")
HIDDEN = ((0, 4, 8), (1, 2, 6))


def blank(word="film", asked=0, texts=PAIR, hidden=HIDDEN):
    return Blank(texts, hidden, asked, word)


def test_fillers_are_the_softmax_at_each_of_several_masks(folders):
    folder = folders["masked"]
    network = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = load_model(f"hf:{folder}")
    assert isinstance(model, WordFiller)
    encoded = tokenizer("the [MASK] was good", "a [MASK] is not bad", return_tensors="pt")
    places = [
        n for n, token in enumerate(encoded["input_ids"][0].tolist()) if token == tokenizer.mask_token_id
    ]
    with torch.no_grad():
        table = network(**encoded).logits[0].double().softmax(-1)
    fillers = model.fill_words([blank(asked=0), blank(asked=1)], k=8)
    for place, filler in zip(places, fillers, strict=True):
        best = table[place].topk(8)
        pieces = tokenizer.convert_ids_to_tokens(best.indices.tolist())
        kept = [n for n, piece in enumerate(pieces) if piece not in tokenizer.all_special_tokens]
        assert filler.words == tuple(pieces[n] for n in kept)
        chances = [best.values[n].item() for n in kept]
        assert filler.probabilities == pytest.approx(chances, abs=1e-6)
        word = tokenizer.convert_tokens_to_ids("film")
        assert filler.of_word == pytest.approx(table[place, word].item(), abs=1e-6)


def test_what_cannot_be_filled_says_why(folders):
    model = load_model(f"hf:{folders['masked']}")
    long = ("the film " * 40, "a film")
    unknown, cut, masked = model.fill_words(
        [
            blank("zebra"),
            blank(texts=long, hidden=((0, 4, 8), (1, 2, 6))),
            blank(texts=("the film [MASK]", "a film"), hidden=((0, 4, 8), (1, 2, 6))),
        ],
        k=3,
    )
    assert (unknown.problem, cut.problem, masked.problem) == (NOT_ONE_PIECE, TOO_LONG, OWN_MASK)
    assert unknown.words == ()


def made(pieces, **names):
    """A tokenizer whose vocabulary is these pieces."""
    vocabulary = {piece: code for code, piece in enumerate(["<pad>", "<unk>", "<mask>", *pieces])}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    if names.pop("byte_level", False):
        inner.decoder = tokenizers.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", unk_token="<unk>", mask_token="<mask>", **names
    )


def test_words_differ_by_more_than_case_and_continuations_are_none():
    vocabulary = Vocabulary(made(["man", "Man", "##ly", "woman", "."]))
    items, names, places = vocabulary.items
    assert items[3] == items[4] == places["man"]
    assert [name for name in names if name] == ["man", "woman", "."]


def test_byte_level_words_start_with_their_marker():
    vocabulary = Vocabulary(made(["Ġman", "man", "ĠMan", "Ġwoman"], byte_level=True))
    items, names, places = vocabulary.items
    assert items[3] == items[5] == places["man"] and items[4] != items[3]
    assert [name for name in names if name] == ["man", "woman"]
    assert vocabulary.hide(Blank(("Man runs",), ((0, 0, 3),), 0, "man")) == (" <mask> runs",)
