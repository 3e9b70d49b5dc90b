"""Ways in for programs of others. A door knows who is speaking, asks `access`, and calls the hub like everybody."""
