"""`hotband ui`: Hotband in a browser, on this computer alone (docs/guides/ui.md).

`server.py` has the routes, `guard.py` access control, `uploads.py` dropped files, `form.py` reads forms, `calls.py` has
the call of the public API for each form, `command_line.py` the equivalent command, `jobs.py` the running calls,
`shown.py` the display of results, `kept.py` the data in the store, `places.py` its names in forms. The page is in
`static/`.
"""
