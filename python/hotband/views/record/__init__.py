"""Views of records in notebooks."""
