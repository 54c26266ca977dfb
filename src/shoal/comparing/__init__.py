"""Two results side by side, and a result against rules: the same for every protocol.

    results of A and B ──► pairs ──► Comparison: differences, intervals, tests, changed cases
                             cases       comparable measures, both sides on one list of cases
                             inference   rows: interval, test and power of a difference; p of many rows
                             unpaired    the same of a result file, which has rates only

    gate.toml ──► rules ──► Rule ──┐
    result ────────────────────────┼──► gate, bounds ──► Verdict, one per rule and group ──► exit code, table, JUnit
    baseline, if any ──────────────┘

`power` plans sample sizes, `wording` has the sentences, `view` lays them out. A protocol describes its measures by
their `Basis`. Modules are imported by name; nothing is loaded here.
"""
