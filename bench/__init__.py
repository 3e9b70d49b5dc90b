"""The measurements of Moot: ratios against a limit and peers, taken in one run."""
