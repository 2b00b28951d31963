#!/usr/bin/env python3
"""A policy service for hooks of the kind http. Prints its port, keeps what it is sent."""
import http.server
import json
import sys
import time

log = open(sys.argv[1], "a")


class Policy(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        log.write(json.dumps({
            "path": self.path,
            "authorization": self.headers.get("authorization"),
            "secret": self.headers.get("x-secret"),
            "type": self.headers.get("content-type"),
            "body": json.loads(body),
        }) + "\n")
        log.flush()
        if self.path == "/empty":
            return self.answer(200, "")
        if self.path == "/plain":
            return self.answer(200, "sure, go ahead")
        if self.path == "/broken":
            return self.answer(500, json.dumps({"decision": "block", "reason": "never"}))
        if self.path == "/elsewhere":
            self.send_response(307)
            self.send_header("location", "/deny")
            self.send_header("content-length", "0")
            return self.end_headers()
        if self.path == "/slow":
            time.sleep(600)
        if self.path == "/huge":
            return self.answer(200, "{" + " " * 2_000_000 + "}")
        self.answer(200, json.dumps({
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "the policy service says no",
            }
        }))

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        try:
            self.wfile.write(text.encode())
        except OSError:
            pass

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Policy)
print(server.server_address[1], flush=True)
server.serve_forever()
