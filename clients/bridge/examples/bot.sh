#!/usr/bin/env bash
# A bot in Bash: it hits until 20 points are at stake, and gives cards to the first seat that may have them.
#
#   flip7 bridge -- bash bot.sh

id='"id":"([^"]+)"'
legal='"legal":\["([^"]+)"'       # the first decision that is legal
points='"points":([0-9]+)'        # the first that the line names are the bot's own

echo '{"ready":true}'
while IFS= read -r line; do
  [[ $line == '{"type":"request",'* ]] || continue # news, which want no answer
  [[ $line =~ $legal ]] && decision=${BASH_REMATCH[1]}
  [[ $line =~ $points ]] && stake=${BASH_REMATCH[1]}
  [[ $line =~ $id ]] && request=${BASH_REMATCH[1]}
  if [[ $decision == hit && $stake -ge 20 ]]; then
    decision=stay
  fi
  printf '{"id":"%s","decision":"%s"}\n' "$request" "$decision"
done
