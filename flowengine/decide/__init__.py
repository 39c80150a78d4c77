"""Decisions: typed questions answered with probabilities."""
