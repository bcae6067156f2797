"""fio's results, logs and histograms as records: `importer` reads, the others are its parts (docs/guides/import.md)."""
