"""Run the command line as `python -m shoal`."""

from .cli import main

main()
