/** The DNS of the monitoring benchmark: the records of each name, and the response time. */

import { createHash } from 'node:crypto';
import { LISTS } from '../../src/analysis/blocklists/lists.ts';
import type { RecordType } from '../../src/net/dns/resolver.ts';
import { lookUp, type Zone } from '../../src/net/dns/zone.ts';
import { blocklistZone } from '../../test/helpers/blocklists.ts';

/** The verification token of every domain. */
export const TOKEN = 'benchbenchbenchbenchbenchbenchbe';
export const SELECTOR = 's1';

/** A domain of the team, and the sender domain of a message that is analyzed during the run. */
export const watchedDomain = (index: number): string => `d${index}.example`;
export const sendingDomain = (index: number): string => `m${index}.example`;

export interface Reply {
  /** Null if the name does not exist. */
  records: string[] | null;
  /** Milliseconds; null if there is no response. */
  delay: number | null;
}

/** The percentage of responses that take one to three seconds. */
const SLOW_PERCENT = 2;
/** The percentage of the team's domains whose servers never respond. */
const DEAD_PERCENT = Number(process.env.BENCH_DEAD_PERCENT ?? 1);
const LISTED_PERCENT = 1;
const QUICK_MS = [10, 30] as const;
const SLOW_MS = [1000, 3000] as const;

const BLOCKLIST_ZONE: Zone = blocklistZone();
const LIST_ZONES = LISTS.map(({ zone }) => zone);
const OWNER = /(?:^|\.)([dm])(\d+)\.example(?:\.(.+))?$/;

/** The same query always has the same reply. */
export function replyFor(name: string, type: RecordType, dkimKey: string): Reply {
  const [, kind, index, list] = OWNER.exec(name) ?? [];
  if (kind === undefined) return { records: otherRecords(name, type), delay: QUICK_MS[0] };
  const domain = `${kind}${index}.example`;
  if (list !== undefined && LIST_ZONES.includes(list))
    return { records: listing(domain, list, type), delay: delayOf(kind, `${name}/${type}`) };
  const isDead = kind === 'd' && chance(`dead ${domain}`) < DEAD_PERCENT / 100;
  return {
    records: domainRecords(domain, name, dkimKey)?.[type] ?? (exists(domain, name) ? [] : null),
    delay: isDead ? null : delayOf(kind, `${name}/${type}`),
  };
}

/** Queries about sender domains are never slow, so that analysis times show the effect of the other load. */
function delayOf(kind: string, query: string): number {
  const slow = kind === 'd' && chance(`slow ${query}`) < SLOW_PERCENT / 100;
  const [min, max] = slow ? SLOW_MS : QUICK_MS;
  return Math.round(min + chance(`delay ${query}`) * (max - min));
}

function otherRecords(name: string, type: RecordType): string[] | null {
  const found = lookUp(BLOCKLIST_ZONE, name, type);
  if (found.status === 'found') return found.records;
  if (name.endsWith('.in-addr.arpa') && type === 'PTR') return ['mail.m0.example'];
  if (name === '_spf.provider.example' && type === 'TXT') return ['v=spf1 ip4:9.9.9.0/24 -all'];
  return found.status === 'nodata' ? [] : null;
}

function listing(domain: string, list: string, type: RecordType): string[] | null {
  const isListed = domain.startsWith('d') && chance(`listed ${domain}`) < LISTED_PERCENT / 100;
  return isListed && list === 'dbl.spamhaus.org' && type === 'A' ? ['127.0.1.2'] : null;
}

type Records = Partial<Record<RecordType, string[]>>;

/** Hosts have loopback addresses, which the service does not connect to. */
function domainRecords(domain: string, name: string, dkimKey: string): Records | null {
  const label = name.slice(0, -domain.length);
  const hasPolicy = chance(`policy ${domain}`) < 0.1;
  switch (label) {
    case '':
      return {
        A: ['127.0.0.1'],
        MX: [`10 mx.${domain}`],
        TXT: ['v=spf1 ip4:9.9.9.0/24 include:_spf.provider.example -all'],
        NS: [`ns.${domain}`],
        SOA: [`ns.${domain} hostmaster.${domain} 1 3600 600 86400 300`],
      };
    case 'mx.':
    case 'mail.':
      return { A: ['127.0.0.1'] };
    case 'mta-sts.':
      return hasPolicy ? { A: ['127.0.0.1'] } : null;
    case '_mta-sts.':
      return hasPolicy ? { TXT: ['v=STSv1; id=1'] } : null;
    case '_dmarc.':
      return { TXT: [`v=DMARC1; p=reject; rua=mailto:d@${domain}`] };
    case '_smtp._tls.':
      return { TXT: [`v=TLSRPTv1; rua=mailto:t@${domain}`] };
    case '_deliverability.':
      return { TXT: [`deliverability-verify=${TOKEN}`] };
    case `${SELECTOR}._domainkey.`:
      return { TXT: [dkimKey] };
    default:
      return null;
  }
}

const exists = (domain: string, name: string): boolean =>
  [domain, `_tls.${domain}`, `_domainkey.${domain}`].includes(name);

/** A number from 0 to 1, derived from the text. */
const chance = (text: string): number =>
  createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
