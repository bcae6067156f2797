"""Floor 2: data that is read, written and looked up: the catalog, documents, job files, traces, records, the store."""
