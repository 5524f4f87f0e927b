"""From a look-up to a member who is signed in, with Python alone: see ../README.md."""

import os

from api import ApiError, ask, run

TOKEN = os.environ.get("MAGIC_LINK_TOKEN")
MEMBER = "Teal.Heron@example.com"
ACTIVITIES = """query ($memberId: ID!, $after: String) { memberById(memberId: $memberId) {
  activities(first: 5, after: $after) {
    edges { node { activityId points occurredAt } } pageInfo { hasNextPage endCursor } } } }"""


def pages_of(member_id):
    """The activities of a member, newest first, a page at a time."""
    after = None
    while True:
        member = ask(ACTIVITIES, {"memberId": member_id, "after": after})["memberById"]
        page = member["activities"]
        yield page
        if not page["pageInfo"]["hasNextPage"]:
            return
        after = page["pageInfo"]["endCursor"]


def main():
    member = ask(
        """query ($email: String!) { memberByEmail(email: $email) {
          memberId tier points standing { nextTier pointsToNextTier yearEnd } } }""",
        {"email": MEMBER},
    )["memberByEmail"]
    print("found:", member["memberId"], member["tier"], member["points"])
    standing = member["standing"]
    print(standing["pointsToNextTier"], "more points to", standing["nextTier"])

    pages = [page["edges"] for page in pages_of(member["memberId"])]
    # pages[0][0]["node"] is the newest.
    print("activities:", sum(map(len, pages)), "in", len(pages), "pages")

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
    run(main)
