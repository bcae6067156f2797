"""Is everybody refused but the page that this server gave?"""

from __future__ import annotations

import re

import pytest
from served_page import Served

TOKEN = {"x-hotband-token": "a-token-of-tests"}


def test_the_page_needs_the_token_of_its_address(served: Served) -> None:
    assert served.ask("GET", "/")[0] == 403
    assert served.ask("GET", "/?token=wrong")[0] == 403
    status, headers, body = served.ask("GET", f"/?token={served.ui.token}")
    assert (status, f'content="{served.ui.token}"' in body.decode()) == (200, True)
    cookie = headers["set-cookie"]
    assert cookie.startswith(f"hotband-{served.port}=")
    assert {"HttpOnly", "SameSite=strict"} <= {part.strip() for part in cookie.split(";")}


@pytest.mark.parametrize(
    "path", ["/static/app.js", "/api/catalog", "/api/jobs", "/api/events", "/api/dropped", "/api/jobs/run-1/report"]
)
def test_nothing_is_told_without_the_token(served: Served, path: str) -> None:
    assert served.ask("GET", path)[0] == 403
    assert served.ask("GET", path, None, {"cookie": f"hotband-{served.port}=guess"})[0] == 403


@pytest.mark.parametrize("path", ["/api/jobs", "/api/command", "/api/dropped", "/api/jobs/run-1/stop"])
def test_what_changes_something_needs_the_token_in_a_header(served: Served, path: str) -> None:
    """A form of another page sends cookies and can hold a query, but no header of its own."""
    cookie = {"cookie": f"hotband-{served.port}={served.ui.token}"}
    assert served.ask("POST", f"{path}?token={served.ui.token}", b"{}", cookie)[0] == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.nip.io:{port}", ""]
)
def test_other_names_of_this_address_are_refused(served: Served, host: str) -> None:
    """DNS rebinding: the attacker's name leads here, and the browser takes the answer for the attacker's own."""
    headers = {**TOKEN, "host": host.format(port=served.port)}
    assert served.ask("GET", "/api/catalog", None, headers)[0] == 403
    assert served.ask("GET", f"/?token={served.ui.token}", None, headers)[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}"])
def test_other_origins_are_refused_even_with_the_token(served: Served, origin: str) -> None:
    headers = {**TOKEN, "origin": origin.format(port=served.port)}
    assert served.ask("POST", "/api/command", b"{}", headers)[0] == 403
    assert served.ask("GET", "/api/catalog", None, headers)[0] == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_that_other_sites_make_are_refused(served: Served, site: str) -> None:
    """`same-site` is another port of this computer, whose pages are sent the same cookies."""
    headers = {"cookie": f"hotband-{served.port}={served.ui.token}", "sec-fetch-site": site}
    assert served.ask("GET", "/", None, headers)[0] == 403
    assert served.ask("GET", "/api/jobs", None, headers)[0] == 403
    assert served.ask("GET", f"/?token={served.ui.token}", None, {"sec-fetch-site": site})[0] == 200, "a link to it"


def test_the_page_itself_is_answered(served: Served) -> None:
    own = {**TOKEN, "origin": f"http://127.0.0.1:{served.port}", "sec-fetch-site": "same-origin"}
    assert served.ask("GET", "/api/catalog", None, own)[0] == 200
    assert served.ask("GET", "/static/app.js", None, {"cookie": f"hotband-{served.port}={served.ui.token}"})[0] == 200


def test_every_answer_has_its_headers(served: Served) -> None:
    for path in (f"/?token={served.ui.token}", "/static/app.js", "/static/none", "/api/catalog", "/api/jobs/x"):
        for headers in (TOKEN, {}):
            answer = served.ask("GET", path, None, headers)[1]
            policy = answer["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert (answer["x-content-type-options"], answer["referrer-policy"]) == ("nosniff", "no-referrer")


def test_the_page_has_no_scripts_and_styles_of_its_own_and_asks_nobody_else(served: Served) -> None:
    from hotband.faces.ui.server import STATIC

    page = (STATIC / "index.html").read_text()
    assert not re.search(r"<script(?![^>]* src=\"/static/)|<style|\sstyle=|\son\w+=", page)
    for path in STATIC.iterdir():
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        found = re.search(r"https?://|//[a-z]+\.[a-z]|innerHTML|insertAdjacent|document\.write|eval\(", text)
        assert found is None, (path.name, found)


def test_bodies_are_bounded_while_they_are_read(served: Served) -> None:
    long = b'{"kind": "run", "form": {"workload": "' + b"a" * (1 << 20) + b'"}}'
    assert served.ask("POST", "/api/jobs", long, TOKEN)[0] == 413
    assert served.ask("POST", "/api/command", long, TOKEN)[0] == 413


def test_only_loopback_is_listened_on(served: Served) -> None:
    from hotband.faces.ui import server

    assert server.HOST == "127.0.0.1"
