"""Conversion between the engine's objects and the messages of the contract; no other module of the service knows both.

It reads only what was made for one viewer (views, events after ``seen_by``) and games that are over, never a state.
"""
