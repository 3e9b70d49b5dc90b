"""One driver for each protocol that coding CLIs speak; all of them fill the port in driver.py."""
