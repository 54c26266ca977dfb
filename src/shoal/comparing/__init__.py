"""Gates for releases: a result, a file of rules, and whether every rule is met.

    gate.toml ──► Rule ──┐
    result ──────────────┼──► Verdict, one per rule and thing judged ──► exit code, table, JUnit XML
    baseline, if any ────┘

`results` finds what a user names (a model, a job, a result file), `rules` reads the file, `judge` decides, `junit`
writes what CI servers read. Modules are imported by name; nothing is loaded here.
"""
