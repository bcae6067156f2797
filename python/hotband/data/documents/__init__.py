"""What JSON documents hold, as types: each names the keys that its writer writes and its readers read."""
