"""What to show of COOD: the answer in a sentence, the nine cells, what tells a shortcut, the epochs.

OOD cells are shown and never scored: the training data do not say what is right there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from ...core.claims import ALPHA
from ...core.errors import some
from ...core.measures import shown_interval
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
from ...models import parse_spec
from .cells import CELLS, KINDS, ROLES, Kind, cells_of, target
from .compare import SETUP, claim, setup_of
from .recipe import batch_of
from .settings import SLOT, Settings
from .verdict import HEADS, LEARNT, learnt, named

TONES: dict[Kind, Tone] = {"ID": "second", "COOD": "first", "OOD": "third"}
VERDICTS: dict[str, Tone] = {"shortcut": "bad", "combines": "good"}
"""Kind of finding to its tone; the others are in doubt."""
MEANING = {
    "ID": "combinations seen in training",
    "COOD": "unseen combinations of seen parts",
    "OOD": "word never seen in training; not scored",
}
BEYOND = "COOD minus what the shortcut alone gets"
SIGNS = {
    "gap": "ID minus COOD, in points",
    "beyond the shortcut": BEYOND,
    "shortcut reliance": "COOD answered by the text's label alone",
}
"""Measure to what it tells of a shortcut."""
SENSITIVITIES = (
    ("template sensitivity", "fst, sec", "fst, sec texts: the word turns the answer; 100 if both are read"),
    ("template sensitivity", "neu", "neu texts: the same; 0 if both are read"),
    ("signed template sensitivity", "fst", "fst texts: turned the right way less the wrong way"),
    ("signed template sensitivity", "sec", "sec texts: the same; +100 if both are read"),
)
"""Name, class of texts and meaning; the mean of the signed ones is what is beyond the shortcut."""
SHOWN_SETUPS = 6
"""How many setups of a comparison get a sentence, and their epochs shown."""
SHOWN_PAIRS = 12
"""How many pairs of setups are shown unless everything is asked for."""

Groups = Mapping[str, str]
Names = tuple[tuple[str, str], ...]
"""Groups as a key."""


def sections(
    settings: Settings, results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]
) -> list[Section]:
    """Each result by itself, or what several say together; every cell of all for those who want everything."""
    alone = [section for result in results for section in (_alone(result), _details(result))]
    shown = [_together(results, measures, findings)] if measures else alone
    return [*shown, *([_cells(results)] if results else [])]


# One job


def _alone(result: Result) -> Section:
    """The whole of one job."""
    setup: Groups = {}
    checks = [check for check in result.job.get("checks", ()) if check["ok"] is False]
    answer = [piece for finding in result.findings for piece in [*_sentence(finding), Words("\n")]]
    about = Words(", ".join(filter(None, _heading(result, setup))) + "\n", "quiet")
    blocks: list[Block] = [_matrix(result, setup), _quantities(result.measures, setup)]
    chosen = named(result.measures, "chosen epoch", setup).value
    blocks += _epochs(result.measures, setup, chosen)
    return Section(
        title=_title(result),
        text=[*answer, about],
        blocks=blocks,
        notes=_notes(result.measures, setup),
        warnings=[f"{check['name']}: {check['detail']}" for check in checks],
    )


def _details(result: Result) -> Section:
    """Return the sensitivities and answers outside the training distribution, for the full view."""
    note = (
        "95 % intervals: Wilson for a cell; bootstrap over texts for means. One checkpoint: no seed variance."
    )
    return Section(blocks=[_sensitivities(result.measures, {})], notes=[note], detail="full")


def _title(result: Result) -> Cell:
    control = result.job["settings"]["control"][0]
    words = [Words("cood of ", "quiet"), Words(str(result.job["model"]), "strong")]
    return words if control == "none" else [*words, Words(f"   control: {control}", ("strong", "doubt"))]


def _heading(result: Result, setup: Groups) -> list[str]:
    settings = result.job["settings"]
    tested = _accuracy(result.measures, setup, "fst/fst")
    chosen = named(result.measures, "chosen epoch", setup)
    reveal = settings["reveal"][0]
    return [
        f"{settings['data']}: of each class K = {settings['per_label'][0]:,} texts trained on, "
        f"{tested.n + tested.errors:,} tested",
        f"{reveal} items with the third word revealed" if reveal else "",
        _head(result),
        f"batch {batch_of(result.settings, str(result.job['model']))}" if settings.get("batch_of") else "",
        f"seed {settings['seed']}",
        f"epoch {chosen.value:.0f} of {settings['epochs']}: {chosen.facts['chosen as']}"
        if chosen.value
        else "",
    ]


def _head(result: Result) -> str:
    """Which head was trained, where one was."""
    settings = result.job["settings"]
    scheme = parse_spec(str(result.job["model"])).scheme
    if settings.get("trained") or settings["control"][0] == "majority" or scheme == "predictions":
        return ""
    return (
        "a linear head on the first state"
        if settings.get("head") == "linear"
        else "the architecture's own head"
    )


def _sentence(finding: Finding, before: str = "") -> list[Words]:
    """A finding with its first words standing out."""
    head = HEADS[finding.kind]
    tone = VERDICTS.get(finding.kind, "doubt")
    return [Words(before), Words(head, ("strong", tone)), Words(finding.text.removeprefix(head))]


def _matrix(result: Result, setup: Groups) -> Table:
    """Classes of texts down, words of templates across."""
    about = result.job["about"]
    template = str(result.job["settings"]["template"][0])
    words = [template.replace(SLOT, about["words"][t]) for t in ROLES]
    rows = []
    for y in ROLES:
        cells = [_in_matrix(_accuracy(result.measures, setup, f"{y}/{t}")) for t in ROLES]
        rows.append(Row([[Words(about["roles"][y], "strong"), Words(f" {y}", "quiet")], *cells]))
    return Table([Column("text", "left"), *(Column(word, "left") for word in words)], rows)


def _in_matrix(row: Measure) -> Number:
    kind = CELLS[row.groups["cell"]]
    return Number(row, ("strong", TONES[kind]), kind, "value and interval")


def _quantities(measures: Measures, setup: Groups) -> Table:
    """Means, and what tells a shortcut."""
    rows = []
    for kind in KINDS:
        tones: tuple[Tone, ...] = (TONES[kind],) if kind == "OOD" else ("strong", TONES[kind])
        rows.append(_quantity(kind, named(measures, "accuracy", setup, kind=kind), MEANING[kind], tones))
    rows += [_quantity(name, named(measures, name, setup), meaning) for name, meaning in SIGNS.items()]
    return _quantity_table(rows)


def _quantity_table(rows: Sequence[Row]) -> Table:
    columns = [Column("", "left"), *(Column(name) for name in ("%", "95 % CI", "n")), Column("", "left")]
    return Table(columns, rows)


def _sensitivities(measures: Measures, setup: Groups) -> Table:
    """Return how often the template's word changes the answer, and the answers for the unseen word."""
    rows = []
    shown_names: list[str] = []
    for name, y, meaning in SENSITIVITIES:
        title = "" if name in shown_names else name
        rows.append(_quantity(title, named(measures, name, setup, y=y), meaning))
        shown_names.append(name)
    for cell in cells_of("OOD"):
        row = named(measures, "said inconsistent", setup, cell=cell, kind="OOD")
        meaning = f"is {target(cell)}, unknowable from training"
        rows.append(_quantity(f"answers inconsistent {cell}", row, meaning, (TONES["OOD"],)))
    return _quantity_table(rows)


def _quantity(name: str, row: Measure, meaning: str, tones: tuple[Tone, ...] = ()) -> Row:
    numbers = [Number(row, tones), Number(row, part="interval"), Number(row, part="n")]
    return Row([Words(name, tones), *numbers, Words(meaning, "quiet")])


def _epochs(
    measures: Iterable[Measure], setup: Groups, chosen: float | None = None, title: str = ""
) -> list[Curves]:
    """The means of the three kinds after each epoch (the paper's Figure 2); nothing where there is one only."""
    rows = Measures(row for row in measures if "epoch" in row.groups)
    epochs = list(dict.fromkeys(row.groups["epoch"] for row in rows))
    if len(epochs) < 2:
        return []

    def line(label: str, name: str, tone: Tone = "", **groups: str) -> Line:
        points = [(float(epoch), named(rows, name, {**setup, **groups, "epoch": epoch})) for epoch in epochs]
        return Line(label, points, tone)

    lines = [line(kind, "accuracy", TONES[kind], kind=kind) for kind in KINDS]
    lines.append(line("validation ID", "validation accuracy", "quiet", kind="ID"))
    return [Curves("epoch", lines, marked=chosen, title=title, name="epochs")]


def _notes(measures: Measures, setup: Groups) -> list[str]:
    lines = []
    left_out = named(measures, "texts left out", setup)
    if left_out.value:
        reasons = some([f"{count:,} {why}" for why, count in left_out.facts["left out"].items()])
        lines.append(f"! Texts excluded, of {left_out.n:,}: {reasons}.")
    errors = sum(_accuracy(measures, setup, cell).errors for cell in CELLS)
    return [*lines, *([f"! {errors:,} inputs are unanswered and in no rate."] if errors else [])]


# Several jobs


def _together(results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]) -> Section:
    """A line per setup, over its seeds; models against each other; the epochs of each."""
    setups = _by_setup(measures)
    probes = [dict(setup) for setup in setups if dict(setup)["control"] == "none"][:SHOWN_SETUPS]
    blocks: list[Block] = [
        Text(_sentence(finding, f"{_in_words(finding.groups)}: "))
        for finding in findings
        if dict(finding.groups) in probes
    ]
    blocks.append(_setups(setups))
    blocks += _differences(measures)
    blocks += [_grid(setups, probes)] if probes else []
    blocks += _sizes(setups)
    for setup in probes:
        blocks += _epochs(setups[tuple(setup.items())], setup, title=f"over epochs: {_in_words(setup)}")
    heads = dict.fromkeys(filter(None, map(_head, results)))
    return Section(blocks=blocks, notes=[*_how_far(measures), *(f"trained: {head}" for head in heads)])


def _grid(setups: Mapping[Names, Measures], probes: Sequence[Groups]) -> HeatMap:
    """The nine cells of each setup over its seeds: classes of texts down, classes that the template names across."""
    cells = {}
    for block, setup in enumerate(probes):
        measures = setups[tuple(setup.items())]
        for (row, y), (column, t) in product(enumerate(ROLES), enumerate(ROLES)):
            cells[block * len(ROLES) + row, column] = _accuracy(measures, setup, f"{y}/{t}")
    rows = [(f"{y} texts", _in_words(setup)) for setup in probes for y in ROLES]
    legend = ["fst/sec and sec/fst are COOD; the column neu is OOD, not a score; the others were trained on"]
    return HeatMap(rows, [(f"says {t}", "") for t in ROLES], cells, "the nine cells", "grid", legend)


def _sizes(setups: Mapping[Names, Measures]) -> list[Curves]:
    """The three kinds over the number of texts trained on (the paper's Figure 3), a picture for each model and data."""
    by_rest: dict[Names, dict[str, Measures]] = {}
    for names, measures in setups.items():
        setup = dict(names)
        if "K" in setup and setup["control"] == "none":
            rest = tuple((name, value) for name, value in names if name != "K")
            by_rest.setdefault(rest, {})[setup["K"]] = measures
    pictures = []
    for rest, by_size in by_rest.items():
        sizes = sorted(by_size, key=int)
        lines = [
            Line(
                kind,
                [(float(k), named(by_size[k], "accuracy", {**dict(rest), "K": k}, kind=kind)) for k in sizes],
                TONES[kind],
            )
            for kind in KINDS
        ]
        about = _in_words({name: value for name, value in rest if (name, value) != ("control", "none")})
        title = ": ".join(filter(None, ("by number of texts trained on", about)))
        pictures += (
            [Curves("K, texts of each class", lines, title=title, name="sizes")] if len(sizes) > 1 else []
        )
    return pictures


def _how_far(measures: Sequence[Measure]) -> list[str]:
    """How far the numbers reach, and how their intervals were made."""
    gaps = [row for row in measures if row.name == "gap" and "seeds" in row.facts]
    lines = [claim(list(seeds)) for seeds in dict.fromkeys(tuple(row.facts["seeds"]) for row in gaps)]
    several = any(len(row.facts["seeds"]) > 1 for row in gaps)
    lines.append("intervals: new texts" + (", and new seeds by Student's t" if several else ""))
    lines += [f"beyond: {BEYOND}"]
    unseen = [row for row in Measures(measures).where("accuracy", kind="COOD") if "cell" not in row.groups]
    lines += [_of_these_runs(row) for row in unseen if row.facts.get("not estimable")]
    return [
        *lines,
        f"COOD in brackets: ID below {100 * LEARNT:.0f} %, or a cell of it below 50: too little was learnt",
    ]


def _of_these_runs(row: Measure) -> str:
    """What can be said of COOD where seeds say nothing."""
    setup = {name: row.groups[name] for name in SETUP if name in row.groups}
    between = shown_interval(replace(row, interval=tuple(row.facts["these runs"])))
    why = f"{len(row.facts['seeds'])} seeds, and nothing is excluded"
    return f"not estimable: {why}; COOD of these very runs on new texts is {between} ({_in_words(setup)})"


def _in_words(setup: Groups) -> str:
    return ", ".join(f"{name} {value}" for name, value in setup.items())


def _by_setup(measures: Iterable[Measure]) -> dict[Names, Measures]:
    setups: dict[Names, list[Measure]] = {}
    for row in measures:
        if "differs in" not in row.groups:
            setup = tuple((name, row.groups[name]) for name in SETUP if name in row.groups)
            setups.setdefault(setup, []).append(row)
    return {setup: Measures(rows) for setup, rows in setups.items()}


def _setups(setups: Mapping[Names, Measures]) -> Table:
    """A line per setup; COOD in brackets where the trained combinations were hardly learnt."""
    columns = [Column(name, "left") for name, _ in next(iter(setups))]
    columns += [Column(name) for name in ("ID", "COOD", "", "beyond", "", "gap", "OOD", "agree\non OOD")]
    rows = []
    for names, measures in setups.items():
        setup = dict(names)
        seen, unseen, third = (named(measures, "accuracy", setup, kind=kind) for kind in KINDS)
        gap, beyond = (named(measures, name, setup) for name in ("gap", "beyond the shortcut"))
        readable = learnt(measures, setup)
        rate: Cell = Number(unseen, ("strong", TONES["COOD"]))
        if not readable:
            rate = [Words("(", "quiet"), Number(unseen, "quiet"), Words(")", "quiet")]
        tone: Tone = "" if readable else "quiet"
        agree = named(measures, "agreement", setup, kind="OOD")
        rows.append(
            Row([
                *setup.values(), Number(seen, TONES["ID"]), rate, _interval(unseen), Number(beyond, tone),
                _interval(beyond), Number(gap, tone), Number(third, TONES["OOD"]), Number(agree, TONES["OOD"]),
            ])
        )  # fmt: skip
    return Table(columns, rows)


def _interval(row: Measure) -> Cell:
    return Words("not estimable", "quiet") if row.facts.get("not estimable") else Number(row, part="interval")


def _differences(measures: Sequence[Measure], shown: int = SHOWN_PAIRS) -> list[Table]:
    """A line per pair of setups that differ in one thing; marked where that is more than chance."""
    pairs: dict[Names, dict[str, Measure]] = {}
    adjusted: dict[Names, dict[str, Measure]] = {}
    for row in measures:
        if "differs in" in row.groups:
            pair = tuple((name, value) for name, value in row.groups.items() if name not in ("kind", "of"))
            rows = pairs if row.name == "difference" else adjusted if row.name == "adjusted p value" else {}
            rows.setdefault(pair, {})[row.groups.get("kind") or row.groups["of"]] = row
    if not pairs:
        return []
    wanted = ("ID", "COOD", "beyond the shortcut")
    setups = [dict(pair) for pair in pairs]
    vary = [name for name in SETUP if len({setup.get(name) for setup in setups}) > 1]
    lines = []
    for pair, by_name in list(pairs.items())[:shown]:
        setup = dict(pair)
        changed = setup["differs in"]
        beside = ", ".join(f"{name} {setup[name]}" for name in vary if name != changed)
        numbers = [_marked(by_name.get(name), adjusted.get(pair, {}).get(name)) for name in wanted]
        lines.append(Row([Words(beside, "quiet"), changed, setup[changed], setup["against"], *numbers]))
    legend = [f"▲ ▼ better, worse: adjusted p at most {ALPHA:g}".replace("0.", ".")]
    several = any(
        row.interval is None and row.value is not None for rows in pairs.values() for row in rows.values()
    )
    legend += ["no interval: one run against several says nothing of the recipes"] if several else []
    legend += [f"{len(pairs) - shown} more pairs: --json"] if len(pairs) > shown else []
    columns = [Column(name, "left") for name in ("with", "differ in", "", "against")]
    columns += [Column(name) for name in wanted]
    return [Table(columns, lines, name="differences", title="differences on the same texts", legend=legend)]


def _marked(row: Measure | None, adjusted: Measure | None) -> Cell:
    """A difference with its interval; for one run against several the difference alone."""
    if row is not None and row.interval is not None:
        most = 2.0 if row.groups.get("of") == "beyond the shortcut" else 1.0
        if row.interval[0] <= -most and row.interval[1] >= most:
            return [Number(row), Words(" not estimable", "quiet")]
    significant = row is not None and adjusted is not None and (adjusted.value or 0.0) <= ALPHA
    mark = ("▲" if (row.value or 0.0) > 0 else "▼") if row is not None and significant else ""
    return Number(row, "strong" if significant else "", mark, "value and interval")


# For computing


def _cells(results: Sequence[Result]) -> Section:
    """Every cell of every job and epoch: the one table that every other can be made of (`docs/method/cood.md` 3.5)."""
    names = ("dataset", *(name for name in SETUP if name != "data"), "seed", "epoch")
    words = (*names, "cell", "y", "t", "target", "group")
    columns = [*(Column(name, "left") for name in words), Column("n"), Column("accuracy")]
    rows = [row for result in results for row in _cell_rows(result)]
    return Section(blocks=[Table(columns, rows, name="cells")], detail="full")


def _cell_rows(result: Result) -> list[Row]:
    setup = setup_of(result)
    job = [
        setup["data"],
        *(setup[name] for name in SETUP if name != "data"),
        str(result.job["settings"]["seed"]),
    ]
    rows = []
    for row in result.measures.where("accuracy"):
        if "cell" in row.groups:
            cell = row.groups["cell"]
            words = [row.groups.get("epoch", ""), cell, *cell.split("/"), target(cell), row.groups["kind"]]
            rows.append(Row([*job, *words, Number(row, part="n"), Number(row, part="value and interval")]))
    return rows


def _accuracy(measures: Measures, setup: Groups, cell: str) -> Measure:
    return named(measures, "accuracy", setup, cell=cell, kind=CELLS[cell])
