"""Studies on real programs: the same program on two emulated machines that differ in one respect, compared with the
study's model and its publication (docs/guides/studies.md)."""
