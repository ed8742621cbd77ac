#!/usr/bin/env python3
"""A bot in Python: it hits as long as the next card is expected to bring points.

    flip7 bridge -- python3 bot.py
"""
import json
import sys


def decide(request):
    if request["kind"] != "turn":
        return request["legal"][0]
    return "hit" if request["expected_points"] > request["points"] else "stay"


print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "request":  # the rest is news, which wants no answer
        print(json.dumps({"id": request["id"], "decision": decide(request)}), flush=True)
