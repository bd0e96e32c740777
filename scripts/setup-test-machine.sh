#!/usr/bin/env bash
# Installs from Debian what the tests need beyond npm ci. Safe to run again; quick when all is there.
set -euo pipefail

packages=(
  swaks              # a real SMTP client
  libnet-ssleay-perl # its STARTTLS
  binutils           # strip, which makes the executable smaller
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done

if [ ${#missing[@]} -eq 0 ]; then
  echo 'setup-test-machine: all there'
  exit 0
fi

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
}

echo "setup-test-machine: installing ${missing[*]}"
# The package lists that the machine has are often enough; old ones name files that are gone.
install || { "${as_root[@]}" apt-get update --quiet && install; }
