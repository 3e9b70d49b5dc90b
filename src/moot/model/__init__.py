"""The nouns of Moot: frozen values with no behaviour beyond what their own fields say.

Everything imports this package; it imports nothing of Moot. There is no IO and no clock here.
"""
