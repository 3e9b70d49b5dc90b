"""The git repositories in an agent's project: what in them makes a person's next git run a program of the agent's.

Above: command_brain.py has them checked; the hub shows what was moved away. Below: files, and git as a program. Not
here: commits of an agent in a sandbox (worktree_git.py).
"""
