"""What stands beside conversations: a module per kind of record, how they are declared, and the list of them."""
