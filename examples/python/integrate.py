"""Calls the Partner Loyalty API with Python's standard library: see ../README.md."""

import json
import os
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("PARTNER_LOYALTY_URL", "http://localhost:4000/graphql")
KEY = os.environ.get("PARTNER_LOYALTY_KEY")
TOKEN = os.environ.get("MAGIC_LINK_TOKEN")
MEMBER = "Teal.Heron@example.com"


class ApiError(Exception):
    """An error of the API. Branch on `code`: the message can change."""

    def __init__(self, error):
        super().__init__(error["message"])
        extensions = error.get("extensions", {})
        self.code = extensions.get("code")
        self.argument = extensions.get("argument")
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
    for _ in range(5):
        request = urllib.request.Request(URL, body, headers, method="POST")
        try:
            with opener.open(request, timeout=10) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as refused:
            if refused.code == 429:
                # The budget is spent. Nothing has run, so it is safe to send the request again.
                seconds = int(refused.headers.get("retry-after", 1))
                print(f"the budget is spent: waiting {seconds} s", file=sys.stderr)
                time.sleep(seconds)
                continue
            answer = json.load(refused)
        if answer.get("errors"):
            raise ApiError(answer["errors"][0])
        return answer["data"]
    raise TimeoutError("the budget stays spent")


def main():
    member = ask(
        """query ($email: String!) { memberByEmail(email: $email) {
          memberId tier points standing { nextTier pointsToNextTier yearEnd } } }""",
        {"email": MEMBER},
    )["memberByEmail"]
    print("found:", member["memberId"], member["tier"], member["points"])
    standing = member["standing"]
    print(standing["pointsToNextTier"], "more points to", standing["nextTier"])

    keys = [{"memberId": "demo-001"}, {"externalId": "1001"}, {"email": "nobody@example.com"}]
    lookups = ask(
        "query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { member { memberId points } } }",
        {"keys": keys},
    )["memberLookups"]
    points = [each["member"]["points"] if each["member"] else "not found" for each in lookups]
    print("several:", *points)

    try:
        ask(
            "query ($id: String!) { memberByExternalId(externalId: $id) { memberId } }",
            {"id": "no-such-id"},
        )
    except ApiError as error:
        if error.code != "MEMBER_NOT_FOUND":
            raise
        print("not a member of ours:", error.code)

    enroll = """mutation ($input: EnrollMemberInput!) {
      enrollMember(input: $input) { created member { memberId } } }"""
    person = {"email": "python.example@example.com", "externalId": "example-python"}
    enrolled = ask(enroll, {"input": person})["enrollMember"]
    print("enrolled:", str(enrolled["created"]).lower())
    # Enrolling again is safe, for example after a lost response.
    print("again:", str(ask(enroll, {"input": person})["enrollMember"]["created"]).lower())
    ask(
        "mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }",
        {"memberId": enrolled["member"]["memberId"]},
    )
    print("ended")
    sign_in()


def sign_in():
    if not TOKEN:
        ask(
            "mutation ($email: String!) { requestMagicLink(email: $email) { accepted } }",
            {"email": MEMBER},
        )
        print("a sign-in link is on its way: run this again with its token as MAGIC_LINK_TOKEN")
        return
    session = ask(
        "mutation ($token: String!) { exchangeMagicLink(token: $token) { memberId idToken } }",
        {"token": TOKEN},
    )["exchangeMagicLink"]
    profile = ask(
        "query ($id: ID!) { memberProfile(id: $id) { email standings { partnerName tier points } } }",
        {"id": session["memberId"]},
        {"authorization": f"Bearer {session['idToken']}"},
    )["memberProfile"]
    for standing in profile["standings"]:
        print("signed in:", standing["partnerName"], standing["tier"], standing["points"])


if __name__ == "__main__":
    if not KEY:
        sys.exit("set PARTNER_LOYALTY_KEY to a partner key, such as the first that npm start prints")
    main()
