"""`hotband ui`: Hotband in a browser, on this computer alone (docs/guides/ui.md).

`server.py` has the routes, `guard.py` access control, `uploads.py` dropped files, `form.py` reads forms,
`calls.py` is the call of the public API that each of them is, `command_line.py` the same as a command, `jobs.py` calls
under way, `shown.py` what is shown of a result, `kept.py` what stays in the store, `places.py` how forms name it. The
page is in `static/`.
"""
