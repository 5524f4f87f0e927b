"""The executable schema: the fields of schema.graphql and what every federated subgraph adds."""
from pathlib import Path

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLID,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
    GraphQLUnionType,
)

import offers

SDL = Path(__file__).with_name("schema.graphql").read_text(encoding="utf-8")


def entity(name, resolve_offers):
    """A type that other subgraphs have too. Its values are what the gateway sends: the type's
    name, the key, and the fields that @requires names."""
    fields = {
        "memberId": GraphQLField(GraphQLNonNull(GraphQLID)),
        "offers": GraphQLField(GraphQLList(GraphQLNonNull(OFFER)), None, resolve_offers),
    }
    return GraphQLObjectType(name, fields, None, lambda value, _: value["__typename"] == name)


OFFER = GraphQLObjectType("Offer", {
    "offerId": GraphQLField(GraphQLNonNull(GraphQLID)),
    "partnerId": GraphQLField(GraphQLNonNull(GraphQLID)),
    "title": GraphQLField(GraphQLNonNull(GraphQLString)),
    "endsAt": GraphQLField(
        GraphQLNonNull(GraphQLString), None,
        lambda offer, _: offer["endsAt"].isoformat(timespec="seconds")),
})
PARTNER_MEMBER_READ = entity(
    "PartnerMemberRead", lambda member, info: offers.offers_for_partner(info.context))
MEMBER_PROFILE = entity(
    "MemberProfile",
    lambda profile, info: offers.offers_for_member(
        info.context, profile["memberId"], profile["activePartnerIds"]))

ANY = GraphQLScalarType(
    name="_Any",
    serialize=lambda value: value,
    parse_value=lambda value: value,
    parse_literal=lambda *_: None,
)
REPRESENTATIONS = GraphQLNonNull(GraphQLList(GraphQLNonNull(ANY)))
ENTITY = GraphQLUnionType("_Entity", [PARTNER_MEMBER_READ, MEMBER_PROFILE])
SERVICE = GraphQLObjectType("_Service", {"sdl": GraphQLField(GraphQLString)})

SCHEMA = GraphQLSchema(GraphQLObjectType("Query", {
    "offer": GraphQLField(
        OFFER,
        {"offerId": GraphQLArgument(GraphQLNonNull(GraphQLID))},
        lambda _, info, offerId: offers.offer_of_partner(info.context, offerId)),
    "_entities": GraphQLField(
        GraphQLNonNull(GraphQLList(ENTITY)),
        {"representations": GraphQLArgument(REPRESENTATIONS)},
        lambda _, info, representations: representations),
    "_service": GraphQLField(
        GraphQLNonNull(SERVICE), None, lambda _, info: {"sdl": SDL}),
}))
