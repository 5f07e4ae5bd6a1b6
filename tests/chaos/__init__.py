"""Chaos: games played while workers and the store are killed and the network loses replies, and a checker of it all."""
