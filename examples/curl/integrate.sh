#!/usr/bin/env bash
# Calls the Partner Loyalty API with curl: see ../README.md.
set -euo pipefail

: "${PARTNER_LOYALTY_KEY:?set it to a partner key, such as the first one that npm start prints}"
url=${PARTNER_LOYALTY_URL:-http://localhost:4000/graphql}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ask QUERY VARIABLES [HEADER]: prints the response, or fails if the request is refused. Sends it
# again as the guide to errors and retries says, until the deadline. The key goes to curl in a file,
# since other users of the machine can read the arguments of a process.
ask() {
  local header=${3:-"x-partner-api-key: $PARTNER_LOYALTY_KEY"} status code reason asked wait left
  local failures=0 unexpected=0 end=$((SECONDS + ${DEADLINE_SECONDS:-75}))
  printf 'header = "%s"\n' "$header" >"$work/credential"
  printf '{"query": "%s", "variables": %s}' "$1" "$2" >"$work/request"
  while :; do
    : >"$work/headers" >"$work/response"
    left=$((end - SECONDS))
    status=$(curl --silent --show-error --max-time $((left < 1 ? 1 : left < 10 ? left : 10)) \
      --config "$work/credential" --header 'content-type: application/json' \
      --data-binary "@$work/request" --dump-header "$work/headers" --output "$work/response" \
      --write-out '%{http_code}' "$url" 2>"$work/error") || status=
    code=$(value code <"$work/response")
    case $status:$code in
      429:*) reason='the budget is spent' ;;
      502:* | 503:* | 504:* | 200:SERVICE_UNAVAILABLE) reason='the service is unavailable' ;;
      500:* | 200:INTERNAL_SERVER_ERROR)
        reason='something went wrong in the service' unexpected=$((unexpected + 1)) ;;
      :*) reason='the service does not answer' ;;
      *) break ;;
    esac
    # Unless the budget was spent, it may have run, and these are not safe to repeat.
    [[ $status != 429 && $1 =~ inviteMember|requestMagicLink|exchangeMagicLink ]] && break
    [ "$unexpected" -lt 2 ] || break
    asked=$(cat "$work/response" "$work/headers" | tr 'A-Z\r' 'a-z ' |
      sed -n 's/.*retry-\{0,1\}after"\{0,1\}: *\([0-9]\{1,\}\).*/\1/p' | head -1)
    wait=$(awk -v asked="$asked" -v longest="$((failures < 6 ? 1 << failures : 60))" \
      -v random="$RANDOM" 'BEGIN { print asked + longest * random / 32768 }')
    ((SECONDS + ${wait%.*} < end)) || break
    failures=$((failures + 1))
    printf '%s: waiting %.0f s\n' "$reason" "$wait" >&2
    sleep "$wait"
  done
  if [ -z "$status" ]; then
    cat "$work/error" >&2
    exit 1
  fi
  if [ "$status" != 200 ]; then
    echo "refused with status $status: $code" >&2
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
