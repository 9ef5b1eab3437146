"""Other people's tools that do the same work: installed outside the clone, measured beside us."""
