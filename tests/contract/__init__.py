"""Tests of the contract and of its conversion from and to the engine."""
