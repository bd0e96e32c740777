#!/usr/bin/env bash
# Installs from Debian what the tests need beyond npm ci. Safe to run again; quick when all is there.
set -euo pipefail

packages=(
  curl               # runs the commands that the pages show
  swaks              # a real SMTP client
  libnet-ssleay-perl # its STARTTLS
  poppler-utils      # pdftotext, which reads the reports that are PDFs
  binutils           # strip, which makes the executable smaller
  spamassassin       # rules, and the modules that read them
  spamd              # asked about messages by the spamd protocol
  rspamd             # likewise by its own
  chromium           # shows the pages in tests, and makes the pictures of the README
  python3            # runs the samples that verify webhooks
  openssl            # likewise
  gccgo-go           # likewise; a third of the size of golang-go
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

# The tests start daemons of their own: those of the packages neither start now nor with the machine.
daemons=()
for name in spamd rspamd; do
  case " ${missing[*]} " in *" $name "*) daemons+=("$name") ;; esac
done
policy=/usr/sbin/policy-rc.d
if [ ${#daemons[@]} -gt 0 ] && [ ! -e "$policy" ]; then
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod +x "$policy"
fi

echo "setup-test-machine: installing ${missing[*]}"
# The package lists that the machine has are often enough; old ones name files that are gone.
install || { "${as_root[@]}" apt-get update --quiet && install; }

if [ ${#daemons[@]} -gt 0 ]; then
  "${as_root[@]}" systemctl disable --quiet "${daemons[@]}" 2>/dev/null || true
  # The import of SpamAssassin's update key leaves an agent behind.
  "${as_root[@]}" gpgconf --homedir /var/lib/spamassassin/sa-update-keys --kill gpg-agent 2>/dev/null || true
fi
