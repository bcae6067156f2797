"""Names that mean something to a terminal, to rich, to HTML, to JavaScript or to a spreadsheet."""

MARKUP = "[/] [bold red]x[/bold red] [/nothing] \\"
ESCAPES = "a\x1b]0;owned\x07\x1b[2J\x9b31mb\r\nc\u202ed"
HTML = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
TEMPLATE = "{{ 7*7 }} {0} %s ${x} :smile:"
NAMES = (MARKUP, ESCAPES, HTML, TEMPLATE, "=1+1", "\ud800", "")
# What must never reach a terminal.
ORDERS = ("\x1b", "\x07", "\x9b", "\r", "\u202e")
