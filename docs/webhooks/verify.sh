#!/bin/sh
# With openssl: WEBHOOK_SECRET=whsec_… sh verify.sh headers.txt < body.json
# Exits with 0 if the delivery is genuine, otherwise with 1.
# While openssl runs, other users of the machine can see the secret in its arguments.
set -eu

header() {
  awk -F: -v name="$1" 'tolower($1) == name { sub(/^[^:]*:[ \t]*/, ""); sub(/\r$/, ""); print; exit }' "$headers"
}
hmac() {
  openssl dgst -sha256 -hmac "$1" -r | cut -c 1-64
}

headers=$1
timestamp=$(header x-service-timestamp)
case $timestamp in
  '' | 0* | *[!0-9]* | ?????????????*) exit 1 ;;
esac
age=$(($(date +%s) - timestamp))
if [ "$age" -gt 300 ] || [ "$age" -lt -300 ]; then exit 1; fi
expected=$({ printf '%s.' "$timestamp"; cat; } | hmac "$WEBHOOK_SECRET")

# Hashing both sides with a random key keeps the time of the comparison from revealing anything.
key=$(openssl rand -hex 32)
hashed=$(printf %s "$expected" | hmac "$key")
# After a rotation, the second signature uses the previous secret.
for name in x-service-signature x-service-signature-previous; do
  given=$(header "$name")
  if [ "$(printf %s "${given#sha256=}" | hmac "$key")" = "$hashed" ]; then exit 0; fi
done
exit 1
