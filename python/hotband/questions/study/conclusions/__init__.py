"""Claims, findings, further figures and the answer of a study, as its `conclusions.toml` states them."""
