"""Receives webhooks with Python's standard library: see ../README.md."""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ.get("WEBHOOK_SECRET", "").removeprefix("whsec_"))
if not KEY:
    raise SystemExit("set WEBHOOK_SECRET to the secret of the endpoint: whsec_…")
MAX_BODY_BYTES = 65_536
TOLERANCE_SECONDS = 300

# By ID. In yours, a table with the ID as its key: a webhook can come more than once.
inbox = {}


def is_signed(headers, body):
    """Whether the service has signed the body within 5 minutes of now."""
    timestamp = headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{headers.get('webhook-id', '')}.{timestamp}.".encode() + body
    digest = base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256)).decode()
    # While a secret is rotated, there are two.
    signatures = headers.get("webhook-signature", "").split(" ")
    expected = f"v1,{digest}".encode()
    return any([hmac.compare_digest(each.encode(), expected) for each in signatures])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 15  # Seconds without a byte.

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or len(length) > 9 or int(length) > MAX_BODY_BYTES:
            return self.answer(413)
        # The bytes as they arrived, since the signature is of these.
        body = self.rfile.read(int(length))
        if self.path != "/webhooks":
            return self.answer(404)
        if not is_signed(self.headers, body):
            return self.answer(400)
        # Of two threads that have the same webhook, one stores it.
        is_new = inbox.setdefault(self.headers["webhook-id"], body) is body
        self.answer(204)
        # What takes time happens after the response, which the service waits 15 seconds for.
        if is_new:
            work(json.loads(body))

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", "0")
        if status == 413:
            # The body may still be coming.
            self.send_header("connection", "close")
        self.end_headers()

    def log_request(self, code="-", size="-"):
        """Writes nothing."""


def work(webhook):
    print(webhook["type"], webhook["data"].get("memberId", ""), flush=True)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4030"))), Handler)
    print(f"webhooks: http://127.0.0.1:{server.server_port}/webhooks", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
