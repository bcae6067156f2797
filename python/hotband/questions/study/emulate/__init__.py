"""Studies on real programs: the same program on two emulated machines that differ in one thing, beside what the study's
model and its publication say of that (docs/guides/studies.md)."""
