"""Training: the only folder that imports optimisers.

loop.py   the one training loop
tiny.py   the small models that ship with the package, built and trained from nothing
"""
