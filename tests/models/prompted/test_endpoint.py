"""Models behind an endpoint: a server on this machine that answers, and one that misbehaves."""

import json
import random
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

pytest.importorskip("aiohttp", reason="needs shoal[llm]")

from fake_server import error, serving

from shoal import load_model
from shoal.core.errors import ModelError
from shoal.models.prompted.client import IN_A_ROW, LONGEST_WAIT, retry_after

LABELS = ("negative", "neutral", "positive")
EXAMPLES = [("A great film.",), ("A terrible film.",), ("We leave at nine.",)]
SAID = ["positive", "negative", "neutral"]


@pytest.fixture
def server():
    with serving() as running:
        yield running


def model_of(server, *options, prompt="sentiment-plain", name="fake"):
    model = load_model("&".join([f"openai:{name}?url={server.url}&prompt={prompt}", *options]))
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    model.client._sleep = sleep
    model.client.rng = random.Random(0)
    model.waits = waits
    return model


def words(answers):
    return [answers.labels[code] for code in answers.predictions]


def test_first_tokens_where_the_server_gives_them(server):
    model = model_of(server)
    answers = model.classify(EXAMPLES, LABELS)
    assert words(answers) == SAID
    assert answers.probabilities[0] == pytest.approx([0, 0.2 / 0.9, 0.7 / 0.9])
    assert answers.details[0]["mass"] == pytest.approx(0.9)
    assert answers.details[0]["mode"] == "first token" and answers.details[0]["server"] == "fake-1"
    assert "low mass" not in answers.details[0] and "truncated" not in answers.details[0]
    asked = server.bodies[-1]
    assert (asked["max_tokens"], asked["temperature"], asked["top_logprobs"]) == (1, 0, 20)
    assert model.how == "first token: the server gives the 20 likeliest tokens"


def test_in_words_where_it_gives_none(server):
    server.logprobs = False
    model = model_of(server)
    answers = model.classify(EXAMPLES, LABELS)
    assert words(answers) == SAID and answers.probabilities is None
    assert answers.details[0]["said"] == "positive" and answers.details[0]["finish"] == "stop"
    assert model.how == "generate: the server gives no log-probabilities"
    assert server.bodies[-1]["max_tokens"] == 16


def test_reading_is_asked_in_words_and_nothing_may_be_the_answer(server):
    server.rule = lambda question: "Unanswerable." if "Bob" in question else " Paris\nbecause it says so"
    answers = model_of(server, prompt="reading-plain").extract(
        [("Anna is in Paris.", "Where is Anna?"), ("Anna is in Paris.", "Where is Bob?")]
    )
    assert answers.texts == ["Paris", ""] and answers.details[0]["said"] == " Paris\nbecause it says so"
    assert server.bodies[-1]["max_tokens"] == 32


def test_thinking_is_cut_off_and_must_have_ended(server):
    server.rule = lambda question: (
        "<think>Bad? Not at all.</think>\npositive" if "great" in question else "<think>Hm,"
    )
    model = model_of(server, "mode=generate", "max_tokens=2048")
    answers = model.classify(EXAMPLES[:2], LABELS)
    assert words(answers)[0] == "positive" and "thinking never ended" in answers.errors[1]
    assert server.bodies[-1]["max_tokens"] == 2048


def test_a_content_filter_is_no_answer(server):
    server.finish = "content_filter"
    for mode in ("generate", "first token"):
        answers = model_of(server, f"mode={mode}").classify(EXAMPLES, LABELS)
        assert answers.errors[0] == "no answer: stopped by a content filter"


def test_a_later_400_is_that_examples_no_answer(server):
    model = model_of(server, "mode=generate")
    model.classify(EXAMPLES[:1], LABELS)
    server.troubles = [error(400, "maximum context length exceeded")]
    answers = model.classify(EXAMPLES[:1], LABELS)
    assert "maximum context length exceeded" in answers.errors[0] and "no answer" in answers.details[0]
    assert model.waits == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "trouble",
    [
        *(error(503, "busy"), error(409, "conflict"), "cut", "not json {"),
        *(json.dumps({"choices": []}), json.dumps({"choices": [{"message": {}}]})),
    ],
)
def test_what_may_pass_is_tried_again(server, trouble):
    model = model_of(server, "mode=generate")
    model.classify(EXAMPLES[:1], LABELS)
    server.troubles = [trouble, trouble]
    answers = model.classify(EXAMPLES[:1], LABELS)
    assert words(answers) == ["positive"] and not answers.errors
    assert len(model.waits) == 2 and model.waits[0] <= 2 and model.waits[1] <= 4


def test_waits_grow_up_to_a_minute_and_then_the_example_is_an_error(server):
    model = model_of(server, "mode=generate", "concurrency=1")
    model.classify(EXAMPLES[:1], LABELS)
    model.client.rng = type("Most", (), {"uniform": staticmethod(lambda low, high: high)})()
    server.troubles = [error(500, "oops")] * 8
    answers = model.classify(EXAMPLES[:1], LABELS)
    assert model.waits == [2, 4, 8, 16, 32, LONGEST_WAIT, LONGEST_WAIT]
    assert answers.errors[0] == "the server says 500: oops" and "no answer" not in answers.details[0]


def test_retry_after_wins(server):
    model = model_of(server, "mode=generate")
    model.classify(EXAMPLES[:1], LABELS)
    server.troubles = [error(429, "slow down", retry_after="7"), error(429, "slow down", retry_after="7")]
    assert words(model.classify(EXAMPLES[:1], LABELS)) == ["positive"]
    assert model.waits == [7, 7]


def test_retry_after_may_be_a_date():
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 50 < (retry_after(later) or 0) <= 60
    assert retry_after("Mon, 01 Jan 2001 00:00:00 GMT") == 0 and retry_after("soon") is None


@pytest.mark.parametrize(
    ("trouble", "problem"),
    [
        (error(403, "not for you"), "403: not for you"),
        (error(429, "you have spent it all", "insufficient_quota"), "spent it all"),
    ],
)
def test_what_will_not_pass_stops_the_job(server, trouble, problem):
    model = model_of(server, "mode=generate")
    model.classify(EXAMPLES[:1], LABELS)
    server.troubles = [trouble]
    with pytest.raises(ModelError, match=problem):
        model.classify(EXAMPLES[:1], LABELS)
    assert model.waits == []


@pytest.mark.slow
def test_many_errors_in_a_row_stop_the_job(server):
    model = model_of(server, "mode=generate", "tries=1", "concurrency=1")
    model.classify(EXAMPLES[:1], LABELS)
    server.after, server.then = 0, error(500, "oops")
    with pytest.raises(ModelError, match=f"{IN_A_ROW} errors in a row, the last: the server says 500: oops"):
        model.classify([(f"text {n}",) for n in range(30)], LABELS)
    assert len(server.bodies) == 2 + IN_A_ROW  # the trial and its answer


def test_requests_go_through_the_proxy_of_the_environment(server, monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("machine models.invalid login me password hush\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    model = load_model("openai:fake?url=http://models.invalid/v1&prompt=sentiment-plain")
    assert words(model.classify(EXAMPLES, LABELS)) == SAID
    monkeypatch.setenv("no_proxy", "models.invalid")
    direct = load_model("openai:fake?url=http://models.invalid/v1&prompt=sentiment-plain&tries=1")
    with pytest.raises(ModelError, match="no connection to http://models.invalid/v1"):
        direct.classify(EXAMPLES, LABELS)


def test_the_key_goes_to_the_server_and_nowhere_else(monkeypatch):
    with serving(key="sk-planted-1234") as server:
        monkeypatch.setenv("MY_KEY", "sk-planted-1234")
        model = model_of(server, "key_from=MY_KEY")
        assert words(model.classify(EXAMPLES, LABELS)) == SAID
        monkeypatch.setenv("MY_KEY", "sk-planted-wrong")
        with pytest.raises(ModelError) as caught:
            model.classify(EXAMPLES, LABELS)
        assert "Incorrect API key provided: •••" in str(caught.value) and "MY_KEY" in str(caught.value)
        monkeypatch.delenv("MY_KEY")
        with pytest.raises(ModelError, match="MY_KEY is empty or not set"):
            model.classify(EXAMPLES, LABELS)
        monkeypatch.setenv("MY_KEY", "sk-planted\n")
        with pytest.raises(ModelError, match="does not hold a key") as caught:
            model.classify(EXAMPLES, LABELS)
        assert "planted" not in str(caught.value)


def test_a_budget_is_never_exceeded_and_the_rest_is_not_asked(server):
    model = model_of(server, "mode=generate", "price=input:1000,output:1000", "budget=0.5", "concurrency=3")
    with pytest.raises(ModelError, match="might exceed the budget of 0.5"):
        model.classify([(f"a great text {n}",) for n in range(200)], LABELS)
    spent = (
        sum(sum(len(turn["content"].split()) for turn in body["messages"]) + 1 for body in server.bodies)
        / 1000
    )
    assert 0.3 < spent <= 0.5 and model.spending.cost == pytest.approx(spent)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("url=http://127.0.0.1/v1", "no prompt"),
        ("prompt=sentiment-plain&url=ftp://x", "url='ftp://x'"),
        ("prompt=sentiment-plain&budget=2", "without price"),
        ("prompt=sentiment-plain&temperature=1", "temperature=1"),
        ("prompt=reading-plain&mode=first token", "for reading"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_anything_is_asked(options, problem):
    with pytest.raises(ModelError, match=problem) as caught:
        load_model(f"openai:m?{options}")
    assert "try: " in str(caught.value)


@pytest.mark.parametrize("url", ["http://me:secret@127.0.0.1/v1", "http://127.0.0.1/v1%3Fkey=secret"])
def test_nothing_secret_stands_in_a_url(url):
    with pytest.raises(ModelError, match="key_from=NAME") as caught:
        load_model(f"openai:m?prompt=sentiment-plain&url={url}")
    assert "secret@" not in str(caught.value) and "key=secret" not in str(caught.value)


def test_a_job_is_known_by_what_is_asked_not_by_speed_money_or_key(server):
    spec = f"openai:m?url={server.url}&prompt=sentiment-plain"
    known = load_model(spec).fingerprint()
    assert (
        load_model(f"{spec}&concurrency=2&tries=3&key_from=X&price=input:1,output:1&budget=9").fingerprint()
        == known
    )
    for other in (
        "mode=generate",
        "mode=generate&seed=3",
    ):
        assert load_model(f"{spec}&{other}").fingerprint() != known
    assert load_model(spec.replace("plain", "polite")).fingerprint() != known


def test_labels_that_do_not_fit_cost_nothing(server):
    with pytest.raises(ModelError, match="the suite.s are hateful, fine"):
        model_of(server).classify(EXAMPLES, ("hateful", "fine"))
    assert server.bodies == []


def test_constrained_to_a_label(server):
    answers = model_of(server, "mode=constrained").classify(EXAMPLES, LABELS)
    assert words(answers) == SAID and set(answers.probabilities.ravel().tolist()) == {0, 1}
    schema = server.bodies[-1]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["label"]["enum"] == list(LABELS)
    server.rule = lambda question: "fine"
    assert len(model_of(server, "mode=constrained").classify(EXAMPLES, LABELS).errors) == 3
    server.schema_allowed = False
    with pytest.raises(ModelError, match="response_format is not supported"):
        model_of(server, "mode=constrained").classify(EXAMPLES, LABELS)
