"""Endpoints that attack: no traceback, no key on screen or disk, readable answers, bounded waits."""

import base64
import json
import logging
import stat
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("aiohttp", reason="needs shoal[llm]")

from hostile_server import ATTACKS, attacking

from shoal import RunStore, load_model, read_plan
from shoal.cli import main
from shoal.core.errors import ModelError
from shoal.models.prompted import client
from shoal.models.prompted.client import PATIENCE, retry_after
from shoal.models.prompted.response import MASK, clean
from shoal.models.prompted.spending import read_spending

KEY = "sk-planted-0123456789-abcdefghij-KLMN"
ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in KEY}
LABELS = ("negative", "neutral", "positive")
HARMLESS = tuple(name for name in ATTACKS if name.startswith("usage") or name == "surrogate")
ANSWERED = (
    *HARMLESS,
    *(f"key-in-{place}" for place in ("content", "fingerprint", "finish", "model", "token")),
    "key-encoded",
)
"""Attacks after which the answer is still one."""
IN_THE_MIDDLE = ("key-in-500", "nan", "drip", "retry-1e10", "deep")
"""Attacks that also begin when answers are stored already."""


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("PLANTED", KEY)
    monkeypatch.setattr(client, "FIRST_WAIT", 0.01)
    with attacking() as running:
        yield running


def plan_of(folder, server, attack, more=""):
    spec = f"openai:{attack}?url={server.url}&key_from=PLANTED&prompt=sentiment-plain&timeout=0.6&tries=2&again=2{more}"
    (folder / "plan.toml").write_text(
        f'models = ["{spec}"]\n[behaviour]\nsuite = "sentiment"\nlimit = 6\nresamples = 10\n'
    )
    return folder / "plan.toml"


def run(plan):
    done = CliRunner().invoke(main, ["run", str(plan), "--into", str(plan.parent / "runs")])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "Traceback" not in done.output and "see error.txt" not in done.output
    assert not holds_key("".join(done.output.split()))  # wherever lines were wrapped
    return done


def holds_key(text):
    """Whether sixteen characters of the key in a row are in a text."""
    return any(KEY[at : at + 16] in text for at in range(len(KEY) - 15))


def check_files(folder):
    for path in filter(Path.is_file, folder.rglob("*")):
        text = path.read_bytes().decode()  # UTF-8 throughout
        assert not holds_key(text), path
        assert "Traceback" not in text, path
        if path.suffix == ".jsonl":
            for line in text.splitlines():
                json.loads(line, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("attack", "polite"), [*((attack, 0) for attack in ATTACKS), *((attack, 20) for attack in IN_THE_MIDDLE)]
)
def test_a_run_survives_every_attack_and_resumes(server, tmp_path, attack, polite):
    server.polite = polite
    plan, began = plan_of(tmp_path, server, attack), time.monotonic()
    first = run(plan)
    assert time.monotonic() - began < 15
    if attack in ANSWERED:
        assert first.exit_code == 0
    elif not polite:
        assert first.exit_code == 1 and "try:" in first.output
    check_files(tmp_path)
    server.attacks = 0
    again = CliRunner().invoke(main, ["run", str(plan), "--into", str(tmp_path / "runs"), "--retry-errors"])
    assert again.exit_code == 0
    check_files(tmp_path)
    (job,) = read_plan(plan).jobs()
    rows = list(RunStore(tmp_path / "runs").answers(job.id))
    assert rows and not any(row.error for row in rows)


def model_of(server, attack, *options):
    model = load_model(
        "&".join([f"openai:{attack}?url={server.url}&key_from=PLANTED&prompt=sentiment-plain", *options])
    )
    model.waits = []

    async def sleep(seconds):
        model.waits.append(seconds)

    model.client._sleep = sleep
    return model


@pytest.mark.parametrize("attack", ["nan", "token-twice", "mass-above-1", "deep", "bomb", "endless"])
def test_a_malformed_response_is_retried(server, attack):
    server.attacks = 1
    answers = model_of(server, attack).classify([("A great film.",)], LABELS)
    assert not answers.errors and answers.labels[answers.predictions[0]] == "positive"


def test_tokens_that_differ_by_a_space_are_summed(server):
    server.tokens = [("pos", 0.5), (" pos", 0.4), ("neg", 0.1)]
    answers = model_of(server, "fake").classify([("x",)], LABELS)
    assert answers.probabilities[0] == pytest.approx([0.1, 0, 0.9])


@pytest.mark.parametrize("attack", [name for name in ATTACKS if name.startswith("usage")])
def test_invalid_usage_is_estimated_counted_and_reported(server, tmp_path, attack):
    run(plan_of(tmp_path, server, attack, "&price=input:1,output:1&budget=1"))
    (job,) = read_plan(tmp_path / "plan.toml").jobs()
    store = RunStore(tmp_path / "runs")
    spent = store.spent(job.id)
    assert spent["estimated"] == spent["requests"] > 6 and spent["input"] > 30 * spent["requests"]
    checks = {check["name"]: check["detail"] for check in store.read_checks(job.id)}
    assert checks["token counts of the server"].startswith(f"missing or invalid in {spent['requests']} of")


def test_a_redirect_is_an_error_and_nothing_is_sent_there(server):
    with pytest.raises(ModelError, match=r"redirects to another address \(307\)"):
        model_of(server, "redirect").classify([("A secret text.",)], LABELS)
    assert server.elsewhere == []


def test_a_request_is_bounded_as_a_whole(server):
    began = time.monotonic()
    with pytest.raises(ModelError, match="no complete response within 0.5 s"):
        model_of(server, "drip", "timeout=0.5").classify([("x",)], LABELS)
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("attack", [name for name in ATTACKS if name.startswith("retry")])
def test_waits_stay_bounded_whatever_the_server_asks_for(server, attack):
    model = model_of(server, attack, "tries=5", "mode=generate")
    server.polite = 1
    assert model.classify([("x",)], LABELS).errors
    assert len(model.waits) == 4 and sum(model.waits) < 60


def test_a_long_pause_that_makes_sense_stops_the_job():
    assert retry_after("3600") == 3600 > PATIENCE and retry_after("90000") is None
    with attacking() as server:
        server.troubles = [(429, {"retry_after": "3600"}, "daily limit")]
        with pytest.raises(ModelError, match="pause of 3,600 s[\\s\\S]*daily limit"):
            load_model(f"openai:m?url={server.url}&prompt=sentiment-plain").classify([("x",)], LABELS)


@pytest.mark.parametrize(
    "url",
    ["http://[::1/v1", "http://host:port/v1", "http://host:99999/v1", "http://ho st/v1", "http:///v1", "//x", "http://a\x00b/"],
)  # fmt: skip
def test_bad_urls_are_a_clear_error(url):
    with pytest.raises(ModelError, match="url=.*[\\s\\S]*try: url=http://127.0.0.1:8000/v1"):
        load_model(f"openai:m?url={url}&prompt=sentiment-plain")


def test_stores_of_endpoints_are_for_their_owner_only(server, tmp_path):
    run(plan_of(tmp_path, server, "fake"))
    for path in [tmp_path / "runs", *(tmp_path / "runs").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    (tmp_path / "other").mkdir()
    assert stat.S_IMODE((tmp_path / "other").stat().st_mode) != 0o700, "only while the plan runs"


def test_short_keys_are_placeholders_and_do_not_change_answers():
    assert clean("none of them", "none") == "none of them"
    assert clean(f"a {KEY}{KEY} b {KEY[:11]}", KEY) == f"a {MASK}{MASK} b {KEY[:11]}"


@pytest.mark.parametrize(
    "disguise",
    [
        KEY.swapcase(),
        "\u200b".join(KEY),
        f"{KEY[:11]}\n{KEY[11:22]}\n{KEY[22:]}",
        KEY.encode().hex(" "),
        base64.urlsafe_b64encode(b"to" + KEY.encode()).decode(),
    ],
)
def test_a_disguised_key_is_masked(disguise):
    assert MASK in clean(f"the key {disguise} is wrong", KEY)


def test_escapes_do_not_hide_the_key():
    for escaped in ("".join(f"&#{ord(letter)};" for letter in KEY), json.dumps(KEY).translate(ESCAPED)):
        assert MASK in clean(f"<p>{escaped}</p>", KEY)


def test_a_cookie_that_cannot_be_read_is_not_logged(server, caplog):
    model_of(server, "fake").classify([("good",)], LABELS)
    logging.getLogger("aiohttp.client").warning("Can not load cookies: Illegal cookie name %r", KEY)
    assert not caplog.records


@pytest.mark.parametrize("line", ['{"input": 1e308, "output": 1e308}', '{"input": -9, "output": 9}'])
def test_impossible_token_counts_in_a_spending_file_are_ignored(tmp_path, line):
    (tmp_path / "spent.jsonl").write_text(f'{line}\n{line}\n{{"input": 3, "output": 4}}\n')
    assert read_spending(tmp_path / "spent.jsonl") == {"input": 3, "output": 4, "requests": 1, "estimated": 0}
