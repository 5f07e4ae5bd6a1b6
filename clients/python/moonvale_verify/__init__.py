"""The verifier of shuffles: one file, ``verify.py``, that needs nothing but the standard library and shares no code."""
