#!/usr/bin/env bash
# Calls the Partner Loyalty API with curl: see ../README.md.
set -euo pipefail

: "${PARTNER_LOYALTY_KEY:?set it to a partner key, such as the first one that npm start prints}"
url=${PARTNER_LOYALTY_URL:-http://localhost:4000/graphql}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ask QUERY VARIABLES [HEADER]: prints the response, or fails if the request is refused. The key
# goes to curl in a file, since other users of the machine can read the arguments of a process.
ask() {
  local header=${3:-"x-partner-api-key: $PARTNER_LOYALTY_KEY"} status reason seconds attempt
  printf 'header = "%s"\n' "$header" >"$work/credential"
  printf '{"query": "%s", "variables": %s}' "$1" "$2" >"$work/request"
  for attempt in 1 2 3 4 5; do
    status=$(curl --silent --show-error --max-time 10 --config "$work/credential" \
      --header 'content-type: application/json' --data-binary "@$work/request" \
      --dump-header "$work/headers" --output "$work/response" --write-out '%{http_code}' "$url") ||
      exit 1
    case $status in
      # Nothing has run, so it is safe to send the request again.
      429) reason='the budget is spent' ;;
      # It may have run. Here, a repeat does no harm: at worst a second mail, or INVALID_TOKEN.
      503) reason='the service is unavailable' ;;
      *) break ;;
    esac
    [ "$attempt" -lt 5 ] || break
    seconds=$(tr 'A-Z\r' 'a-z ' <"$work/headers" | sed -n 's/^retry-after: *\([0-9]*\).*/\1/p')
    echo "$reason: waiting ${seconds:-1} s" >&2
    sleep "${seconds:-1}"
  done
  if [ "$status" != 200 ]; then
    echo "refused with status $status: $(value code <"$work/response")" >&2
    exit 1
  fi
  cat "$work/response"
  echo
}

# value NAME: the first value of a name in the JSON on stdin. Use jq for more than an example.
value() {
  sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" | head -1
}

echo '== find a member, with the standing'
ask 'query ($email: String!) { memberByEmail(email: $email) { memberId tier points standing { nextTier pointsToNextTier yearEnd } } }' \
  '{"email": "Teal.Heron@example.com"}'

echo '== look up several at once: null is not found'
ask 'query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { member { memberId tier points } } }' \
  '{"keys": [{"memberId": "demo-001"}, {"externalId": "1001"}, {"email": "nobody@example.com"}]}'

echo '== nobody is found: branch on the code'
response=$(ask 'query ($externalId: String!) { memberByExternalId(externalId: $externalId) { memberId } }' \
  '{"externalId": "no-such-id"}')
case $(value code <<<"$response") in
  MEMBER_NOT_FOUND) echo 'not a member of ours: MEMBER_NOT_FOUND' ;;
  '') echo 'found' ;;
  *) echo "$response" >&2 && exit 1 ;;
esac

echo '== enroll a member, twice: the second time changes nothing'
enroll='mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created member { memberId tier } } }'
input='{"input": {"email": "curl.example@example.com", "externalId": "example-curl"}}'
ask "$enroll" "$input"
response=$(ask "$enroll" "$input")
echo "$response"

echo '== end the enrollment'
ask 'mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }' \
  "{\"memberId\": \"$(value memberId <<<"$response")\"}"

if [ -z "${MAGIC_LINK_TOKEN:-}" ]; then
  echo '== mail a sign-in link'
  ask 'mutation ($email: String!) { requestMagicLink(email: $email) { accepted } }' \
    '{"email": "Teal.Heron@example.com"}'
  exit
fi

echo "== exchange the link's token for an ID token, and read the profile with it"
response=$(ask 'mutation ($token: String!) { exchangeMagicLink(token: $token) { memberId idToken } }' \
  "{\"token\": \"$MAGIC_LINK_TOKEN\"}")
case $(value code <<<"$response") in
  '') ;;
  INVALID_TOKEN) echo 'used or expired: request another link' >&2 && exit 1 ;;
  *) echo "$response" >&2 && exit 1 ;;
esac
ask 'query ($id: ID!) { memberProfile(id: $id) { email standings { partnerName tier points } } }' \
  "{\"id\": \"$(value memberId <<<"$response")\"}" \
  "authorization: Bearer $(value idToken <<<"$response")"
