"""Commands that run or examine processes: up, agent start, doctor, and what bare `moot` says."""
