/** Services and providers that forward mail of others, by the names of their servers. */

import { hasSuffix } from '../../analysis/sending-services/service.ts';

const FORWARDERS: [name: string, hosts: string[]][] = [
  ['addy.io', ['anonaddy.me', 'anonaddy.com', 'addy.io']],
  ['Apple Hide My Email', ['privaterelay.appleid.com']],
  ['Cloudflare Email Routing', ['email.cloudflare.net', 'mx.cloudflare.net']],
  ['DuckDuckGo Email Protection', ['duck.com']],
  ['Firefox Relay', ['mozmail.com']],
  ['Forward Email', ['forwardemail.net']],
  ['groups.io', ['groups.io']],
  ['ImprovMX', ['improvmx.com']],
  ['Listbox', ['listbox.com']],
  ['Namecheap email forwarding', ['registrar-servers.com']],
  ['Pair Networks', ['pair.com']],
  ['Pobox', ['pobox.com']],
  ['SimpleLogin', ['simplelogin.co', 'simplelogin.io']],
  ['Topicbox', ['topicbox.com']],
  ['Yahoo Small Business forwarding', ['bizmail.yahoo.com']],
];

/** The name of the forwarder that a confirmed host name belongs to; null if it is none that is known. */
export const forwarderOfHost = (host: string): string | null =>
  FORWARDERS.find(([, hosts]) => hasSuffix(host, hosts))?.[0] ?? null;
