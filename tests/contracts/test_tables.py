"""Every entry of every table keeps what the table promises: a new thing is tested the moment it is listed."""

import ast
import inspect
from dataclasses import fields, replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest
from small_jobs import small_job

import shoal.models as models
from shoal import RunStore, ShoalError, audit, read_plan
from shoal.core.measures import MEASURES, quantity, shown
from shoal.core.views import Section
from shoal.data import FORMATS, glimpse
from shoal.explaining import EXPLAINERS, explain
from shoal.explaining.attributions import ExplainConfig, word_spans
from shoal.models import SCHEMES, load_model
from shoal.protocols import PROTOCOLS, find_protocol
from shoal.protocols.base import differing, identity, is_random, step_of
from shoal.runs.executors import EXECUTORS, run_jobs
from shoal.runs.plan import check_plan

PACKAGE = Path(__file__).parent.parent.parent / "src" / "shoal"
SEAM = ("Settings", "parts", "title", "build", "recipe", "ask", "score", "compare", "view")
"""All that a protocol offers."""

# Protocols


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_offers_the_nine_names(name):
    module = find_protocol(name)
    assert [word for word in SEAM if not hasattr(module, word)] == []


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_setting_says_what_it_changes_and_has_words(name):
    settings = find_protocol(name).Settings()
    assert {step_of(settings, setting) for setting in fields(settings)} <= {"cases", "answers", "scoring"}
    described = {
        node.target.id
        for owner in type(settings).__mro__[:-1]
        for node, after in pairwise(ast.parse(inspect.getsource(owner)).body[0].body)  # type: ignore[attr-defined]
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    }  # fmt: skip
    assert {setting.name for setting in fields(settings)} - described == set()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_only_changes_scoring_is_not_part_of_a_jobs_identity(name):
    module = find_protocol(name)
    settings = module.Settings()
    scoring = {s.name for s in fields(settings) if step_of(settings, s) == "scoring"}
    assert scoring and not scoring & (identity(settings, "answers").keys())
    assert differing(settings) == {}
    assert differing(replace(settings, seed=7)) == {}
    assert is_random(settings, None) is False


@pytest.mark.slow
@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_measure_of_a_protocol_is_in_the_table_and_its_view_is_sections(name, tmp_path):
    model, settings = small_job(name, tmp_path)
    result = audit(name, model, **settings)
    assert [row.name for row in result.measures if row.name not in MEASURES] == []
    sections = find_protocol(name).view(result.settings, [result], (), result.findings)
    assert sections and all(isinstance(section, Section) for section in sections)
    assert len(repr(result).splitlines()) <= 8 and "<section>" in result._repr_html_()


# Models


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_scheme_has_a_loader_and_refuses_what_it_does_not_know(scheme):
    module, about = SCHEMES[scheme]
    assert about and callable(import_module(f".{module}", models.__name__).load)
    with pytest.raises(ShoalError) as caught:
        load_model(f"{scheme}:nothing-of-the-kind?nonsense=1").fingerprint()
    assert "unknown option 'nonsense'" in str(caught.value)


# Explainers and factors


@pytest.mark.parametrize("name", EXPLAINERS)
def test_an_explainer_gives_every_word_of_every_text_a_number_and_the_same_twice(name):
    assert EXPLAINERS[name][1]
    examples = [("The food was not great.",), ("An awful film",)]
    first, second = (
        explain(load_model("tiny:sentiment"), examples, name, ExplainConfig(samples=40)) for _ in range(2)
    )
    for (text,), one_time, other_time in zip(examples, first, second, strict=True):
        assert len(one_time.values) == len(one_time.units.words) == len(word_spans(text))
        assert one_time.values.tolist() == other_time.values.tolist()
        assert {"absent", "samples"} <= one_time.facts.keys()


# Suites, measures, executors


@pytest.mark.parametrize("name", FORMATS)
def test_a_suite_format_tells_its_files_by_their_looks(name, tmp_path):
    assert FORMATS[name]
    module = import_module(f"shoal.data.{name.replace('-', '_')}")
    stranger = tmp_path / "stranger.txt"
    stranger.write_text("nothing that any format knows\n")
    assert callable(module.read) and not module.fits(glimpse(stranger))


def test_a_measure_is_shown_as_its_unit_says():
    texts = {"share": "50", "p": ".500", "count": "0", "number": "0.5"}
    assert [n for n in MEASURES if texts[quantity(n).unit] not in shown(0.5, quantity(n))] == []
    assert [n for n in MEASURES if quantity(n).direction == "ideal" and quantity(n).ideal is None] == []


PLAN = """
models = ["tiny:sentiment", "predictions:example"]
[behaviour]
suite = "sentiment"
limit = 60
"""


@pytest.mark.slow
def test_every_executor_leaves_the_same_bytes(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    left = {}
    for name in EXECUTORS.keys() - {"ray"}:  # tests/runs/test_ray.py, which has a cluster for it
        jobs = check_plan(read_plan(plan))
        store = RunStore(tmp_path / name)
        ended = list(run_jobs(jobs, store, on=name, workers=2))
        assert {problem for _, problem in ended} == {None}
        left[name] = {
            path.relative_to(store.folder): path.read_bytes()
            for path in sorted(store.folder.rglob("*"))
            if path.is_file() and path.suffix != ".lock"
        }
    first, *others = left.values()
    assert len(first) > 6 and all(other == first for other in others)


# What nobody may do


ROOMS = ("runs", "render", "comparing", "models", "data", "stats", "training")


def test_neutral_rooms_name_no_protocol():
    imports = []
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module:
                    parts = node.module.split(".")
                    if "protocols" in parts and set(parts) & set(PROTOCOLS):
                        imports.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert imports == []
