"""Looking after the hub over HTTP: where things stand, processes, role files, settings, logs."""
