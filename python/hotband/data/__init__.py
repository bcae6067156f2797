"""Floor 2: what is read, written and looked up: the catalog, documents, job files, traces, records, the store."""
