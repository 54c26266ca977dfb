"""Statistics of the protocols, comparisons and gates: numbers in, numbers out, with numpy and scipy only.

Outcomes are 1, 0 or NaN (not applicable). A number that cannot be computed is NaN or None, never 0. Randomness is a
numpy Generator passed in. The order of cases, clusters and functionalities changes nothing, not even the replicates.
Modules are imported by name (`from shoal.stats.intervals import wilson`); nothing is loaded here.
"""
