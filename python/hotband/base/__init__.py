"""Floor 1, the ground: errors, numbers and units, text, files and their formats. Nothing in it depends on storage."""
