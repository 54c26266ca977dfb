"""Numbers in, numbers out: what the protocols, comparisons and gates compute with; numpy and scipy only.

    resampling     what clusters of cases contribute to rates and differences
    intervals      Wilson, t, chi-square, percentile; rates, means and differences of clustered cases
    seeds          means and differences of recipes over a few seeds: intervals and p
    sums           weighted sums of groups that share their clusters
    paired         exact sign test, sign flips over clusters
    limits         one-sided tests against a limit or a margin, for gates
    generalization G of two recipes over several seeds: intervals and the exchange of cases
    multiplicity   Holm, Benjamini-Hochberg, max-T
    power          the smallest difference a comparison could have found
    reliability    kappa, alpha, ICC, spread over runs against its floor, equivalence
    agreement      intervals of kappa, alpha, ICC, runs needed and the over-dispersion ratio
    association    WEAT and SEAT: effect size and its interval, exact or sampled partitions
    patterns       problems with several variants: solved, correlated, drawn
    clusters       two clusters against two labels, with their chance level
    ranking        how often a few examples order models as all of them do

Three conventions hold throughout. Outcomes are 1, 0 or NaN (not applicable); a number that cannot be
computed is NaN or None, as the function says, never 0. Randomness is a numpy Generator passed in. The
order of cases, clusters and functionalities changes nothing, not even the replicates drawn.

Modules are imported by name (`from shoal.stats.intervals import wilson`); nothing is loaded here.
"""
