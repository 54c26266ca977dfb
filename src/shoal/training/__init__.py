"""Training: the only folder that imports optimisers.

    environments ──► loaders ──► batch ──► method ──► learner
    what to          which go    inputs    what a     clips, steps,
    train on         together    and loss  step does  decays

`config` has the shared settings, `losses` each equation in one place, `methods` one file per way to train, `loop` the
one training loop, `stage` what a protocol tells the runs, `checkpointing` what is stored on the way. `spans` is for
reading comprehension. `from_scratch` makes small models, `tiny` those that ship with the package.
"""
