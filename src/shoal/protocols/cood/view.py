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
from .wording import find_measure, has_learnt

TONES: dict[Kind, Tone] = {"ID": "second", "COOD": "first", "OOD": "third"}
VERDICTS: dict[str, Tone] = {"shortcut": "bad", "combines": "good"}
"""Kind of finding to its tone; others are in doubt."""
SHOWN_SETUPS = 6
"""Setups of a comparison with a verdict and curves over epochs."""

Groups = Mapping[str, str]
Names = tuple[tuple[str, str], ...]
"""Groups as a dictionary key."""


def sections(
    settings: Settings, results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]
) -> list[Section]:
    """Return the sections of each result, or of a comparison, and the table of all cells."""
    shown = (
        [_comparison(results, measures, findings)] if measures else [_summary(result) for result in results]
    )
    return [*shown, *([_cells(results)] if results else [])]


def _accuracy(measures: Measures, setup: Groups, cell: str) -> Measure:
    return find_measure(measures, "accuracy", setup, cell=cell, kind=CELLS[cell])


# One job


def _summary(result: Result) -> Section:
    checks = [check for check in result.job.get("checks", ()) if check["ok"] is False]
    settings, measures = result.job["settings"], result.measures
    tested, chosen = _accuracy(measures, {}, "fst/fst"), find_measure(measures, "chosen epoch", {})
    control = settings["control"][0]
    title = [Words("COOD test of ", "quiet"), Words(str(result.job["model"]), "strong")]
    title += [Words(f"   control: {control}", ("strong", "doubt"))] * (control != "none")
    about = [
        wording.about_texts(result.job, tested.n + tested.errors),
        f"seed {settings['seed']}",
    ]
    epoch = (
        f"; epoch {chosen.value:.0f} of {settings['train']['epochs']} was chosen: it is {chosen.note}"
        if chosen.value
        else ""
    )
    answer = [piece for finding in result.findings for piece in [*_sentence(finding), Words("\n")]]
    dropped = find_measure(measures, "texts left out", {})
    errors = sum(_accuracy(measures, {}, cell).errors for cell in CELLS)
    notes = [wording.excluded_texts_note(dropped)] if dropped.value else []
    return Section(
        title=title,
        text=[*answer, Words(f"{', '.join(about)}{epoch}.\n", "quiet")],
        blocks=[_matrix(result), _quantities(measures), *_epochs(measures, {}, chosen.value)],
        notes=[*notes, *([wording.unanswered_note(errors)] if errors else [])],
        warnings=[f"{check['name']}: {check['detail']}" for check in checks],
    )


def _sentence(finding: Finding, prefix: str = "") -> list[Words]:
    head = wording.HEADS[finding.kind]
    tone = VERDICTS.get(finding.kind, "doubt")
    return [Words(prefix), Words(head, ("strong", tone)), Words(finding.text.removeprefix(head))]


def _matrix(result: Result) -> Table:
    """Return the nine cells: rows are classes of texts, columns are templates."""
    about = result.job["about"]
    template = str(result.job["settings"]["template"][0])
    rows = []
    for y in ROLES:
        cells: list[Cell] = [Words(about["roles"][y], "strong")]
        for kind, t in ((CELLS[f"{y}/{t}"], t) for t in ROLES):
            row = _accuracy(result.measures, {}, f"{y}/{t}")
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
    rows = Measures(row for row in measures if "epoch" in row.groups)
    epochs = list(dict.fromkeys(row.groups["epoch"] for row in rows))
    if len(epochs) < 2:
        return []

    def line(label: str, name: str, kind: str, tone: Tone) -> Line:
        values = [find_measure(rows, name, {**setup, "epoch": epoch}, kind=kind) for epoch in epochs]
        return Line(label, list(zip(map(float, epochs), values, strict=True)), tone)

    lines = [line(kind, "accuracy", kind, TONES[kind]) for kind in KINDS]
    lines.append(line("validation ID", "validation accuracy", "ID", "quiet"))
    return [Curves("epoch", lines, marked=chosen, title=title, name="epochs")]


# Several jobs


def _comparison(
    results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]
) -> Section:
    """Return the verdicts, a row per setup over its seeds, and curves."""
    by_setup: dict[Names, list[Measure]] = {}
    for row in measures:
        names = tuple((name, row.groups[name]) for name in SETUP if name in row.groups)
        by_setup.setdefault(names, []).append(row)
    setups = {names: Measures(rows) for names, rows in by_setup.items()}
    probes = [dict(setup) for setup in setups if dict(setup)["control"] == "none"][:SHOWN_SETUPS]
    blocks: list[Block] = [
        Text(_sentence(finding, f"{_setup_name(finding.groups)}: "))
        for finding in findings
        if dict(finding.groups) in probes
    ]
    blocks.append(_setups(setups))
    blocks += [_grid(setups, probes, _class_names(results))] if probes else []
    blocks += _sizes(setups)
    for setup in probes:
        blocks += _epochs(setups[tuple(setup.items())], setup, title=f"over epochs: {_setup_name(setup)}")
    gaps = [row for row in measures if row.name == "gap" and "epoch" not in row.groups]
    several = any(row.interval_method.startswith("seeds") for row in gaps)
    notes = [*dict.fromkeys(row.note for row in gaps if row.note), wording.interval_note(several)]
    return Section(blocks=blocks, notes=notes)


def _class_names(results: Sequence[Result]) -> Groups:
    """Return the class of each role; the roles themselves where jobs differ."""
    roles = [result.job["about"]["roles"] for result in results]
    return roles[0] if all(each == roles[0] for each in roles) else {role: role for role in ROLES}


def _grid(setups: Mapping[Names, Measures], probes: Sequence[Groups], classes: Groups) -> HeatMap:
    """Return the nine cells of each setup: rows are classes of texts, columns are classes in the template."""
    cells, marks = {}, {}
    for block, setup in enumerate(probes):
        measures = setups[tuple(setup.items())]
        for (row, y), (column, t) in product(enumerate(ROLES), enumerate(ROLES)):
            place, cell = (block * len(ROLES) + row, column), f"{y}/{t}"
            cells[place], marks[place] = _accuracy(measures, setup, cell), CELLS[cell]
    rows = [(f"{classes[y]} text", _setup_name(setup)) for setup in probes for y in ROLES]
    columns = [(f"statement: {classes[t]}", "") for t in ROLES]
    return HeatMap(
        rows,
        columns,
        cells,
        "the nine combinations",
        "grid",
        ["OOD combinations are not part of the verdict"],
        marks=marks,
    )


def _setup_name(setup: Groups) -> str:
    return ", ".join(f"{name} {value}" for name, value in setup.items())


def _sizes(setups: Mapping[Names, Measures]) -> list[Curves]:
    """Return accuracy over K (the paper's Figure 3), one picture per setup without K."""
    by_rest: dict[Names, dict[float, Names]] = {}
    for names in setups:
        setup = dict(names)
        if setup["control"] == "none":
            rest = tuple((name, value) for name, value in names if name not in ("K", "control"))
            by_rest.setdefault(rest, {})[float(setup["K"])] = names
    pictures = []
    for rest, by_size in by_rest.items():
        lines = []
        for kind in KINDS:
            rows = {k: find_measure(setups[of], "accuracy", dict(of), kind=kind) for k, of in by_size.items()}
            lines.append(Line(kind, sorted(rows.items()), TONES[kind]))
        title = ": ".join(filter(None, (wording.BY_SIZE, _setup_name(dict(rest)))))
        if len(by_size) > 1:
            pictures.append(Curves("K, texts of each class", lines, title=title, name="sizes"))
    return pictures


def _setups(setups: Mapping[Names, Measures]) -> Table:
    """Return a row per setup; COOD is in brackets if the trained combinations were hardly learnt."""
    columns = [Column(name, "left") for name, _ in next(iter(setups))]
    columns += [Column(name) for name in ("ID", "COOD", "", "beyond", "", "gap", "OOD")]
    rows, legend = [], [wording.BEYOND]
    for names, measures in setups.items():
        setup = dict(names)
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
            if "cell" in row.groups:
                cell = row.groups["cell"]
                about = [
                    row.groups.get("epoch", ""),
                    cell,
                    *cell.split("/"),
                    target(cell),
                    row.groups["kind"],
                ]
                numbers = [Number(row, part="n"), Number(row, part="value and interval")]
                rows.append(Row([*job, *about, *numbers]))
    columns = [*(Column(name, "left") for name in words), Column("n"), Column("accuracy")]
    return Section(blocks=[Table(columns, rows, name="cells")], detail="full")
