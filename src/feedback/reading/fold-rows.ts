/**
 * Sums up rows by source, in bounded memory. Instead of an IP address, a sum has a key: `others` with the domain of a known service
 * or forwarder, or else a network with the authenticated domain, such as `192.0.2.0/24 example.com`. If there are too many
 * networks, the smallest become `others`.
 */

import { serviceOfMailFrom, serviceOfSigner } from '../../analysis/sending-services/services.ts';
import { isAddress, networkOf } from '../../lib/addresses.ts';
import { ownerOf } from '../../lib/domain-names.ts';
import { forwarderOf } from '../sources/forwarders.ts';
import { isTenant } from '../sources/tenant-domains.ts';
import type { DmarcRow } from './report.ts';

/** The columns that sums need. */
export interface SummedRow
  extends Pick<
    DmarcRow,
    'address' | 'count' | 'disposition' | 'dkim' | 'spf' | 'reasons' | 'headerFrom'
  > {
  /** A domain whose DKIM signature passes, and one for which SPF passes. */
  signer: string | null;
  mailFrom: string | null;
}

const OTHERS = 'others';
/** The address of rows without a valid one. */
export const NO_ADDRESS = 'unknown';

/**
 * Levels of detail. Besides results, sums distinguish: the network and domain of unknown senders (0), only their network (1), only
 * known senders (2), nothing (3).
 */
const DOMAIN_LEVEL = 0;
const KNOWN_LEVEL = 2;
const LAST_LEVEL = 3;
/** The number of combinations of DKIM, SPF and disposition. */
export const MIN_SUMS = 16;

interface Sum {
  /** One of its rows, from which coarser sums are made. */
  sample: SummedRow;
  level: number;
  row: SummedRow;
}

type Sums = Map<string, Sum>;

/** While rows are added, there can be this many times as many sums as in the result. */
const MAX_FACTOR = 4;

export class RowSums {
  readonly #max: number;
  #sums: Sums = new Map();
  rows = 0;
  messages = 0;

  /** `max`: the most sums in the result, at least `MIN_SUMS`. */
  constructor(max: number) {
    this.#max = max;
  }

  add(row: SummedRow): void {
    this.rows += 1;
    this.messages += row.count;
    put(this.#sums, { sample: row, level: DOMAIN_LEVEL, row });
    if (this.#sums.size > this.#max * MAX_FACTOR) this.#reduce();
  }

  /** The sums with the most messages first. */
  list(): SummedRow[] {
    this.#reduce();
    return largestFirst(this.#sums).map(({ row }) => row);
  }

  /** Makes the smaller sums coarser, step by step, until they are few enough. */
  #reduce(): void {
    let finer = largestFirst(this.#sums);
    const kept: Sums = new Map();
    for (let level = DOMAIN_LEVEL + 1; kept.size + finer.length > this.#max; level++) {
      const half = Math.floor((this.#max - MIN_SUMS - kept.size) / 2);
      for (const sum of finer.slice(0, half)) put(kept, sum);
      const coarser: Sums = new Map();
      for (const sum of finer.slice(half))
        put(coarser, { ...sum, level: Math.max(level, sum.level) });
      finer = largestFirst(coarser);
      if (level === LAST_LEVEL) break;
    }
    for (const sum of finer) put(kept, sum);
    this.#sums = kept;
  }
}

/** Adds a row or a sum to the sum with the same key at its level. */
function put(sums: Sums, { sample, level, row: { count } }: Sum): void {
  const common = commonOf(sample, level);
  const key = JSON.stringify(common);
  const known = sums.get(key);
  if (known) {
    known.row.count += count;
    known.level = Math.max(known.level, level);
  } else sums.set(key, { sample, level, row: { ...common, count } });
}

const largestFirst = (sums: Sums): Sum[] =>
  [...sums.values()].sort((a, b) => b.row.count - a.row.count);

/** What a row has in common with the others of its sum. */
function commonOf(row: SummedRow, level: number): Omit<SummedRow, 'count'> {
  const { dkim, spf, disposition } = row;
  const known = level === LAST_LEVEL ? NO_DOMAIN : knownDomain(row);
  const isKnown = domainOf(known) !== null;
  const shown = isKnown ? known : level === DOMAIN_LEVEL ? authenticated(row) : NO_DOMAIN;
  const place = isKnown || level >= KNOWN_LEVEL ? OTHERS : placeOf(row.address);
  const address = [place, domainOf(shown)].filter((part) => part !== null).join(' ');
  const reasons = level === LAST_LEVEL ? [] : reasonsOf(row);
  const headerFrom = level === LAST_LEVEL ? null : row.headerFrom;
  return { address, dkim, spf, disposition, reasons, headerFrom, ...shown };
}

/** The address may be the key of a sum already. */
const placeOf = (address: string | null): string =>
  address === null ? NO_ADDRESS : (networkOfRow(address) ?? address.split(' ')[0]!);

type Authenticated = Pick<SummedRow, 'signer' | 'mailFrom'>;

const NO_DOMAIN: Authenticated = { signer: null, mailFrom: null };

const domainOf = ({ signer, mailFrom }: Authenticated): string | null => signer ?? mailFrom;

function authenticated({ signer, mailFrom }: SummedRow): Authenticated {
  if (signer !== null) return { signer: ownerOf(signer), mailFrom: null };
  return { signer: null, mailFrom: mailFrom === null ? null : ownerOf(mailFrom) };
}

/**
 * The same order as in `nameSource`: SPF shows the sending server, while signatures survive forwarding. A failing row with the
 * signature of a tenant counts for the tenant: see `sources/tenants.ts`.
 */
function knownDomain({ signer, mailFrom, dkim, spf }: SummedRow): Authenticated {
  if (signer !== null && isTenant(signer) && dkim !== 'pass' && spf !== 'pass')
    return { signer, mailFrom: null };
  const bySpf = mailFrom === null ? null : shortest(mailFrom, serviceOfMailFrom);
  if (bySpf !== null) return { signer: null, mailFrom: bySpf };
  return { signer: signer === null ? null : shortest(signer, serviceOfSigner), mailFrom: null };
}

/** Services give each customer a subdomain. It is kept only if the domain above it does not identify the service. */
function shortest(domain: string, find: (domain: string) => { id: string } | undefined) {
  if (isTenant(domain)) return domain;
  const nameOf = (one: string) => forwarderOf(one) ?? find(one)?.id ?? null;
  const name = nameOf(domain);
  if (name === null) return null;
  const owner = ownerOf(domain);
  return nameOf(owner) === name ? owner : domain;
}

/** RFC 9990 §3.1.1.5, RFC 7489. */
const REASONS = new Set(
  'forwarded sampled_out trusted_forwarder mailing_list local_policy policy_test_mode other'.split(
    ' ',
  ),
);

/** Comments are dropped, except that ARC passes, which shows forwarding. */
function reasonsOf({ reasons }: SummedRow): SummedRow['reasons'] {
  const kept = reasons.map(({ type, comment }) =>
    JSON.stringify({
      type: REASONS.has(type) ? type : 'other',
      comment: /\barc=pass\b/i.test(comment ?? '') ? 'arc=pass' : null,
    }),
  );
  return [...new Set(kept)].sort().map((text) => JSON.parse(text));
}

/** The network of an address or of a sum; null if the sum has none. */
export function networkOfRow(address: string): string | null {
  if (isAddress(address)) return networkOf(address);
  const [place] = address.split(' ') as [string];
  return place === OTHERS || place === NO_ADDRESS ? null : place;
}

/** Whether a row sums up others. Sums that an older version stored have no address. */
export const isSum = (address: string | null): boolean =>
  address === null || !(isAddress(address) || address === NO_ADDRESS);
