"""What axe-core finds on a page as it stands, shadow roots included."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

SOURCE = Path(__file__).with_name("vendor") / "axe.min.js"
_RUN = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => JSON.stringify(target)).join(" ")}`);
}"""


def serious(page: Page) -> list[str]:
    """Rules that are broken seriously, with the elements that break them; empty on a page that is fine."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(SOURCE.read_text("utf-8"))
    found: list[str] = page.evaluate(_RUN)
    return found
