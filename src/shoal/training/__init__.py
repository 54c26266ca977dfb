"""Training: the only folder that imports optimisers.

    environments ──► loaders ──► batch ──► method ──► stepper
    what is          which go    inputs    what a     clips, steps,
    trained on       together    and loss  step does  decays

how.py           learning rate, batch, epochs
environments.py  items of four kinds, gathered into environments
losses.py        each equation in one place
batch.py         inputs from one environment, and their loss
loaders.py       from items to the batches of an epoch
spans.py         reading comprehension: windows, answers as tokens, pairs aligned
stepper.py       the optimiser behind one button
methods/         the ways to train, one file each
loop.py          the one training loop
stage.py         what a protocol says about training
search.py        settings that are found by trying
features.py      what a frozen encoder makes of texts, in a file
tiny.py          the small models that ship with the package, built and trained from nothing
"""
