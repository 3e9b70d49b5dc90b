"""The story, one verb per file: `scope` says what it must see, `decide` says what follows.

Every door and every host comes through here. Verbs are pure; the store loads what they ask for, folds what
they decide, writes once and commits once (stores/).
"""
