"""Floor 5: questions of users: a question goes in, a result with exact values comes out."""
