"""What a prediction says of a run on hardware."""
