"""Floor 6: how results are shown: lines and tables of the terminal, charts, pages of HTML."""
