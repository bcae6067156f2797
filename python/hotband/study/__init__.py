"""Studies: run what a published evaluation ran, print published beside predicted, say what cannot be right."""
