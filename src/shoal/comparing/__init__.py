"""Two results side by side, and a result against rules: the same for every protocol.

    results of A and B ──► pairs ──► Comparison: differences, intervals, tests, what changed
                             quantities   what can be compared
                             sides        both on one list of cases
                             inference    an interval and a test
                             families     many rows at once

    gate.toml ──► rules ──► Rule ──┐
    result ────────────────────────┼──► judge ──► Verdict, one per rule and thing judged ──► exit code, table, JUnit
    baseline, if any ──────────────┘

A protocol only says by which groups: with the facts of its measures. Modules are imported by name; nothing is loaded
here.
"""
