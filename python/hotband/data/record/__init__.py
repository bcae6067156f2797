"""Records: read, written, and what they say of caches, energy, repair and rounds."""
