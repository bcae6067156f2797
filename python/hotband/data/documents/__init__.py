"""Types of JSON documents: each names the keys that its writer writes and its readers read."""
