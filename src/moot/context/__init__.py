"""What an agent is given: its own exact view of one conversation, cheap to keep and open to inspection.

`window` says which messages, `frames` how another's words are shown, `closing` whose turn it is, `templates` and
`identity` who the agent is; `given` puts them together, and makes the same again for the inspector.
"""
