"""Resolvers: named async sources of values."""
