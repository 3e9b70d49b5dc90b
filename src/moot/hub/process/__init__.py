"""One process among those on a home: the lock, the socket, the peers, daemons, upkeep."""
