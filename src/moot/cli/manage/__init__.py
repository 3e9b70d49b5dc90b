"""Commands that change what there is: conversations, groups, agents, keys, settings."""
