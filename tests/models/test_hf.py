"""Transformers models: what is refused, whose labels are whose, long texts, vectors, gradients."""

import json
import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs shoal[hf]")
pytest.importorskip("transformers", reason="needs shoal[hf]")

from shoal import load_model  # noqa: E402
from shoal.core.errors import ModelError  # noqa: E402
from shoal.core.records import Case  # noqa: E402
from shoal.models.asking import answer_batch, ask_batches  # noqa: E402
from shoal.models.batching import make_questions  # noqa: E402
from shoal.models.selfcheck import self_check  # noqa: E402
from shoal.protocols.base import Built  # noqa: E402

SENTIMENT = ("negative", "neutral", "positive")
TEXTS = [("the film was good",), ("a very , very boring meal !",), ("bad",)]


def by_hand(folder, texts):
    """Probabilities as the Transformers documentation computes them, one text at a time."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        rows = [model(**tokenizer(*text, return_tensors="pt")).logits[0].softmax(-1) for text in texts]
    return torch.stack(rows).numpy()


def test_probabilities_are_the_models_own_under_the_suites_names(folders):
    answers = load_model(f"hf:{folders['classifier']}").classify(TEXTS, ("negative", "positive"))
    assert answers.labels == ("negative", "positive")
    assert answers.probabilities == pytest.approx(by_hand(folders["classifier"], TEXTS), abs=1e-6)
    assert answers.predictions.tolist() == answers.probabilities.argmax(axis=1).tolist()
    assert np.ptp(answers.probabilities[:, 0]) > 0.05, (
        "a model that says the same of everything tests nothing"
    )


def test_labels_without_names_must_be_named(folders):
    with pytest.raises(ModelError, match=r"LABEL_0, LABEL_1[\s\S]*try: hf:.*\?labels=negative,positive"):
        load_model(f"hf:{folders['nameless']}").classify(TEXTS, SENTIMENT)
    answers = load_model(f"hf:{folders['nameless']}?labels=positive,negative").classify(TEXTS, SENTIMENT)
    assert answers.probabilities == pytest.approx(by_hand(folders["nameless"], TEXTS)[:, ::-1], abs=1e-6)


@pytest.mark.parametrize(
    ("options", "suite", "message"),
    [
        ("", ("different", "duplicate"), "NEGATIVE, POSITIVE; the suite's labels are different, duplicate"),
        ("?labels=a,b,c", ("a", "b", "c"), "has 3 names, the model 2"),
        (
            "?labels=positive,negative",
            SENTIMENT,
            r"invert predictions[\s\S]*labels=NEGATIVE:positive,POSITIVE:",
        ),
        ("?labels=positive,pos", SENTIMENT, "two of the model's labels mean the same|has no negative"),
    ],
)
def test_labels_that_are_not_the_suites_are_refused_and_both_sides_named(folders, options, suite, message):
    with pytest.raises(ModelError, match=message):
        load_model(f"hf:{folders['classifier']}{options}").classify(TEXTS, suite)


def test_an_encoder_without_a_head_is_refused(folders):
    message = r"has no trained classifier for 2 labels[\s\S]*would be random: classifier[\s\S]*train.on"
    with pytest.raises(ModelError, match=message):
        load_model(f"hf:{folders['encoder']}").classify(TEXTS, SENTIMENT)
    with pytest.raises(ModelError, match="has no trained span extractor"):
        load_model(f"hf:{folders['encoder']}").extract([("paris", "where")])
    with pytest.raises(ModelError, match="has no trained masked language model head"):
        load_model(f"hf:{folders['classifier']}").log_likelihood(TEXTS)


def test_code_that_comes_with_a_model_is_never_run(folders, tmp_path):
    folder = shutil.copytree(folders["classifier"], tmp_path / "foreign")
    ran = tmp_path / "ran"
    (folder / "code.py").write_text(f"open({str(ran)!r}, 'w')\nclass Config: ...\nclass Model: ...\n")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoConfig": "code.Config", "AutoModel": "code.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"comes with code, which shoal never runs[\s\S]*python:module:name"):
        load_model(f"hf:{folder}").classify(TEXTS, SENTIMENT)
    assert not ran.exists()


def test_a_folder_without_config_or_weights_says_so(folders, tmp_path):
    with pytest.raises(ModelError, match="no config.json"):
        load_model(f"hf:{tmp_path}").fingerprint()
    shutil.copy(folders["classifier"] / "config.json", tmp_path)
    with pytest.raises(ModelError, match="no weights"):
        load_model(f"hf:{tmp_path}").fingerprint()


def test_a_tokenizer_that_is_not_the_weights_own_is_refused(folders, tmp_path):
    folder = shutil.copytree(folders["classifier"], tmp_path / "mixed")
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"] |= {f"word{n}": 1000 + n for n in range(5)}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(ModelError, match="tokenizer and weights do not match"):
        load_model(f"hf:{folder}").classify(TEXTS, SENTIMENT)


def test_the_longest_text_is_cut_from_its_end(folders):
    model = load_model(f"hf:{folders['classifier']}?max_length=10")
    long, short = "the film was " + "very " * 20 + "good", "not bad"
    kept = "the film was very very"  # ten tokens less three that frame, less two of the other text
    for pair, cut in (((long, short), (kept, short)), ((short, long), (short, kept))):
        answers = model.classify([pair, cut], ("negative", "positive"))
        assert answers.probabilities[0] == pytest.approx(answers.probabilities[1], abs=1e-7)


def test_the_fingerprint_is_what_the_answers_depend_on(folders, tmp_path):
    first = load_model(f"hf:{folders['classifier']}").fingerprint()
    copy = shutil.copytree(folders["classifier"], tmp_path / "copy")
    assert load_model(f"hf:{copy}").fingerprint() == first
    assert load_model(f"hf:{copy}?device=cpu").fingerprint() == first
    assert load_model(f"hf:{copy}?max_length=9").fingerprint() != first
    assert load_model(f"hf:{copy}?dtype=bfloat16").fingerprint() != first
    for name, key in (
        ("model.safetensors", "weights"),
        ("tokenizer.json", "tokenizer"),
        ("config.json", "config"),
    ):
        other = shutil.copytree(folders["classifier"], tmp_path / key)
        content = bytearray((other / name).read_bytes())
        content[-2 if name.endswith(".safetensors") else 1] ^= 1 if name.endswith(".safetensors") else 3
        (other / name).write_bytes(content)
        changed = load_model(f"hf:{other}").fingerprint()
        assert {one for one in first if changed[one] != first[one]} == {key}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the tracer warns about itself
def test_a_converted_model_gives_the_same_answers(folders):
    pytest.importorskip("openvino")
    spec = f"hf:{folders['classifier']}?engine=openvino&device=cpu"
    plain, converted = load_model(f"hf:{folders['classifier']}"), load_model(spec)
    examples = [(text,) for text in ("good", "a very bad film", "the meal was not so good , i think")]
    a, b = (model.classify(examples, ("negative", "positive")) for model in (plain, converted))
    assert a.predictions.tolist() == b.predictions.tolist()
    assert np.abs(a.probabilities - b.probabilities).max() < 1e-5
    cases = [Case(str(at), (example,)) for at, example in enumerate(examples)]
    checks = {check.name: check for check in self_check(converted, cases, ("negative", "positive"))}
    assert checks["converted model agrees with the original"].ok
    assert plain.fingerprint() != converted.fingerprint()


def test_batches_asked_side_by_side_give_the_same_bits_as_one_core(folders, monkeypatch):
    """Whatever the number of cores: a batch is asked on one."""
    rng = np.random.default_rng(0)
    words = ["good", "bad", "film", "meal", "not", "very", "the"]
    texts = {" ".join(rng.choice(words, rng.integers(3, 40))) for _ in range(400)}
    cases = [Case(str(at), ((text,),)) for at, text in enumerate(sorted(texts))]
    before, given, side_by_side = torch.get_num_threads(), [], set()
    from threading import current_thread

    for cores in (1, 2, 4):
        torch.set_num_threads(cores)
        try:
            model = load_model(f"hf:{folders['classifier']}?device=cpu")
            assert model.parallel_batches == cores
            built, questions = Built(cases, ("negative", "positive")), make_questions(model, cases)

            def ask(examples, model=model, built=built):
                side_by_side.add(current_thread().name)
                return answer_batch(model, built, examples)

            given.append(list(ask_batches(ask, model, questions, labels=True)))
            assert torch.get_num_threads() == cores
        finally:
            torch.set_num_threads(before)
    assert len(given[0]) > 4 and given[0] == given[1] == given[2]
    assert len(side_by_side) >= 3, "one thread asked everything"
