"""Records: reading, writing, and summaries of caches, energy, repair and rounds."""
