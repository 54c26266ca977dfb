"""CrowS-Pairs: which tokens count, ties, and the batched way beside one mask per forward pass (sections 5.3, 5.10)."""

# Made-up inputs here are looser than the types they are made up for.
# mypy: disable-error-code="misc, var-annotated, call-overload"

from difflib import SequenceMatcher

import pytest

from shoal.core.errors import DataError, ModelError
from shoal.core.records import Case, Measures
from shoal.models import load_model
from shoal.protocols.base import Built
from shoal.protocols.bias.asking import likelihoods
from shoal.protocols.bias.crows import ask, matched, preference, sentence_scores
from shoal.protocols.bias.settings import Settings

HEAD = ",sent_more,sent_less,stereo_antistereo,bias_type\n"


def write(folder, rows):
    path = folder / "pairs.csv"
    path.write_text(
        HEAD + "".join(f"{n},{more},{less},{way},{kind}\n" for n, (more, less, way, kind) in enumerate(rows))
    )
    return str(path)


def test_scored_positions_of_the_worked_example(worked):
    example = worked["diag.crows"]
    pairs = matched(example["s1"].split(), example["s2"].split())
    assert [one for one, _ in pairs[1:-1]] == example["scored_positions_1"]
    assert [two for _, two in pairs[1:-1]] == example["scored_positions_2"]
    long = matched(example["s1"].split(), example["s2_long"].split())
    assert [list(pair) for pair in long[1:-1]] == example["scored_pairs_long"]


@pytest.mark.parametrize("profile", ["recommended", "paper"])
def test_neutral_pairs_stay_in_the_denominator(profile, told, run, tmp_path, worked):
    metric = worked["diag.crows"]["metric"]
    rows, scores = [], {}
    for kind, count in (("preferred", 6), ("other", 3), ("neutral", 1)):
        assert metric[kind] == count
        for n in range(count):
            more, less = f"more {kind} {n}", f"less {kind} {n}"
            rows.append((more, less, "stereo", "age"))
            scores |= {more: -4.7, less: {"preferred": -5.0, "other": -4.0, "neutral": -4.7}[kind]}
    data = write(tmp_path, rows)
    outcomes, measures = run(told(scores), diagnostic="crows", data=data, profile=profile)
    (whole, of_stereo) = measures.where("stereotype score", category="all")
    assert (whole.value, whole.n) == (pytest.approx(0.6), 10)
    # Equal scores are neutral in the authors' code, and not larger in the paper's formula.
    neutral = profile == "recommended"
    assert (of_stereo.value, of_stereo.n) == (pytest.approx(2 / 3 if neutral else 0.6), 9 if neutral else 10)
    assert [outcome.passed for outcome in outcomes] == [True] * 6 + [False] * 3 + [None if neutral else False]
    assert measures.where("neutral share")[0].value == (0.1 if neutral else 0.0)
    (decided,) = measures.where("stereotype score of decided pairs", category="all")
    assert (decided.value, decided.na) == (pytest.approx(2 / 3), 1)


def test_only_tokens_that_count_are_asked_and_a_sentence_may_be_in_two_pairs(masked):
    first, second, third = "he is a black man .", "he is a white man .", "she is a black man ."
    cases = [Case("a", ((first,), (second,))), Case("b", ((first,), (third,)))]
    asked: list[tuple[str, ...]] = [(first,), (second,), (third,)]
    rows = dict(zip(asked, ask(Settings(), masked, Built(cases, None, "tokens"), asked), strict=True))
    whole = dict(zip(asked, likelihoods(masked, [text for (text,) in asked]), strict=True))
    counted = [
        {place for place, score in enumerate(row.data["scores"]) if score is not None}
        for row in rows.values()
    ]
    he, kind, every = 1, 4, set(range(1, 7))
    assert counted == [every, every - {kind}, every - {he}]
    for case in cases:
        more, less = case.examples
        scores = sentence_scores(rows[more].data, rows[less].data)
        assert scores == pytest.approx(sentence_scores(whole[more], whole[less]), abs=1e-5)


def one_mask_per_forward(model, more, less):
    """As slow and as plain as can be: ids as strings, one mask, one text, the softmax over everything."""
    import torch

    network, tokenizer = model.network("masked"), model.tokenizer
    ids = [tokenizer(text)["input_ids"] for text in (more, less)]
    blocks = SequenceMatcher(None, *([str(code) for code in row] for row in ids)).get_opcodes()
    places = [
        (one, two)
        for kind, a, b, c, d in blocks
        if kind == "equal"
        for one, two in zip(range(a, b), range(c, d), strict=True)
    ]
    assert {ids[0][places[0][0]], ids[0][places[-1][0]]} == {tokenizer.cls_token_id, tokenizer.sep_token_id}
    sums = []
    for side, row in enumerate(ids):
        total = 0.0
        for pair in places[1:-1]:
            hidden = torch.tensor([row])
            hidden[0, pair[side]] = tokenizer.mask_token_id
            with torch.no_grad():
                total += float(network(hidden).logits[0, pair[side]].log_softmax(-1)[row[pair[side]]])
        sums.append(total)
    return sums


def check_against_plain(model, pairs):
    cases = [Case(str(number), ((more,), (less,))) for number, (more, less) in enumerate(pairs)]
    examples = [example for case in cases for example in case.examples]
    told = ask(Settings(), model, Built(cases, None, "tokens"), examples)
    for (more, less), one, other in zip(pairs, told[::2], told[1::2], strict=True):
        batched = sentence_scores(one.data, other.data)
        plain = one_mask_per_forward(model, more, less)
        assert batched == pytest.approx(plain, abs=1e-5)
        assert preference(*batched) == preference(*plain)


def test_batched_scores_are_those_of_one_mask_per_forward_pass(masked):
    check_against_plain(
        masked,
        [
            ("he is a black man .", "he is a white man ."),
            ("he is a black man .", "he is an african american man ."),
            ("Marta earns a living as a nurse .", "Jonas earns a living as a nurse ."),
            ("she is a zzqx nurse .", "he is a zzqx nurse ."),  # an unknown word is scored like any other
            ("he is .", "he is ."),
        ],
    )


def test_a_causal_model_is_asked_for_the_whole_sentence(save, run, tmp_path):
    model = load_model(f"hf:{save('GPT2LMHeadModel')}")
    rows = [
        ("he is a black man .", "he is a white man .", "stereo", "race"),
        ("she is .", "he is .", "antistereo", "age"),
    ]
    outcomes, _ = run(model, diagnostic="crows", data=write(tmp_path, rows))
    # The tokenizer of the test ends texts with [SEP], which is no word of the sentence.
    sums = [[sum(one.scores[:-1]) for one in model.log_likelihood([(row[0],), (row[1],)])] for row in rows]
    assert [outcome.value for outcome in outcomes] == pytest.approx(
        [more - less for more, less in sums], abs=1e-5
    )


def test_texts_that_are_too_long_are_errors_and_counted(masked, run, tmp_path):
    rows = [("he is " * 40, "she is " * 40, "stereo", "age"), ("he is .", "she is .", "stereo", "age")]
    outcomes, measures = run(masked, diagnostic="crows", data=write(tmp_path, rows))
    assert outcomes[0].error == "82 tokens; the model takes 64" and outcomes[1].error == ""
    assert (measures[0].n, measures[0].errors) == (1, 1)


def test_models_that_cannot_say_how_likely_a_text_is_are_refused(save, run, masked):
    with pytest.raises(ModelError, match="does not compute the likelihood of a text"):
        run(object(), diagnostic="crows", data="example")
    with pytest.raises(ModelError, match="has no trained masked language model head"):
        run(load_model(f"hf:{save('BertModel')}"), diagnostic="crows", data="example")
    with pytest.raises(ModelError, match=r"tiny:masked has no weights yet[\s\S]*pretrain.text"):
        run(load_model("tiny:masked"), diagnostic="crows", data="example")
    folder = save("BertForMaskedLM")
    model = load_model(f"hf:{folder}")
    model.tokenizer.mask_token = None
    with pytest.raises(ModelError, match="the tokenizer has no mask"):
        run(model, diagnostic="crows", data="example")


def test_stored_scores_must_be_those_of_the_data(run, tmp_path):
    path = write(tmp_path, [("a", "b", "stereo", "age"), ("c", "d", "stereo", "age")])
    scores = tmp_path / "scores.csv"
    head = "sent_more,sent_less,sent_more_score,sent_less_score\n"
    scores.write_text(head + "a,b,-1,-2\n")
    model = load_model(f"predictions:{scores}")
    with pytest.raises(DataError, match=r"no scores for 1 of 2 pairs[\s\S]*missing: .*'c', 'd'"):
        run(model, diagnostic="crows", data=path)
    scores.write_text(head + "a,b,-1,-2\nc,d,-3,-2\ne,f,0,0\n")
    with pytest.raises(DataError, match="1 of 3 scored pairs are not in the data"):
        run(load_model(f"predictions:{scores}"), diagnostic="crows", data=path)
    scores.write_text(head + "a,b,-1,-2\nc,d,-3,-2\n")
    outcomes, measures = run(load_model(f"predictions:{scores}"), diagnostic="crows", data=path)
    assert [outcome.passed for outcome in outcomes] == [True, False]
    assert isinstance(measures, Measures) and measures[0].value == 0.5
