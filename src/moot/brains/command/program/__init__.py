"""How the drivers run programs: under a keeper, over pipes, with Moot's tools. Nothing here knows turns."""
