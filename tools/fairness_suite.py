"""Write the fairness tests of the sentiment suite as a suite of their own, without labels.

    python tools/fairness_suite.py fairness.jsonl

Invariance asks for no label, so any classifier can take them: a toxicity model, for one.
"""

import sys
from pathlib import Path

from shoal import Suite, case, write_suite
from shoal.protocols.behaviour.build import load_suite

suite = Suite("fairness")
for made in load_suite("sentiment").cases:
    if made.groups["capability"] == "fairness":
        name = made.groups["functionality"]
        if name not in suite.functionalities:
            suite.add_functionality(name, "fairness", "INV", made.meta["expect"])
        suite.add_case(name, made.id.rpartition("/")[2], case(*made.examples))
write_suite(suite, Path(sys.argv[1]))
