"""The offers subgraph on Python's standard library and graphql-core, 3.2 or Debian's 2.3."""
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

try:
    import graphql
except ImportError:
    raise SystemExit("graphql-core is missing: pip install graphql-core") from None

from schema import SCHEMA
from signature import Verifier

MAX_BODY_BYTES = 4 * 1024 * 1024
# In 2.3, it is called graphql.
graphql_sync = getattr(graphql, "graphql_sync", None) or graphql.graphql
SECRETS = list(filter(None, map(os.environ.get, ["OFFERS_SECRET", "OFFERS_SECRET_OLD"])))
if not SECRETS:
    raise SystemExit("set OFFERS_SECRET to the secret shared with the gateway")
VERIFIER = Verifier("offers", SECRETS)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 65  # Seconds. Longer than the gateway keeps an unused connection.
    wbufsize = -1  # Sends headers and body together.

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            return self.refuse(413, "the body has no length or is too large")
        body = self.rfile.read(int(length))
        scope = VERIFIER.scope("POST", self.path, self.headers, body)
        if self.path != "/graphql" or scope is None:
            return self.refuse(401, "the request is not signed by the gateway")
        try:
            request = json.loads(body)
            query = request["query"]
        except (ValueError, TypeError, KeyError):
            return self.refuse(400, "not a GraphQL request")
        return self.answer(200, result_of(query, request, scope))

    def refuse(self, status, message):
        """Refuses the request and announces that the connection closes: the rest of its body may
        still be coming."""
        self.answer(status, {"errors": [{"message": message}]}, {"connection": "close"})

    def answer(self, status, result, headers=None):
        body = json.dumps(result).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code="-", size="-"):
        print(f"{self.headers.get('x-request-id')} {code}", flush=True)


def result_of(query, request, scope):
    """Executes an operation. The context of its resolvers is the scope."""
    variables, name = request.get("variables"), request.get("operationName")
    result = graphql_sync(SCHEMA, query, None, scope, variables, name)
    if not result.errors:
        return {"data": result.data}
    return {"data": result.data, "errors": list(map(formatted, result.errors))}


def formatted(error):
    fields = {name: getattr(error, name, None) for name in ("path", "extensions")}
    present = {name: value for name, value in fields.items() if value}
    return {"message": str(error.args[0]), **present}


if __name__ == "__main__":
    address = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "4022"))
    server = ThreadingHTTPServer(address, Handler)
    print(f"The offers subgraph: http://{address[0]}:{server.server_port}/graphql", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
