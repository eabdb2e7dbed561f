#!/usr/bin/env python3
"""Writes a combined log: Zipf-like clients, 500 requests a second, completion order a little off.

  bench/make_log.py LINES KEYS >access.log     The same arguments always give the same log.
"""
import random
import sys
import time

PATHS = ["/", "/index.html", "/api/v1/items?page=%d", "/api/v1/items/%d", "/static/app.%d.js", "/login"]
AGENTS = ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36",
          "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15", "curl/8.4.0"]


def main():
    lines, keys = int(sys.argv[1]), int(sys.argv[2])
    draw = random.Random(1)
    stamps = {}
    for i in range(lines):
        second = 1765962000 + i // 500 - (1 if draw.random() < 0.05 else 0)
        if second not in stamps:
            stamps = {k: v for k, v in stamps.items() if k > second - 5}
            stamps[second] = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(second))
        key = int(keys ** draw.random())
        path = draw.choice(PATHS)
        sys.stdout.write('10.%d.%d.%d - - [%s] "GET %s HTTP/1.1" 200 %d "https://shop.example/" "%s"\n' % (
            key >> 16, key >> 8 & 255, key & 255, stamps[second], path % i if "%" in path else path,
            1000 + i % 5000, draw.choice(AGENTS)))


if __name__ == "__main__":
    main()
