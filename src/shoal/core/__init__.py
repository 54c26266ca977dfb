"""What every other package builds on: records, measures, views, errors, files and text."""
