"""Floor 5: what people ask: a question goes in, a result with exact values comes out."""
