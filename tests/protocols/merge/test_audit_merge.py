"""The blind sample for annotators, and label preservation from their labels."""

import pytest
from click.testing import CliRunner
from merge_planted import LABELS, Planted, truth

from shoal.cli import main
from shoal.core.errors import DataError
from shoal.core.records import Measures
from shoal.protocols.merge import Settings, build
from shoal.protocols.merge.audit import draw_sample, item_id, write_form
from shoal.protocols.merge.score import find_measure, score


def labels_of(built):
    """The copied label of every example, by its name on a sheet."""
    return {item_id(case, n): str(label) for case in built.cases for n, label in enumerate(case.labels or ())}


def measures_of(built, path):
    examples = [example for case in built.cases for example in case.examples]
    given = {"": Planted(truth).classify(examples, built.labels)}
    return Measures(score(Settings(audited=(str(path),)), built, given).measures)


def test_a_sample_has_one_variant_per_premise_and_its_original_and_no_labels(built, tmp_path):
    items = draw_sample(built.cases, 10, seed=1)
    assert len(items) == 20
    assert sum(item.rpartition("#")[2].startswith("0-") for item in items) == 10
    write_form(items, LABELS, tmp_path / "form.html")
    page = (tmp_path / "form.html").read_text()
    assert page.count("<fieldset>") == 20 and "http" not in page
    assert draw_sample(built.cases, 10, seed=1) == items


def test_labels_that_people_change_lower_the_label_preservation(built, tmp_path):
    path = tmp_path / "sheet.csv"
    items = draw_sample(built.cases, 20)
    labels = labels_of(built)
    variants = [item for item in items if not item.rpartition("#")[2].startswith("0-")]
    changed = [name for name in variants if labels[name] != "neutral"][:4]
    rows = [f"{item},{'neutral' if item in changed else labels[item]}\n" for item in items]
    path.write_text("id,label\n" + "".join(rows))
    measures = measures_of(built, path)
    kept = find_measure(measures, "label preservation", {"audited": "variants"})
    assert kept is not None and kept.value == pytest.approx(16 / 20) and kept.interval is not None
    assert find_measure(measures, "label preservation", {"audited": "originals"}).value == 1.0  # type: ignore[union-attr]
    path.write_text(f"id,label\n{variants[0]},neutral\n{variants[0]},entailment\n")
    with pytest.raises(DataError, match="line 3: .* is 'entailment', but 'neutral' in another row"):
        measures_of(built, path)


def test_only_variants_of_the_first_filter_condition_are_judged(small):
    built = build(Settings(**{**small, "limit": 6}, filters=("default", "none", "scrambled")))
    items = draw_sample(built.cases, 50)
    assert items and {item.partition("/")[0] for item in items} == {"default"}


def test_an_audit_of_other_cases_or_labels_is_refused(built, tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text("id,label\nelsewhere/1#0,neutral\n")
    with pytest.raises(DataError, match="line 2: unknown id 'elsewhere/1#0'"):
        measures_of(built, path)
    case = next(case for case in built.cases if len(case.examples) > 2)
    path.write_text(f"id,label\n{item_id(case, 2).replace('#2-', '#1-')},neutral\n")  # another text
    with pytest.raises(DataError, match="unknown id"):
        measures_of(built, path)
    path.write_text(f"id,label\n{item_id(built.cases[0], 0)},maybe\n")
    with pytest.raises(DataError, match="label = 'maybe'"):
        measures_of(built, path)


# By the verbs

PROBLEMS = ["limit=12", "sample=6", "draws=2"]


def shoal(*words, into, fails=False):
    given = [*words, "--into", str(into)] if words[0] == "export" else [*words]
    result = CliRunner().invoke(main, [*given, *(part for pair in PROBLEMS for part in ("--set", pair))])
    assert (result.exit_code != 0) is fails, result.output
    return result.output


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A folder with variants and a page, as the verb writes them."""
    folder = tmp_path_factory.mktemp("exported")
    for name in ("variants.jsonl", "form.html"):
        shoal("export", "merge", "--out", str(folder / name), into=folder / "runs")
    return folder


def test_variants_and_the_page_are_searched_for_once(exported):
    assert (exported / "variants.jsonl").read_text().count('"default/') > 6
    assert len(list((exported / "runs" / "cases").glob("*.jsonl"))) == 1
    assert "<fieldset>" in (exported / "form.html").read_text()


@pytest.mark.slow
def test_a_job_is_exported_as_it_was_asked_and_with_no_other_cases(exported, tmp_path):
    plan, runs = tmp_path / "plan.toml", tmp_path / "runs"
    plan.write_text('models = ["tiny:nli"]\n[merge]\n' + "\n".join(PROBLEMS) + "\n")
    assert CliRunner().invoke(main, ["run", str(plan), "--into", str(runs)]).exit_code == 0
    asked = ["export", "merge-tiny-nli", "--into", str(runs), "--out", str(tmp_path / "v.jsonl")]
    result = CliRunner().invoke(main, [*asked, "--set", "limit=3"])
    assert result.exit_code == 1 and "has its settings" in result.output
    assert CliRunner().invoke(main, asked).exit_code == 0
    assert (tmp_path / "v.jsonl").read_bytes() == (exported / "variants.jsonl").read_bytes()
