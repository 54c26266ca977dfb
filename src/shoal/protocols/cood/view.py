"""Lay out COOD: the verdict, the nine cells, gap and shortcut, the epochs.

OOD cells are shown and not scored: the training data do not determine their answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from ...core.records import Finding, Measure, Measures, Result
from ...core.views import (
    Block,
    Cell,
    Column,
    Curves,
    HeatMap,
    Line,
    Number,
    Row,
    Section,
    Table,
    Text,
    Tone,
    Words,
)
from . import wording
from .grid import CELLS, KINDS, ROLES, Kind, target
from .score import SETUP, setup_of
from .settings import SLOT, Settings
from .wording import cell_accuracy, find_measure, has_learnt

TONES: dict[Kind, Tone] = {"ID": "second", "COOD": "first", "OOD": "third"}
VERDICTS: dict[str, Tone] = {"shortcut": "bad", "combines": "good"}
"""Kind of finding to its tone; others are in doubt."""
SHOWN_SETUPS = 6
"""Setups of a comparison with a verdict and curves over epochs."""

Groups = Mapping[str, str]


def sections(
    settings: Settings, results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]
) -> list[Section]:
    """Return the sections of each result, or of a comparison, and the table of all cells."""
    shown = [_comparison(results, measures, findings)] if measures else list(map(_summary, results))
    return [*shown, *([_cells(results)] if results else [])]


# One job


def _summary(result: Result) -> Section:
    checks = [check for check in result.job.get("checks", ()) if check["ok"] is False]
    settings, measures = result.job["settings"], result.measures
    tested, chosen = cell_accuracy(measures, {}, "fst/fst"), find_measure(measures, "chosen epoch", {})
    control = settings["control"][0]
    title = [Words("COOD test of ", "quiet"), Words(str(result.job["model"]), "strong")]
    title += [Words(f"   control: {control}", ("strong", "doubt"))] * (control != "none")
    about = f"{wording.about_texts(result.job, tested.n + tested.errors)}, seed {settings['seed']}"
    if chosen.value:
        about += (
            f"; epoch {chosen.value:.0f} of {settings['train']['epochs']} was chosen: it is {chosen.note}"
        )
    answer = [piece for finding in result.findings for piece in [*_sentence(finding), Words("\n")]]
    dropped = find_measure(measures, "texts left out", {})
    errors = sum(cell_accuracy(measures, {}, cell).errors for cell in CELLS)
    notes = [wording.excluded_texts_note(dropped)] if dropped.value else []
    notes += [wording.unanswered_note(errors)] if errors else []
    return Section(
        title=title,
        text=[*answer, Words(f"{about}.\n", "quiet")],
        blocks=[_matrix(result), _quantities(measures), *_epochs(measures, {}, chosen.value)],
        notes=notes,
        warnings=[f"{check['name']}: {check['detail']}" for check in checks],
    )


def _sentence(finding: Finding, prefix: str = "") -> list[Words]:
    head, stop, rest = finding.text.partition(". ")
    tone = VERDICTS.get(finding.kind, "doubt")
    return [Words(prefix), Words(head + stop, ("strong", tone)), Words(rest)]


def _matrix(result: Result) -> Table:
    """Return the nine cells: rows are classes of texts, columns are templates."""
    about = result.job["about"]
    template = str(result.job["settings"]["template"][0])
    rows = []
    for y in ROLES:
        cells: list[Cell] = [Words(about["roles"][y], "strong")]
        for cell in (f"{y}/{t}" for t in ROLES):
            kind, row = CELLS[cell], cell_accuracy(result.measures, {}, cell)
            cells.append(Number(row, ("strong", TONES[kind]), kind, "value and interval"))
        rows.append(Row(cells))
    titles = ["text is …", *(template.replace(SLOT, about["words"][t]) for t in ROLES)]
    return Table([Column(title, "left") for title in titles], rows)


def _quantities(measures: Measures) -> Table:
    """Return the three means, the gap and what is right beyond the shortcut."""
    rows = []
    for name in wording.MEANING:
        row = find_measure(measures, name, {})
        tones: tuple[Tone, ...] = ()
        if name in KINDS:
            row = find_measure(measures, "accuracy", {}, kind=name)
            tones = (TONES["OOD"],) if name == "OOD" else ("strong", TONES[name])
        numbers = [Number(row, tones), Number(row, part="interval"), Number(row, part="n")]
        rows.append(Row([Words(name, tones), *numbers, Words(wording.MEANING[name], "quiet")]))
    columns = [Column("", "left"), *(Column(name) for name in ("%", "95 % CI", "n")), Column("", "left")]
    return Table(columns, rows)


def _epochs(
    measures: Iterable[Measure], setup: Groups, chosen: float | None = None, title: str = ""
) -> list[Curves]:
    """Return the means after each epoch (the paper's Figure 2); nothing for a single epoch."""
    rows = Measures(row for row in measures if "epoch" in row.groups and setup.items() <= row.groups.items())
    epochs = list(dict.fromkeys(row.groups["epoch"] for row in rows))
    curves: list[tuple[str, str, str, Tone]] = [(kind, "accuracy", kind, TONES[kind]) for kind in KINDS]
    curves.append(("validation ID", "validation accuracy", "ID", "quiet"))
    lines = []
    for label, name, kind, tone in curves:
        values = [find_measure(rows, name, {**setup, "epoch": epoch}, kind=kind) for epoch in epochs]
        lines.append(Line(label, list(zip(map(float, epochs), values, strict=True)), tone))
    return [Curves("epoch", lines, marked=chosen, title=title, name="epochs")] if len(epochs) > 1 else []


# Several jobs


def _comparison(
    results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]
) -> Section:
    """Return the verdicts, a row per setup over its seeds, and curves."""
    rows = Measures(row for row in measures if "epoch" not in row.groups)
    setups = [dict(finding.groups) for finding in findings]
    judged = [finding for finding in findings if finding.groups["control"] == "none"]
    answer = wording.overall([finding.kind for finding in judged]) if len(judged) > 1 else ""
    shown = judged[:SHOWN_SETUPS]
    probes = [dict(finding.groups) for finding in shown]
    blocks: list[Block] = [Text(_sentence(each, f"{_setup_name(each.groups)}: ")) for each in shown]
    blocks.append(_setups(rows, setups))
    roles = [result.job["about"]["roles"] for result in results]
    classes = roles[0] if all(each == roles[0] for each in roles) else {role: role for role in ROLES}
    blocks += [_grid(rows, probes, classes)] if probes else []
    blocks += _sizes(rows, setups)
    for setup in probes:
        blocks += _epochs(measures, setup, title=f"over epochs: {_setup_name(setup)}")
    gaps = rows.where("gap")
    several = any(row.interval_method.startswith("seeds") for row in gaps)
    claims = [row.note for row in [row for row in gaps if row.groups in probes] or gaps if row.note]
    notes = [*dict.fromkeys(claims), wording.interval_note(several)]
    return Section(text=Words(answer, "strong"), blocks=blocks, notes=notes)


def _grid(measures: Measures, probes: Sequence[Groups], classes: Groups) -> HeatMap:
    """Return the nine cells of each setup: rows are classes of texts, columns are classes in the template."""
    cells, marks = {}, {}
    for row, (setup, y) in enumerate(product(probes, ROLES)):
        for column, t in enumerate(ROLES):
            cells[row, column] = cell_accuracy(measures, setup, f"{y}/{t}")
            marks[row, column] = CELLS[f"{y}/{t}"]
    rows = [(f"{classes[y]} text", _setup_name(setup)) for setup in probes for y in ROLES]
    columns = [(f"statement: {classes[t]}", "") for t in ROLES]
    notes = ["OOD combinations are not part of the verdict"]
    return HeatMap(rows, columns, cells, "the nine combinations", "grid", notes, marks=marks)


def _setup_name(setup: Groups) -> str:
    names = {name: value for name, value in setup.items() if (name, value) != ("control", "none")}
    return ", ".join(f"{value} texts" if name == "K" else f"{name} {value}" for name, value in names.items())


def _sizes(measures: Measures, setups: Sequence[Groups]) -> list[Curves]:
    """Return accuracy over K (the paper's Figure 3), one picture per setup without K."""
    by_rest: dict[str, list[Groups]] = {}
    for setup in setups:
        if setup["control"] == "none":
            rest = {name: value for name, value in setup.items() if name not in ("K", "control")}
            by_rest.setdefault(_setup_name(rest), []).append(setup)
    pictures = []
    for rest_name, alike in by_rest.items():
        lines = []
        for kind in KINDS:
            values = {float(each["K"]): find_measure(measures, "accuracy", each, kind=kind) for each in alike}
            lines.append(Line(kind, sorted(values.items()), TONES[kind]))
        title = ": ".join(filter(None, (wording.BY_SIZE, rest_name)))
        if len(alike) > 1:
            pictures.append(Curves("K, texts of each class", lines, title=title, name="sizes"))
    return pictures


def _setups(measures: Measures, setups: Sequence[Groups]) -> Table:
    """Return a row per setup; COOD is in brackets if the trained combinations were hardly learnt."""
    columns = [Column(name, "left") for name in setups[0]]
    columns += [Column(name) for name in ("ID", "COOD", "", "beyond", "", "gap", "OOD")]
    rows, legend = [], [wording.BEYOND]
    for setup in setups:
        seen, unseen, third = (find_measure(measures, "accuracy", setup, kind=kind) for kind in KINDS)
        gap, beyond = (find_measure(measures, name, setup) for name in ("gap", "beyond the shortcut"))
        readable = has_learnt(measures, setup)
        rate: Cell = Number(unseen, ("strong", TONES["COOD"]))
        if not readable:
            rate = [Words("(", "quiet"), Number(unseen, "quiet"), Words(")", "quiet")]
            legend = [wording.BEYOND, wording.BRACKETS]
        tone: Tone = "" if readable else "quiet"
        rows.append(
            Row([
                *setup.values(), Number(seen, TONES["ID"]), rate, Number(unseen, part="interval"), Number(beyond, tone),
                Number(beyond, part="interval"), Number(gap, tone), Number(third, TONES["OOD"]),
            ])
        )  # fmt: skip
    return Table(columns, rows, legend=legend)


# Data of all cells


def _cells(results: Sequence[Result]) -> Section:
    """Return every cell of every job and epoch, from which all other tables follow (`docs/method/cood.md` 3.5)."""
    setup_names = [name for name in SETUP if name != "data"]
    words = ("dataset", *setup_names, "seed", "epoch", "cell", "y", "t", "target", "group")
    rows = []
    for result in results:
        setup = setup_of(result)
        job = [setup["data"], *(setup[name] for name in setup_names), str(result.job["settings"]["seed"])]
        for row in result.measures.where("accuracy"):
            if cell := row.groups.get("cell"):
                epoch = row.groups.get("epoch", "")
                numbers = [Number(row, part="n"), Number(row, part="value and interval")]
                rows.append(
                    Row([*job, epoch, cell, *cell.split("/"), target(cell), row.groups["kind"], *numbers])
                )
    columns = [*(Column(name, "left") for name in words), Column("n"), Column("accuracy")]
    return Section(blocks=[Table(columns, rows, name="cells")], detail="full")
