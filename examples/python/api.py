"""Asks the Partner Loyalty API with Python's standard library, for the examples beside this file."""

import itertools
import json
import os
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("PARTNER_LOYALTY_URL", "http://localhost:4000/graphql")
KEY = os.environ.get("PARTNER_LOYALTY_KEY")
WAITS = {
    # Nothing has run, so it is safe to send the request again.
    429: "the budget is spent",
    # It may have run. Here, a repeat does no harm: at worst a second mail, or INVALID_TOKEN.
    503: "the service is unavailable",
}


class ApiError(Exception):
    """An error of the API. Branch on `code`: the message can change."""

    def __init__(self, error):
        super().__init__(error["message"])
        extensions = error.get("extensions", {})
        self.code = extensions.get("code")
        self.argument = extensions.get("argument")
        self.reason = extensions.get("reason")
        self.request_id = extensions.get("requestId")


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """The key goes nowhere else."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirects)


def ask(query, variables, credential=None):
    """Returns the data, or raises the first error."""
    body = json.dumps({"query": query, "variables": variables}).encode()
    headers = {"content-type": "application/json", **(credential or {"x-partner-api-key": KEY})}
    for attempt in itertools.count(1):
        request = urllib.request.Request(URL, body, headers, method="POST")
        try:
            with opener.open(request, timeout=10) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as refused:
            if refused.code in WAITS and attempt < 5:
                seconds = int(refused.headers.get("retry-after", 1))
                print(f"{WAITS[refused.code]}: waiting {seconds} s", file=sys.stderr)
                time.sleep(seconds)
                continue
            answer = json.load(refused)
        if answer.get("errors"):
            raise ApiError(answer["errors"][0])
        return answer["data"]


def run(main):
    """Runs an example. If it fails, the process ends with 1 and a line that says why."""
    if not KEY:
        sys.exit("set PARTNER_LOYALTY_KEY to a partner key, such as the first that npm start prints")
    try:
        main()
    except ApiError as error:
        sys.exit(f"{error.code}: {error} (request {error.request_id})")
    except OSError as error:
        sys.exit(f"{URL} does not answer: {error}")
