"""Verifies that the gateway signed a request, by RFC 9421. Copy this file."""
import base64
import hashlib
import hmac
import re
import threading
import time
import urllib.parse

COMPONENTS = [
    "@method",
    "@path",
    "content-digest",
    "partner-loyalty-subgraph",
    "partner-loyalty-scope",
    "x-request-id",
]
COVERED = " ".join(f'"{name}"' for name in COMPONENTS)
MAX_AGE_SECONDS = 30


class Verifier:
    """Verifies requests to one subgraph, in any number of threads."""

    def __init__(self, subgraph, secrets):
        self.subgraph = subgraph
        self.secrets = {hashlib.sha256(s.encode()).hexdigest()[:16]: s.encode() for s in secrets}
        self.seen = {}  # When each nonce came, the oldest first.
        self.lock = threading.Lock()

    def scope(self, method, path, headers, body):
        """The scope of a request if one of the secrets signed it for this subgraph at most 30
        seconds ago and it comes for the first time; None otherwise."""
        values = {name.lower(): value.strip() for name, value in headers.items()}
        values.update({"@method": method, "@path": path})
        pattern = r'([a-z]\w*)=(\(([^)]*)\)(;.*))'
        found = re.fullmatch(pattern, values.get("signature-input", ""))
        if not found or found[3] != COVERED or not all(values.get(name) for name in COMPONENTS):
            return None
        label, signature_params, _, params = found.groups()
        params = {name: quoted or number for name, quoted, number
                  in re.findall(r';(\w+)=(?:"([^"]*)"|([0-9]{1,15}))', params)}
        secret = self.secrets.get(params.get("keyid"))
        nonce = params.get("nonce")
        now = time.time()
        if not secret or not nonce or params.get("tag") != "partner-loyalty":
            return None
        if abs(now - int(params.get("created") or 0)) > MAX_AGE_SECONDS:
            return None

        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        if values["content-digest"] != f"sha-256=:{digest}:":
            return None
        if values["partner-loyalty-subgraph"] != self.subgraph:
            return None
        lines = [f'"{name}": {values[name]}' for name in COMPONENTS]
        signed = "\n".join([*lines, f'"@signature-params": {signature_params}'])
        right = base64.b64encode(hmac.digest(secret, signed.encode("latin-1"), "sha256")).decode()
        given = values.get("signature", "")
        if not hmac.compare_digest(given.encode("latin-1"), f"{label}=:{right}:".encode()):
            return None

        with self.lock:
            while self.seen and next(iter(self.seen.values())) < now - 2 * MAX_AGE_SECONDS:
                del self.seen[next(iter(self.seen))]
            if nonce in self.seen:
                return None
            self.seen[nonce] = now
        return scope_of(values["partner-loyalty-scope"])


def scope_of(text):
    """Parses `kind=partner, partner="acme"` (RFC 9651): tokens, strings and display strings."""
    scope = {}
    found = re.findall(r'(?:^|, )([a-z]+)=(?:(%?)"((?:[^"\\]|\\.)*)"|(\w+))', text)
    for name, percent, quoted, token in found:
        string = urllib.parse.unquote(quoted) if percent else re.sub(r"\\(.)", r"\1", quoted)
        scope[name] = token or string
    return scope
