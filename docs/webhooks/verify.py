# Python standard library: WEBHOOK_SECRET=whsec_… python3 verify.py headers.txt < body.json
# Exits with 0 if the delivery is genuine, otherwise with 1.
import hashlib
import hmac
import os
import re
import sys
import time


def is_genuine(headers: dict[str, str], body: bytes, secret: str) -> bool:
    """Expects header names in lower case, and the raw body."""
    timestamp = headers.get("x-service-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    if abs(time.time() - int(timestamp)) > 300:
        return False
    signed = timestamp.encode() + b"." + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()

    def matches(name: str) -> bool:
        given = headers.get(name, "").removeprefix("sha256=")
        return hmac.compare_digest(given.encode(), expected.encode())

    # After a rotation, the second signature uses the previous secret.
    return matches("x-service-signature") or matches("x-service-signature-previous")


if __name__ == "__main__":
    headers = {}
    with open(sys.argv[1], encoding="latin-1") as file:
        for line in file:
            name, colon, value = line.partition(":")
            if colon:
                headers[name.lower()] = value.strip()
    genuine = is_genuine(headers, sys.stdin.buffer.read(), os.environ["WEBHOOK_SECRET"])
    sys.exit(0 if genuine else 1)
