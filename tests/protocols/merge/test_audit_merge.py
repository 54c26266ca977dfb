"""A sample for people, blind; and what their labels do to the numbers."""

import csv
import io

import pytest
from merge_planted import LABELS, Planted, truth

from shoal.errors import DataError
from shoal.protocols.merge import Settings
from shoal.protocols.merge.audit import COLUMNS, draw_sample, join_sheets, write_form, write_sheet
from shoal.protocols.merge.score import named, score
from shoal.records import Measures


def fill(path, built, wrong=(), second=None):
    """A sheet as people return it: copied labels, but for some."""
    labels = {
        f"{case.id}#{n}": str(label) for case in built.cases for n, label in enumerate(case.labels or ())
    }
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
    return Measures(score(Settings(audited=str(path)), built, given).measures)


def test_a_sample_has_one_variant_per_premise_and_its_original_and_no_labels(built, tmp_path):
    items = draw_sample(built.cases, 10, seed=1)
    assert len(items) == 20 and len({item.id for item in items}) == 20
    assert sum(item.id.endswith("#0") for item in items) == 10
    write_sheet(items, tmp_path / "sheet.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "sheet.csv").read_text())))
    assert {row["label"] for row in rows} == {""} and rows[0]["first text"] == items[0].texts[0]
    write_form(items, LABELS, tmp_path / "form.html")
    page = (tmp_path / "form.html").read_text()
    assert page.count("<fieldset>") == 20 and "http" not in page
    assert draw_sample(built.cases, 10, seed=1) == items


def test_two_peoples_files_become_one_sheet(tmp_path):
    (tmp_path / "a.csv").write_text("id,label_1\ndefault/1#0,neutral\ndefault/1#2,entailment\n")
    (tmp_path / "b.csv").write_text("id,label_2\ndefault/1#0,neutral\n")
    join_sheets([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "both.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "both.csv").read_text())))
    assert [(row["id"], row["label_1"], row["label_2"]) for row in rows] == [
        ("default/1#0", "neutral", "neutral"),
        ("default/1#2", "entailment", ""),
    ]


def test_labels_that_people_change_change_the_accuracy(built, tmp_path):
    path = tmp_path / "sheet.csv"
    items = draw_sample(built.cases, 20)
    write_sheet(items, path)
    labels = {f"{case.id}#{n}": label for case in built.cases for n, label in enumerate(case.labels or ())}
    changed = [i.id for i in items if not i.id.endswith("#0") and labels[i.id] != "neutral"][:4]
    fill(path, built, wrong=changed, second=5)
    measures = measures_of(built, path)
    kept = named(measures, "label preservation", {"audited": "variants"})
    assert kept is not None and kept.value == pytest.approx(16 / 20) and kept.interval is not None
    assert named(measures, "label preservation", {"audited": "originals"}).value == 1.0  # type: ignore[union-attr]
    # The planted model is right by the copied labels: by people's it is wrong wherever these changed.
    assert named(measures, "audited sample accuracy", {}).value == pytest.approx(0.8)  # type: ignore[union-attr]
    kappa = named(measures, "annotator kappa", {})
    assert kappa is not None and kappa.value is not None and 0 < kappa.value < 1
    perfect = named(measures, "pattern accuracy of a perfect model", {"threshold": "1"})
    assert perfect is not None and perfect.value == pytest.approx(0.8**20)


def test_an_audit_of_other_cases_or_labels_is_refused(built, tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text("id,label_1,label_2,label\nelsewhere/1#0,,,neutral\n")
    with pytest.raises(DataError, match="line 2: id 'elsewhere/1#0' is none of these cases"):
        measures_of(built, path)
    path.write_text(f"id,label_1,label_2,label\n{built.cases[0].id}#0,,,maybe\n")
    with pytest.raises(DataError, match="label = 'maybe'"):
        measures_of(built, path)
