"""What commands leave in folders of results, and how it is read again."""
