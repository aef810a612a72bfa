"""How fast pages are on a slow processor: `python -m tests.browser.vitals http://127.0.0.1:8000`.

For each page the median of several first visits (nothing cached) in Chromium, its processor slowed down: when it can be
used (what `READY` names is there), first contentful paint, time of long tasks, requests, and bytes over the network.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from statistics import median

from playwright.sync_api import Browser, sync_playwright

# Page -> what can be used once it is there.
READY = {"/": "yingda-chat textarea:enabled", "/desk": "h1", "/admin": "h1"}
_OBSERVE = """
window.longTasks = 0;
new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => { window.longTasks += duration; }))
  .observe({ type: "longtask", buffered: true });
"""
_MEASURE = """() => ({
  usable: performance.now(),
  paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
  long: window.longTasks,
})"""
COLUMNS = "usable", "paint", "long", "requests", "bytes"


def measured(browser: Browser, address: str, ready: str, throttle: float) -> dict[str, float]:
    """One first visit. Times in milliseconds."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    try:
        page = context.new_page()
        tools = context.new_cdp_session(page)
        tools.send("Network.enable")
        tools.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
        sizes: list[float] = []
        tools.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
        page.add_init_script(_OBSERVE)
        page.goto(address, wait_until="commit")
        page.locator(ready).first.wait_for()
        times: dict[str, float] = page.evaluate(_MEASURE)
        return times | {"requests": len(sizes), "bytes": sum(sizes)}
    finally:
        context.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(prog="tests.browser.vitals", description="网页在慢处理器上有多快")
    parser.add_argument("address", help="运行中的服务，例如 http://127.0.0.1:8000")
    parser.add_argument("--throttle", type=float, default=4, help="处理器慢多少倍，默认 4")
    parser.add_argument("--visits", type=int, default=5, help="每页访问几次，取中位数")
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="浏览器的位置")
    options = parser.parse_args(arguments)
    sys.stdout.write(
        "| 页面 | 可以使用 ms | 首次绘制 ms | 长任务 ms | 请求 | 字节 |\n| --- | --- | --- | --- | --- | --- |\n"
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        for path, ready in READY.items():
            visits = [measured(browser, options.address + path, ready, options.throttle) for _ in range(options.visits)]
            cells = [f"{median(visit[column] for visit in visits):,.0f}" for column in COLUMNS]
            sys.stdout.write(f"| `{path}` | {' | '.join(cells)} |\n")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
