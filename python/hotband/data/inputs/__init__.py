"""What a run is given: its spec, its settings, its events, checked before anything runs."""
