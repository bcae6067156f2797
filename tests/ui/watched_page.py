"""A page in a browser that notes what it says, requests and fails in."""

from __future__ import annotations

from typing import Any

PATIENCE_MS = 120_000
"""Time after which a page that does not react is a fault: on an idle computer it reacts within a second."""


class Watched:
    """A page with everything that it said, requested and failed in."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: self.asked.append(request.url))

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.wait_for_selector("body[data-ready]")

    def go(self, view: str) -> None:
        self.page.evaluate(f"location.hash = '{view}'")
        self.page.wait_for_selector(f"body[data-view='{view}'] h1")

    def run(self, machine: str, duration: str) -> str:
        """Fills the form, runs it with the keyboard, and waits until the job is there; its id."""
        self.go("run")
        self.page.get_by_label("Measured time").fill(duration)
        drive = self.page.locator(".machine .drive").first
        drive.fill(machine)
        before = self.page.locator(".out .state").text_content() if self.page.locator(".out .state").count() else ""
        drive.press("Enter")
        self.page.wait_for_function(
            "before => { const now = document.querySelector('.out .state')?.textContent;"
            " return now && now.split(' ')[0] !== before; }",
            arg=(before or "").split(" ")[0],
        )
        return str(self.page.locator(".out .state").text_content()).split(" ")[0]

    def ended(self, state: str = "done") -> None:
        self.page.wait_for_selector(f".out .job[data-state={state}]")

    def leave(self) -> None:
        """Close the page and its popups for the next test, which sees nothing of them: the page stores nothing."""
        for page in self.page.context.pages:
            if page is not self.page:
                page.close()
        self.page.goto("about:blank")
        self.said.clear()
        self.asked.clear()
