"""Words: everything that the terminal says of cards, choices and events, in English sentences.

A person counts spots from 1; the contract counts them from 0.
"""
