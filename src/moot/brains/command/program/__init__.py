"""Programs as the drivers run them: under a keeper, over pipes, with Moot's tools beside. Nothing here knows turns."""
