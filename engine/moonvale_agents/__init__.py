"""Policies that choose an action from a view; they import the engine and nothing else."""
