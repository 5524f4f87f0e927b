"""Records an activity of a member, with a key that has the scope ingest: see ../README.md."""

import datetime

from api import ask, run

RECORD = """mutation ($activities: [ActivityInput!]!) {
  recordActivities(activities: $activities) { activityId outcome } }"""


def main():
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    activity = {
        "activityId": f"example-python-{day}",  # An ID counts once, so sending it again is safe.
        "memberId": "demo-002",
        "points": 40,
        "stays": 1,
        "occurredAt": f"{day}T00:00:00Z",
    }
    for _ in range(2):
        for recorded in ask(RECORD, {"activities": [activity]})["recordActivities"]:
            print(recorded["activityId"], recorded["outcome"])


if __name__ == "__main__":
    run(main)
