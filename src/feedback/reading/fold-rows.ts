/**
 * Sums up rows by source, in bounded memory. Instead of an address, a sum has what its messages have in common: `others` and the
 * domain of a known service or forwarder, else a network with the domain that authenticates, such as `192.0.2.0/24 example.com`.
 */

import {
  serviceOfMailFrom,
  serviceOfSigner,
} from '../../analysis/sending-services/services.ts';
import { isAddress, networkOf } from '../../lib/addresses.ts';
import { ownerOf } from '../../lib/domain-names.ts';
import { forwarderOf } from '../sources/forwarders.ts';
import type { Disposition, DmarcEvaluation } from './report.ts';

/** What is summed up. */
export interface SummedRow {
  address: string | null;
  count: number;
  disposition: Disposition;
  dkim: DmarcEvaluation;
  spf: DmarcEvaluation;
  reasons: { type: string; comment: string | null }[];
  /** A domain with a signature that passes, and one for which SPF passes. */
  signer: string | null;
  mailFrom: string | null;
}

const OTHERS = 'others';
/** Of rows without an address that can be read. */
export const NO_ADDRESS = 'unknown';

/** What each level keeps of rows whose source is not known. With too many sums, the next level follows. */
const LEVELS = [
  { bits: [24, 48], domain: true },
  { bits: [24, 48], domain: false },
  { bits: [16, 32], domain: false },
  { bits: [8, 16], domain: false },
  null,
] as const;

/** Sums of rows, at most `max` of them, unless results alone make more. */
export class RowSums {
  readonly #max: number;
  #level = 0;
  /** With a row of each sum, from which a coarser one follows. */
  #sums = new Map<string, { sample: SummedRow; sum: SummedRow }>();
  rows = 0;
  messages = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(row: SummedRow): void {
    this.rows += 1;
    this.messages += row.count;
    this.#put(row, row.count);
    while (this.#sums.size > this.#max && this.#level < LEVELS.length - 1) {
      this.#level += 1;
      const finer = this.#sums;
      this.#sums = new Map();
      for (const { sample, sum } of finer.values()) this.#put(sample, sum.count);
    }
  }

  /** Those with the most messages first. */
  list(): SummedRow[] {
    return [...this.#sums.values()].map(({ sum }) => sum).sort((a, b) => b.count - a.count);
  }

  #put(sample: SummedRow, count: number): void {
    const common = commonOf(sample, this.#level);
    const key = JSON.stringify(common);
    const known = this.#sums.get(key);
    if (known) known.sum.count += count;
    else this.#sums.set(key, { sample, sum: { ...common, count } });
  }
}

/** What a row has in common with the others of its sum. */
function commonOf(row: SummedRow, level: number): Omit<SummedRow, 'count'> {
  const { dkim, spf, disposition } = row;
  const kept = LEVELS[level] ?? null;
  if (kept === null)
    return { address: OTHERS, dkim, spf, disposition, reasons: [], ...NOBODY };
  const known = knownDomain(row);
  const isKnown = domainOf(known) !== null;
  const shown = isKnown ? known : kept.domain ? authenticated(row) : NOBODY;
  const place = isKnown ? OTHERS : networkAt(row.address, kept.bits);
  const address = [place, domainOf(shown)].filter((part) => part !== null).join(' ');
  return { address, dkim, spf, disposition, reasons: reasonsOf(row), ...shown };
}

const networkAt = (address: string | null, [ipv4Bits, ipv6Bits]: readonly [number, number]) =>
  address !== null && isAddress(address) ? networkOf(address, ipv4Bits, ipv6Bits) : NO_ADDRESS;

type Authenticated = Pick<SummedRow, 'signer' | 'mailFrom'>;

const NOBODY: Authenticated = { signer: null, mailFrom: null };

const domainOf = ({ signer, mailFrom }: Authenticated): string | null => signer ?? mailFrom;

function authenticated({ signer, mailFrom }: SummedRow): Authenticated {
  if (signer !== null) return { signer: ownerOf(signer), mailFrom: null };
  return { signer: null, mailFrom: mailFrom === null ? null : ownerOf(mailFrom) };
}

/** As `nameSource` finds it: SPF names the machine that sends, and signatures survive forwarding. */
function knownDomain({ signer, mailFrom }: SummedRow): Authenticated {
  const bySpf = mailFrom === null ? null : shortest(mailFrom, serviceOfMailFrom);
  if (bySpf !== null) return { signer: null, mailFrom: bySpf };
  return { signer: signer === null ? null : shortest(signer, serviceOfSigner), mailFrom: null };
}

/** Services give each customer a subdomain. */
function shortest(domain: string, find: (domain: string) => { id: string } | undefined) {
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

/** Of comments, only that ARC passes, which shows forwarding. */
function reasonsOf({ reasons }: SummedRow): SummedRow['reasons'] {
  const kept = reasons.map(({ type, comment }) =>
    JSON.stringify({
      type: REASONS.has(type) ? type : 'other',
      comment: /\barc=pass\b/i.test(comment ?? '') ? 'arc=pass' : null,
    }),
  );
  return [...new Set(kept)].sort().map((text) => JSON.parse(text));
}

/** The network of a sum, without its domain; else that of a single address. */
export const placeOf = (address: string): string =>
  isAddress(address) ? networkOf(address) : address.split(' ')[0]!;

/** Whether a row sums up others. Those of reports that an older program read have no address. */
export const isSum = (address: string | null): boolean =>
  address === null || !(isAddress(address) || address === NO_ADDRESS);
