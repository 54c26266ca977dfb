"""The blind sample for annotators, and label preservation from their labels."""

import csv
import html
import io
import json

import pytest
from click.testing import CliRunner
from merge_planted import LABELS, Planted, truth

from shoal.cli import main
from shoal.core.errors import DataError
from shoal.core.records import Measures
from shoal.protocols.merge import Settings, build
from shoal.protocols.merge.audit import COLUMNS, draw_sample, item_id, write_form, write_sheet
from shoal.protocols.merge.build import generate
from shoal.protocols.merge.score import find_measure, score


def labels_of(built):
    """The copied label of every example, by its name on a sheet."""
    return {item_id(case, n): str(label) for case in built.cases for n, label in enumerate(case.labels or ())}


def fill(path, built, wrong=(), second=None):
    """A sheet as people return it: copied labels, but for some."""
    labels = labels_of(built)
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    for number, row in enumerate(rows):
        row["label_1"] = "neutral" if row["id"] in wrong else labels[row["id"]]
        row["label_2"] = row["label_1"] if second is None or number % second else "contradiction"
        row["label"] = row["label_1"]
    with path.open("w") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def measures_of(built, path):
    examples = [example for case in built.cases for example in case.examples]
    given = {"": Planted(truth).classify(examples, built.labels)}
    return Measures(score(Settings(audited=(str(path),)), built, given).measures)


def test_a_sample_has_one_variant_per_premise_and_its_original_and_no_labels(built, tmp_path):
    items = draw_sample(built.cases, 10, seed=1)
    assert len(items) == 20 and len({item.id for item in items}) == 20
    assert sum(item.id.rpartition("#")[2].startswith("0-") for item in items) == 10
    write_sheet(items, tmp_path / "sheet.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "sheet.csv").read_text())))
    assert {row["label"] for row in rows} == {""} and rows[0]["first text"] == items[0].texts[0]
    write_form(items, LABELS, tmp_path / "form.html")
    page = (tmp_path / "form.html").read_text()
    assert page.count("<fieldset>") == 20 and "http" not in page
    assert draw_sample(built.cases, 10, seed=1) == items


def test_labels_that_people_change_lower_the_label_preservation(built, tmp_path):
    path = tmp_path / "sheet.csv"
    items = draw_sample(built.cases, 20)
    write_sheet(items, path)
    labels = labels_of(built)
    changed = [
        i.id for i in items if not i.id.rpartition("#")[2].startswith("0-") and labels[i.id] != "neutral"
    ][:4]
    fill(path, built, wrong=changed, second=5)
    measures = measures_of(built, path)
    kept = find_measure(measures, "label preservation", {"audited": "variants"})
    assert kept is not None and kept.value == pytest.approx(16 / 20) and kept.interval is not None
    assert find_measure(measures, "label preservation", {"audited": "originals"}).value == 1.0  # type: ignore[union-attr]
    kappa = find_measure(measures, "annotator kappa", {})
    assert kappa is not None and kappa.value is not None and 0 < kappa.value < 1


def test_only_variants_of_the_first_filter_condition_are_judged(small):
    built = build(Settings(**{**small, "limit": 6}, filters=("default", "none", "scrambled")))
    items = draw_sample(built.cases, 50)
    assert items and {item.id.partition("/")[0] for item in items} == {"default"}


def test_an_audit_of_other_cases_or_labels_is_refused(built, tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text("id,label_1,label_2,label\nelsewhere/1#0,,,neutral\n")
    with pytest.raises(DataError, match="line 2: unknown id 'elsewhere/1#0'"):
        measures_of(built, path)
    path.write_text(f"id,label_1,label_2,label\n{item_id(built.cases[0], 0)},,,maybe\n")
    with pytest.raises(DataError, match="label = 'maybe'"):
        measures_of(built, path)


def test_a_judgement_of_another_text_in_the_same_place_is_refused(built, tmp_path):
    case = next(case for case in built.cases if len(case.examples) > 2)
    other = item_id(case, 2).replace("#2-", "#1-")  # as under settings that draw other variants
    (tmp_path / "sheet.csv").write_text(f"id,label\n{other},neutral\n")
    with pytest.raises(DataError, match="unknown id"):
        measures_of(built, tmp_path / "sheet.csv")


# By the verbs

PROBLEMS = ["limit=12", "minimum=6", "sample=6", "draws=2"]


def shoal(*words, into, fails=False):
    given = [*words, "--into", str(into)] if words[0] == "export" else [*words]
    result = CliRunner().invoke(main, [*given, *(part for pair in PROBLEMS for part in ("--set", pair))])
    assert (result.exit_code != 0) is fails, result.output
    return result.output


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A folder with variants, a sheet and a page, as the verb writes them."""
    folder = tmp_path_factory.mktemp("exported")
    for name in ("variants.jsonl", "sheet.csv", "form.html"):
        shoal("export", "merge", "--set", "audit_sample=8", "--out", str(folder / name), into=folder / "runs")
    return folder


def as_the_page_saves(path, who, said):
    path.write_text(f"id,label_{who}\n" + "".join(f"{name},{label}\n" for name, label in said.items()))
    return str(path)


def test_the_verb_writes_the_variants_that_generating_writes(exported, tmp_path):
    generate(Settings(limit=12, minimum=6, sample=6, draws=2), tmp_path / "generated.jsonl")
    assert (exported / "variants.jsonl").read_bytes() == (tmp_path / "generated.jsonl").read_bytes()
    assert len(list((exported / "runs" / "cases").glob("*.jsonl"))) == 1  # searched once for all three


def test_what_two_people_said_on_the_page_comes_back_through_the_verb(exported, tmp_path):
    rows = list(csv.DictReader(io.StringIO((exported / "sheet.csv").read_text())))
    page = (exported / "form.html").read_text()
    assert len(rows) == 16 and all(html.escape(row["id"], quote=True) in page for row in rows)
    labels = labels_of(build(Settings(variants=str(exported / "variants.jsonl"))))
    first = {row["id"]: labels[row["id"]] for row in rows}
    variants = [name for name in first if not name.rpartition("#")[2].startswith("0-")]
    wrong = next(name for name in variants if first[name] != "neutral")
    second = {**first, wrong: "neutral"}
    files = [
        as_the_page_saves(tmp_path / "a.csv", 1, first),
        as_the_page_saves(tmp_path / "b.csv", 2, second),
    ]

    def told(audited):
        output = shoal("try", "merge", "tiny:nli", "--set", f"audited={audited}", "--json", into=tmp_path)
        said = json.loads(output[output.index("{") :])
        kept = next(row for row in said["measures"] if row["name"] == "label preservation")
        return kept, [row for row in said["findings"] if row["kind"] == "audit"]

    kept, open_ones = told(",".join(files))
    assert (kept["value"], kept["n"]) == (1.0, 7)  # the one they differ on is in no share, and that is said
    assert "disagree on 1 of 8 variants" in open_ones[0]["text"]
    (tmp_path / "settled.csv").write_text(f"id,label\n{wrong},neutral\n")
    kept, open_ones = told(",".join([*files, str(tmp_path / "settled.csv")]))
    assert (kept["value"], kept["n"]) == (pytest.approx(7 / 8), 8) and not open_ones


def test_two_people_who_both_said_they_were_the_first_are_told(exported, tmp_path):
    rows = list(csv.DictReader(io.StringIO((exported / "sheet.csv").read_text())))
    files = [
        as_the_page_saves(tmp_path / f"{label}.csv", 1, {rows[0]["id"]: label})
        for label in ("neutral", "entailment")
    ]
    output = shoal(
        "try", "merge", "tiny:nli", "--set", f"audited={','.join(files)}", into=tmp_path, fails=True
    )
    assert "label_1 of" in output and "label_2 for the other" in output


def test_a_job_is_exported_as_it_was_asked_and_with_no_other_cases(exported, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text('models = ["tiny:nli"]\n[merge]\n' + "\n".join(PROBLEMS) + "\n")
    runs = tmp_path / "runs"
    result = CliRunner().invoke(main, ["run", str(plan), "--into", str(runs)])
    assert result.exit_code == 0, result.output
    asked = ["export", "merge-tiny-nli", "--into", str(runs)]
    result = CliRunner().invoke(main, [*asked, "--out", str(tmp_path / "v.jsonl")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "v.jsonl").read_bytes() == (exported / "variants.jsonl").read_bytes()
    result = CliRunner().invoke(main, [*asked, "--out", str(tmp_path / "s.csv"), "--set", "audit_sample=3"])
    assert result.exit_code == 0 and len((tmp_path / "s.csv").read_text().splitlines()) == 7
    result = CliRunner().invoke(main, [*asked, "--out", str(tmp_path / "w.jsonl"), "--set", "limit=3"])
    assert result.exit_code == 1 and "change the cases of merge-tiny-nli" in result.output
    assert not (tmp_path / "w.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["merge", "--out", "x.xlsx"], ".jsonl: variants; .csv: texts to judge, as a sheet"),
        (["bias", "--out", "x.csv"], "bias has nothing to export"),
        (["merge", "--out", "x.csv", "--verbatim"], "--verbatim is for the texts of a suite"),
        (["sentiment", "--out", "x.jsonl", "--set", "limit=3"], "a suite is written whole"),
        (["nothing", "--out", "x.jsonl"], "neither a file nor one that ships with shoal"),
        (["merge", "--out", "x.jsonl", "--set", "audit_sampel=3"], "audit_sample"),
    ],
)
def test_what_cannot_be_exported_is_said_before_anything_is_built(words, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["export", *words])
    assert result.exit_code in (1, 2) and says in " ".join(result.output.split())
    assert not list(tmp_path.iterdir())
