"""`python -m moot`: the same as `moot`."""

from moot.cli import main

if __name__ == "__main__":
    main()
