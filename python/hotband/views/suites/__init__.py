"""Results of test suites: lines, charts, pages."""
