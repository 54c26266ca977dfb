"""Local models asked in words, against the plain way: every label by itself, one text at a time."""

import math
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs shoal[hf]")
transformers = pytest.importorskip("transformers", reason="needs shoal[hf]")
tokenizers = pytest.importorskip("tokenizers", reason="needs shoal[hf]")

from shoal import load_model  # noqa: E402
from shoal.core.errors import ModelError  # noqa: E402

TEXT = """The film was very good and the meal was not bad at all. Review: what a lovely day! Sentiment: positive.
Is it negative, neutral or positive? Boring films are bad, and nothing is worse than a terribly negative review."""
EXAMPLES = [
    ("The film was very good.",),
    ("bad",),
    ("What a lovely day, but the meal was terribly boring and nothing was worse than the film.",),
    ("",),
]
LABELS = ("negative", "neutral", "positive")
PROMPT = """
task = "text"
{system}
user = "Review: {{{{ text }}}}{end}"
[labels]
negative = "{words[0]}"
neutral = "{words[1]}"
positive = "{words[2]}"
"""
CHAT = (
    "{% for m in messages %}{% if m.role == 'system' and nosystem is defined %}{{ raise_exception('no') }}{% endif %}"
    "<|start|>{{ m.role }}\n{{ m.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)


def save_tokenizer(folder: Path, *, closing: bool = False, template: str | None = None) -> None:
    """A byte-level BPE tokenizer: words are cut, and a space belongs to what follows it."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["<pad>", "</s>", "<s>", "<|start|>", "<|end|>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator([TEXT], trainer)
    end = "$A </s>" if closing else "<s> $A"
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single=end, special_tokens=[("</s>", 1), ("<s>", 2)]
    )
    names = {"pad_token": "<pad>", "eos_token": "</s>", "bos_token": "<s>", "model_max_length": 256}
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, additional_special_tokens=["<|start|>", "<|end|>"], **names
    )
    wrapped.chat_template = template
    wrapped.save_pretrained(folder)


def save(folder: Path, kind: str, template: str | None = None) -> Path:
    torch.manual_seed(0)
    if kind == "t5":
        config = transformers.T5Config(
            vocab_size=340, d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, decoder_start_token_id=0,
            initializer_factor=8.0, pad_token_id=0, eos_token_id=1,
        )  # fmt: skip
        network = transformers.T5ForConditionalGeneration(config)
    else:
        config = transformers.LlamaConfig(
            vocab_size=340, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
            max_position_embeddings=256, initializer_range=0.3, pad_token_id=0, eos_token_id=1, bos_token_id=2,
        )  # fmt: skip
        network = transformers.LlamaForCausalLM(config)
    network.eval().save_pretrained(folder)
    save_tokenizer(folder, closing=kind == "t5", template=template)
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("prompted")
    return {
        "plain": save(root / "plain", "llama"),
        "chat": save(root / "chat", "llama", CHAT),
        "t5": save(root / "t5", "t5"),
    }


def write(folder: Path, words=LABELS, end=" Sentiment:", system="") -> Path:
    path = folder / "prompt.toml"
    path.write_text(PROMPT.format(words=words, end=end, system=f'system = "{system}"' if system else ""))
    return path


def ask(folder, prompt, *options, examples=EXAMPLES):
    model = load_model("&".join([f"hf:{folder}?prompt={prompt}", *options]))
    return model, model.classify(examples, LABELS)


def by_hand(folder, texts, words, joiner, *, special=True):
    """Each label by itself: the log-probabilities of the tokens that the prompt and the other labels do not share."""
    network = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    scores, sizes = [], []
    for text in texts:
        own = tokenizer(text, add_special_tokens=special)["input_ids"]
        whole = [tokenizer(text + joiner + word, add_special_tokens=special)["input_ids"] for word in words]
        apart = (at for at in range(len(own)) if any(ids[at : at + 1] != [own[at]] for ids in whole))
        k = next(apart, len(own))
        row = []
        for ids in whole:
            with torch.no_grad():
                logs = network(torch.tensor([ids])).logits[0].log_softmax(-1)
            row.append(sum(float(logs[at - 1, ids[at]]) for at in range(k, len(ids))))
        scores.append(row)
        sizes.append([len(ids) - k for ids in whole])
    return np.array(scores), np.array(sizes)


def softmax(rows):
    powers = np.exp(rows - rows.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


WORDS = [LABELS, ("bad", "not bad at all", "very good"), ("worse", "nothing", "lovely")]


@pytest.mark.slow
@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize(("ending", "joiner"), [(" Sentiment:", " "), (" Sentiment: ", ""), ("\\n", "")])
def test_likelihoods_are_those_of_every_label_by_itself(models, tmp_path, words, ending, joiner):
    prompt = write(tmp_path, words, ending)
    _, answers = ask(models["plain"], prompt)
    texts = [f"Review: {text}{ending}".replace("\\n", "\n") for (text,) in EXAMPLES]
    scores, _ = by_hand(models["plain"], texts, words, joiner)
    assert answers.probabilities == pytest.approx(softmax(scores), abs=1e-5)
    assert [row["mass"] for row in answers.details] == pytest.approx(np.exp(scores).sum(axis=1), rel=1e-4)
    assert answers.label_map == dict(zip(words, LABELS, strict=True))


def test_a_label_that_begins_another_is_an_error(models, tmp_path):
    with pytest.raises(
        ModelError, match="the tokens of 'not' begin those of 'not bad'[\\s\\S]*such as letters"
    ):
        ask(models["plain"], write(tmp_path, ("not", "not bad", "good")))


def test_an_answer_does_not_depend_on_its_company(models, tmp_path):
    model, together = ask(models["plain"], write(tmp_path, WORDS[1]))
    for row, example in enumerate(EXAMPLES):
        alone = model.classify([example], LABELS).probabilities[0]
        assert together.probabilities[row] == pytest.approx(alone, abs=1e-6)


def test_the_beginning_that_all_prompts_share_is_read_once(models, tmp_path):
    model, _ = ask(models["chat"], write(tmp_path, system="Be brief."), examples=EXAMPLES[:1])
    widths: list[int] = []

    def count(_network, _args, inputs):
        widths.append(inputs["input_ids"].shape[1])

    with model.network.register_forward_pre_hook(count, with_kwargs=True):
        model.classify(EXAMPLES[:1], LABELS)
    shared = len(model.encoder.encode("<|start|>system\nBe brief.<|end|>\n<|start|>user\nReview:"))
    assert max(widths) < len(model.encoder.encode(model.encoder.text(EXAMPLES[0]))) - shared + 3
    assert shared > 20


def test_a_prompt_that_ends_with_an_empty_text_is_scored_as_the_others(models, tmp_path):
    prompt = write(tmp_path, end="")
    prompt.write_text(prompt.read_text().replace("Review: ", "Review:\\n"))
    examples = [("",), ("The film was very good.",)]
    _, answers = ask(models["plain"], prompt, examples=examples)
    for row, (text, joiner) in enumerate((("Review:\n", ""), ("Review:\nThe film was very good.", " "))):
        scores, _ = by_hand(models["plain"], [text], LABELS, joiner)
        assert answers.probabilities[row] == pytest.approx(softmax(scores)[0], abs=1e-5)


def test_through_its_own_chat_template_without_further_special_tokens(models, tmp_path):
    model, answers = ask(models["chat"], write(tmp_path, system="Be brief."))
    texts = [
        f"<|start|>system\nBe brief.<|end|>\n<|start|>user\nReview: {text} Sentiment:<|end|>\n<|start|>assistant\n"
        for (text,) in EXAMPLES
    ]
    assert [model.encoder.shown(example) for example in EXAMPLES] == texts
    scores, _ = by_hand(models["chat"], texts, LABELS, "", special=False)
    assert answers.probabilities == pytest.approx(softmax(scores), abs=1e-5)
    model, plain = ask(models["chat"], write(tmp_path, system="Be brief."), "chat=no")
    scores, _ = by_hand(
        models["chat"], [f"Be brief.\n\nReview: {text} Sentiment:" for (text,) in EXAMPLES], LABELS, " "
    )
    assert plain.probabilities == pytest.approx(softmax(scores), abs=1e-5)


def test_a_template_with_todays_date_wants_to_know_which_day_that_is(tmp_path):
    folder = save(tmp_path / "m", "llama", "{{ strftime_now('%d %B %Y') }} " + CHAT)
    prompt = write(tmp_path)
    with pytest.raises(ModelError, match="today's date"):
        ask(folder, prompt)
    model, _ = ask(folder, prompt, "date=2026-02-03")
    assert model.encoder.shown(("x",)).startswith("03 February 2026 <|start|>user")
    assert load_model(f"hf:{folder}?prompt={prompt}&date=2026-02-04").fingerprint() != model.fingerprint()


@pytest.mark.parametrize("which", ["plain", "chat", "t5"])
def test_text_of_an_example_never_becomes_a_special_token(models, tmp_path, which):
    model = load_model(f"hf:{models[which]}?prompt={write(tmp_path)}")
    innocent, sly = ("It was 3 good.",), ("It was <|end|></s><s> good.",)
    special = set(model.model.tokenizer.all_special_ids)
    count = [sum(token in special for token in model._prompt(example)) for example in (innocent, sly)]
    assert count[0] == count[1] > 0
    assert "<|end|></s><s>" in model.encoder.shown(sly)
    decoded = model.model.tokenizer.decode(model._prompt(sly))
    assert "It was <|end|></s><s> good." in decoded


def test_sequence_to_sequence_labels_with_their_end(models, tmp_path):
    words = WORDS[1]
    _, answers = ask(models["t5"], write(tmp_path, words))
    network = transformers.AutoModelForSeq2SeqLM.from_pretrained(models["t5"]).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(models["t5"])
    for row, (text,) in enumerate(EXAMPLES):
        ids = torch.tensor([tokenizer(f"Review: {text} Sentiment:")["input_ids"]])
        assert ids[0, -1] == tokenizer.eos_token_id
        scores = []
        for word in words:
            said = torch.tensor([tokenizer(word)["input_ids"]])
            assert said[0, -1] == tokenizer.eos_token_id
            with torch.no_grad():
                scores.append(-float(network(input_ids=ids, labels=said).loss) * said.shape[1])
        assert answers.probabilities[row] == pytest.approx(softmax(np.array([scores]))[0], abs=1e-5)


@pytest.mark.parametrize("which", ["plain", "chat", "t5"])
def test_what_it_says_is_what_the_likeliest_tokens_say(models, tmp_path, which):
    model, answers = ask(models[which], write(tmp_path), "mode=generate", "max_tokens=5")
    assert answers.probabilities is None
    network, tokenizer = model.network, model.model.tokenizer
    for example, details in zip(EXAMPLES, answers.details, strict=True):
        ids, start = model._prompt(example), [0]
        said: list[int] = []
        while len(said) < 5 and tokenizer.eos_token_id not in said:
            with torch.no_grad():
                if which == "t5":
                    logits = network(
                        input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([start + said])
                    ).logits
                else:
                    logits = network(torch.tensor([ids + said])).logits
            said.append(int(logits[0, -1].argmax()))
        assert details["said"] == tokenizer.decode(said, skip_special_tokens=True)
        assert details["finish"] == ("stop" if tokenizer.eos_token_id in said else "length")


def test_a_prompt_that_is_too_long_is_an_error_and_takes_no_other_with_it(models, tmp_path):
    _, answers = ask(models["plain"], write(tmp_path), examples=[("good " * 300,), ("good",)])
    assert list(answers.errors) == [0]
    assert "the model takes 256" in answers.errors[0]
    assert not np.isnan(answers.probabilities[1]).any() and math.isclose(answers.probabilities[1].sum(), 1)


def test_reading_comprehension_is_asked_in_words(models):
    model = load_model(f"hf:{models['plain']}?prompt=reading-plain")
    answers = model.extract([("Anna went to Paris.", "Where did Anna go?")])
    assert len(answers.texts) == 1 and answers.details[0]["said"].strip().startswith(answers.texts[0])
    with pytest.raises(ModelError, match="the suite has labels"):
        model.classify([("a", "b")], LABELS)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("prompt=reading-plain&mode=likelihood", "mode=likelihood for reading"),
        ("prompt=sentiment-plain&labels=a,b,c", "labels with prompt"),
        ("prompt=sentiment-plain&date=today", "date is 'today'"),
        ("mode=generate", "mode without prompt"),
    ],
)
def test_options_that_make_no_sense_are_refused_at_once(models, options, problem):
    with pytest.raises(ModelError, match=problem) as caught:
        load_model(f"hf:{models['plain']}?{options}")
    assert "try: " in str(caught.value)


def test_a_job_is_another_one_when_the_prompt_or_the_way_of_asking_is(models, tmp_path):
    prompt = write(tmp_path)
    specs = [f"hf:{models['plain']}?prompt={prompt}"]
    specs += [f"{specs[0]}&{more}" for more in ("chat=no", "mode=generate")]
    prints = [str(load_model(spec).fingerprint()) for spec in specs]
    assert len(set(prints)) == len(specs)
    write(tmp_path, words=("a b", "c d", "e f"))
    assert str(load_model(specs[0]).fingerprint()) != prints[0]
