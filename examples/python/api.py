"""Asks the Partner Loyalty API with Python's standard library, for the examples beside this file."""

import http.client
import json
import os
import random
import re
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("PARTNER_LOYALTY_URL", "http://localhost:4000/graphql")
KEY = os.environ.get("PARTNER_LOYALTY_KEY")
# The codes of failures that pass, by status. 502 and 504 are from proxies.
CODES = {
    429: "RATE_LIMITED",
    500: "INTERNAL_SERVER_ERROR",
    502: "SERVICE_UNAVAILABLE",
    503: "SERVICE_UNAVAILABLE",
    504: "SERVICE_UNAVAILABLE",
}
REASONS = {
    "RATE_LIMITED": "the budget is spent",
    "SERVICE_UNAVAILABLE": "the service is unavailable",
    "INTERNAL_SERVER_ERROR": "something went wrong in the service",
    "NO_ANSWER": "the service does not answer",
}
# They send a mail, or use up a token, so they are not safe to repeat.
UNSAFE = re.compile(r"\b(inviteMember|requestMagicLink|exchangeMagicLink)\b")


class ApiError(Exception):
    """An error of the API. Branch on `code`: the message can change."""

    def __init__(self, error, retry_after=0):
        super().__init__(error["message"])
        extensions = error.get("extensions", {})
        self.code = extensions.get("code")
        self.argument = extensions.get("argument")
        self.reason = extensions.get("reason")
        self.request_id = extensions.get("requestId")
        self.retry_after = extensions.get("retryAfter", retry_after)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """The key goes nowhere else."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirects)


def seconds_of(default):
    """How long requests of a program are sent again."""
    return float(os.environ.get("DEADLINE_SECONDS", default))


def ask(query, variables, credential=None, deadline_seconds=seconds_of(75)):
    """
    Returns the data, or raises the first error. Sends a request again as the guide to errors and
    retries says, until the deadline.
    """
    body = json.dumps({"query": query, "variables": variables}).encode()
    headers = {"content-type": "application/json", **(credential or {"x-partner-api-key": KEY})}
    end = time.monotonic() + deadline_seconds
    codes = []
    while True:
        try:
            return send(body, headers, end - time.monotonic())
        except ApiError as error:
            codes.append(error.code)
            wait = error.retry_after + random.uniform(0, min(60, 2 ** (len(codes) - 1)))
            if not may_repeat(query, codes) or time.monotonic() + wait > end:
                raise
            print(f"{REASONS[error.code]}: waiting {wait:.0f} s", file=sys.stderr)
        time.sleep(wait)


def may_repeat(query, codes):
    """Whether to send a query again, after failures with these codes."""
    if codes[-1] == "RATE_LIMITED":
        return True  # Nothing has run.
    if UNSAFE.search(query) or codes[-1] not in REASONS:
        return False
    return codes[-1] != "INTERNAL_SERVER_ERROR" or codes.count(codes[-1]) == 1


def send(body, headers, left_seconds):
    request = urllib.request.Request(URL, body, headers, method="POST")
    try:
        try:
            response = opener.open(request, timeout=max(0.001, min(10, left_seconds)))
        except urllib.error.HTTPError as refused:
            response = refused
        with response:
            status, text = response.status, response.read()
    except (OSError, http.client.HTTPException) as error:
        message = f"{URL} does not answer: {error}"
        raise ApiError({"message": message, "extensions": {"code": "NO_ANSWER"}}) from None
    answer = parse(text)
    other = {"message": f"the status is {status}", "extensions": {"code": CODES.get(status)}}
    errors = answer.get("errors") or ([] if "data" in answer else [other])
    if errors:
        seconds = response.headers.get("retry-after", "")
        raise ApiError(errors[0], int(seconds) if seconds.isdecimal() else 0)
    return answer["data"]


def parse(text):
    """The JSON of the service; an empty object for a page of something else."""
    try:
        answer = json.loads(text)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def run(main):
    """Runs an example. If it fails, the process ends with 1 and a line that says why."""
    if not KEY:
        sys.exit("set PARTNER_LOYALTY_KEY to a partner key, such as the first that npm start prints")
    try:
        main()
    except ApiError as error:
        sys.exit(f"{error.code}: {error} (request {error.request_id})" if error.request_id else f"{error}")
