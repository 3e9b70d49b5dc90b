"""One driver for each protocol that coding CLIs speak; all of them implement the port in driver.py."""
