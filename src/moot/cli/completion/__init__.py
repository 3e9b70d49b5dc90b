"""Shell completion: the script for a shell, and the answers it asks for."""
