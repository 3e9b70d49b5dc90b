"""Ways in for other programs. A door knows who is speaking, authorises it (`access`), and calls the hub like any other
caller."""
