"""Makes the sample business database in DATA_DIR: `python scripts/seed_business.py`, `--url postgresql://…` elsewhere.

Run again for fresh data; a database with tables of its own is left alone.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agents.business.sample.database import seed_database
from agents.errors import BusinessUnavailable
from app.private import keep_private
from app.settings import load_settings
from knowledge.errors import InvalidConfiguration

FILE = "business.sqlite3"
SHOWN = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0, or 2 for a place that cannot be used."""
    parser = argparse.ArgumentParser(prog="scripts/seed_business.py", description="生成示例业务库")
    parser.add_argument("--url", help=f"SQLAlchemy 地址，默认是 DATA_DIR 下的 {FILE}")
    parser.add_argument("--today", type=date.fromisoformat, default=None, help="数据到哪一天为止，默认今天")
    options = parser.parse_args(arguments)
    try:
        url = options.url or _get_default_url()
        rows = asyncio.run(seed_database(url, options.today or date.today()))
    except (InvalidConfiguration, BusinessUnavailable) as error:
        print(error, file=sys.stderr)
        return 2
    counts = "，".join(f"{name} {len(entries)}" for name, entries in rows.items() if len(entries) > 1)
    print(f"示例业务库已生成：{counts}")
    if not options.url:
        print(f"启动服务时设 BUSINESS_DATABASE_URL={url}")
    for member in (*rows["members"][:SHOWN], rows["members"][-1]):
        orders = sum(order["member_id"] == member["id"] for order in rows["orders"])
        print(f"会员 {member['id']}：{orders} 笔订单，{member['points']} 笙豆")
    return 0


def _get_default_url() -> str:
    """The address of the database in DATA_DIR. Raises InvalidConfiguration."""
    folder = load_settings().data_dir
    keep_private(folder)
    return f"sqlite:///{(folder / FILE).as_posix()}"


if __name__ == "__main__":
    raise SystemExit(main())
