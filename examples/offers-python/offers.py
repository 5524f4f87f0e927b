"""The offers and who may see them: a partner its own, a member those of the member's partners."""
import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

STARTED_AT = datetime.now(timezone.utc)
OFFERS = json.loads(Path(__file__).with_name("offers.json").read_text(encoding="utf-8"))
for offer in OFFERS:
    offer["endsAt"] = STARTED_AT + timedelta(days=offer.pop("endsInDays"))


class OfferExpired(Exception):
    """Callers get the code OFFER_EXPIRED for it."""

    extensions = {"code": "OFFER_EXPIRED"}


def offer_of_partner(scope, offer_id):
    """An offer of the calling partner; None if it has none with this ID."""
    for offer in offers_of([calling_partner(scope)]):
        if offer["offerId"] == offer_id:
            if not is_current(offer):
                raise OfferExpired("the offer has ended")
            return offer
    return None


def offers_for_partner(scope):
    """The current offers of the calling partner."""
    return list(filter(is_current, offers_of([calling_partner(scope)])))


def offers_for_member(scope, member_id, partner_ids):
    """The current offers of these partners; only of the one that holds the member's token, if one
    does."""
    if scope.get("kind") != "member" or scope.get("member") != member_id:
        raise PermissionError("the caller is not this member")
    holder = scope.get("partner")
    visible = [partner for partner in partner_ids if holder in (None, partner)]
    return list(filter(is_current, offers_of(visible)))


def calling_partner(scope):
    if scope.get("kind") != "partner":
        raise PermissionError("the caller is no partner")
    return scope["partner"]


def offers_of(partner_ids):
    return [offer for offer in OFFERS if offer["partnerId"] in partner_ids]


def is_current(offer):
    return offer["endsAt"] > datetime.now(timezone.utc)
