from __future__ import annotations

import re

from scripts.site_hooks import MARK, ROOT, on_page_markdown, read_changelog


def test_links_of_the_changelog_lead_to_pages_of_the_site() -> None:
    targets = {target for target in re.findall(r"\]\(([^)#\s]+)", read_changelog()) if "://" not in target}
    assert targets
    assert {target for target in targets if not ROOT.joinpath("docs", target).is_file()} == set()


def test_the_changelog_stands_where_a_page_asks_for_it() -> None:
    assert on_page_markdown("# 一页") == "# 一页"
    assert on_page_markdown(f"# 更新记录\n\n{MARK}").startswith("# 更新记录\n\n## [Unreleased]")
