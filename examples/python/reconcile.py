"""Keeps a copy of one's members up to date, each night by what has changed: see ../README.md."""

import json
import os
import time

from api import ApiError, ask, run, seconds_of

# The members, and the cursor of the last event that they have.
FILE = os.environ.get("MEMBERS_FILE", "members.json")
# Nobody waits for it, and the service may be away for minutes at night.
DEADLINE = seconds_of(900)
EVENTS = """query ($after: String) { list: events(first: 500, after: $after) {
  edges { node { type memberId mergedMemberId member { memberId externalId tier points } } }
  pageInfo { hasNextPage endCursor } } }"""
MEMBERS = """query ($after: String) { list: members(first: 500, after: $after) {
  edges { node { memberId externalId tier points } } pageInfo { hasNextPage endCursor } } }"""
# What these change has no events of its own.
CHANGE_ALL = {"YEAR_ENDED", "PROGRAM_CHANGED"}


def read_list(query, cursor):
    """What a list has after a cursor, and the cursor of its end."""
    nodes = []
    while True:
        page = ask(query, {"after": cursor}, deadline_seconds=DEADLINE)["list"]
        nodes += [edge["node"] for edge in page["edges"]]
        cursor = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            return nodes, cursor


def read_events(cursor):
    """The events after a cursor, their end, and whether none in between is missing."""
    try:
        return (*read_list(EVENTS, cursor), cursor is not None)
    except ApiError as error:
        if error.reason != "EXPIRED":
            raise
        return (*read_list(EVENTS, None), False)


def stored():
    try:
        with open(FILE, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"cursor": None, "members": []}


def store(cursor, members):
    """Both at once, as in a transaction. A run that fails leaves both as they were."""
    with open(f"{FILE}.new", "w", encoding="utf-8") as file:
        json.dump({"cursor": cursor, "members": members}, file)
    os.replace(f"{FILE}.new", FILE)


def main():
    before = stored()
    events, cursor, is_whole = read_events(before["cursor"])
    is_all = not is_whole or any(event["type"] in CHANGE_ALL for event in events)
    # A changed program shows in reads 5 seconds after its event at the latest.
    if is_all and before["cursor"] is not None:
        time.sleep(5)
    # After the events: a change that comes in between is among those of the next run.
    known = read_list(MEMBERS, None)[0] if is_all else before["members"]
    members = {member["memberId"]: member for member in known}
    for event in events:
        members.pop(event["mergedMemberId"], None)
        # As the member is now, whichever event it was, so it may be applied twice.
        if event["member"]:
            members[event["member"]["memberId"]] = event["member"]
        else:
            members.pop(event["memberId"], None)
    store(cursor, list(members.values()))
    print(f"{len(events)} events, {len(members)} members{', all read' if is_all else ''}")


if __name__ == "__main__":
    run(main)
