/** Services and mailing lists that forward mail of others, by the domains of their servers, bounces and signatures. */

import { hasSuffix } from '../../analysis/sending-services/service.ts';
import { table } from '../../lib/table.ts';

/** A line for each: the name, and its domains. */
const ROWS = table`
33Mail | 33mail.com
addy.io | anonaddy.me anonaddy.com addy.io
Apache mailing lists | apache.org
Apple Hide My Email | privaterelay.appleid.com
Cloudflare Email Routing | email.cloudflare.net mx.cloudflare.net cloudflare-email.com cloudflare-email.net cloudflare-email.org
Debian mailing lists | lists.debian.org bendel.debian.org
DuckDuckGo Email Protection | duck.com
Firefox Relay | mozmail.com
Forward Email | forwardemail.net
ForwardMX | outboundrelay.com forwardmx.io
Framalistes | framalistes.org
freedesktop.org mailing lists | lists.freedesktop.org
FreeBSD mailing lists | mx2.freebsd.org
FreeLists | freelists.org
Gaggle Mail | gaggle.email
Gmailify | gmailify.com gomailify.net
GNU mailing lists | gnu.org
Google Groups | googlegroups.com
groups.io | groups.io
IETF mailing lists | ietf.org
ImprovMX | improvmx.com
infradead.org mailing lists | infradead.org
JISCMail | jiscmail.ac.uk
Joker.com email forwarding | joker-forward.com
kernel.org mailing lists | kernel.org
Listbox | listbox.com
Mailwip | mailwip.com hanami.run
MIT alumni forwarding | alum.mit.edu
Namecheap email forwarding | registrar-servers.com
Open Source Lab mailing lists | osuosl.org
Pair Networks | pair.com
Pobox | pobox.com
Porkbun email forwarding | porkbun.com
Python mailing lists | python.org
Riseup mailing lists | lists.riseup.net
SimpleLogin | simplelogin.co simplelogin.io
Simplelists | simplelists.com
SourceForge mailing lists | lists.sourceforge.net
Sourceware mailing lists | sourceware.org
sr.ht mailing lists | sr.ht
Topicbox | topicbox.com
Ubuntu mailing lists | lists.ubuntu.com
W3C mailing lists | w3.org
Wikimedia mailing lists | lists.wikimedia.org
Yahoo Small Business forwarding | bizmail.yahoo.com
`;

/** All known forwarders, with their domains. */
export const FORWARDERS: [name: string, domains: string[]][] = ROWS.map(
  ([name = '', domains = '']) => [name, domains.split(' ')],
);

/** The name of the forwarder to which a host name, a bounce domain or a signing domain belongs; null if none is known. */
export const forwarderOf = (domain: string): string | null =>
  FORWARDERS.find(([, domains]) => hasSuffix(domain, domains))?.[0] ?? null;
