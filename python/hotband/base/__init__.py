"""Floor 1, the ground: errors, numbers and units, text, files and their formats. It knows nothing of storage."""
