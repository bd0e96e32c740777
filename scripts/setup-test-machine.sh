#!/usr/bin/env bash
# Installs the Debian packages that the tests need. Safe to run again; quick if nothing is missing.
set -euo pipefail

packages=(
  curl               # runs the commands in the documentation
  swaks              # a real SMTP client
  libnet-ssleay-perl # STARTTLS for swaks
  poppler-utils      # pdftotext, to read PDF reports
  binutils           # strip, to make the executable smaller
  spamassassin       # rules and Perl modules
  spamd              # the SpamAssassin daemon
  rspamd             # the other spam filter
  chromium           # browser tests, and screenshots for the README
  python3            # runs a webhook verification sample
  openssl            # runs a webhook verification sample
  postgresql         # the other database; the tests start their own servers
  gccgo-go           # compiles a webhook verification sample; a third of the size of golang-go
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done

if [ ${#missing[@]} -eq 0 ]; then
  echo 'setup-test-machine: nothing to install'
  exit 0
fi

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
}

# The tests start their own daemons: those of the packages must not start, now or at boot.
daemons=()
for name in spamd rspamd postgresql; do
  case " ${missing[*]} " in *" $name "*) daemons+=("$name") ;; esac
done
policy=/usr/sbin/policy-rc.d
if [ ${#daemons[@]} -gt 0 ] && [ ! -e "$policy" ]; then
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod +x "$policy"
fi

echo "setup-test-machine: installing ${missing[*]}"
# The local package lists often suffice. Outdated ones name files that no longer exist.
install || { "${as_root[@]}" apt-get update --quiet && install; }

if [ ${#daemons[@]} -gt 0 ]; then
  "${as_root[@]}" systemctl disable --quiet "${daemons[@]}" 2>/dev/null || true
  # Importing SpamAssassin's update key leaves gpg-agent running.
  "${as_root[@]}" gpgconf --homedir /var/lib/spamassassin/sa-update-keys --kill gpg-agent 2>/dev/null || true
fi
