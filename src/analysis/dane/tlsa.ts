/** Reads TLSA records for SMTP (RFC 6698, RFC 7672) and compares them with certificates. */

import { createHash } from 'node:crypto';
import { ownerOf } from '../../lib/domain-names.ts';
import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import type { PresentedCertificate } from '../../net/smtp/probe.ts';
import type { Context, FailedLookup, Fix } from '../check.ts';
import { explainAppended, explainRepeated, meantName, repeatedZone } from '../dns/appended-zone.ts';
import { mailHosts } from '../dns/mail-hosts.ts';
import { isFromWildcard } from '../dns/wildcard.ts';

export interface TlsaRecord {
  text: string;
  usage: number;
  selector: number;
  matching: number;
  /** Hexadecimal, in lower case. */
  data: string;
  /** Why senders cannot use the record, continuing "it …"; null if they can. */
  problem: string | null;
}

export interface TlsaHost {
  /** The name of the mail server. */
  host: string;
  /** `_25._tcp.mx.example.com`. */
  name: string;
  records: TlsaRecord[];
  /** The resolver has validated the answer with DNSSEC. */
  authenticated: boolean;
  /** Where its records are instead, if it has none; null if nowhere, as far as is known. */
  misplaced: MisplacedTlsa | null;
}

export interface TlsaLookup {
  hosts: TlsaHost[];
  failures: FailedLookup[];
}

// A fact: caches the lookups, because two checks need them.
const tlsaCache = (_context: Context) => new Map<string, Promise<TlsaLookup>>();

/** The TLSA records of all mail servers of a domain. */
export function lookUpTlsa(context: Context, domain: string): Promise<TlsaLookup> {
  const cache = context.fact(tlsaCache);
  const found = cache.get(domain) ?? lookUp(context, domain);
  cache.set(domain, found);
  return found;
}

/** More are not read. */
const MAX_RECORDS = 20;

async function lookUp(context: Context, domain: string): Promise<TlsaLookup> {
  const { hosts, kind, unanswered } = await mailHosts(context, domain);
  if (kind === 'error') return { hosts: [], failures: unanswered };
  const failures: FailedLookup[] = [];
  const found = await Promise.all(
    hosts.map(async ({ name: written, meant }): Promise<TlsaHost> => {
      const host = meant ?? written;
      const name = `_25._tcp.${host}`;
      const answer = await context.resolver(name, 'TLSA');
      if (answer.status === 'error') failures.push({ name, type: 'TLSA', reason: answer.reason });
      const texts = answer.status === 'found' ? answer.records.slice(0, MAX_RECORDS) : [];
      const authenticated = answer.status === 'found' && answer.authenticated;
      const misplaced =
        answer.status === 'found' || answer.status === 'error'
          ? null
          : await findMisplacedTlsa(name, domain, context.resolver);
      return { host, name, records: texts.map(parseTlsa), authenticated, misplaced };
    }),
  );
  return { hosts: found, failures };
}

/** In hexadecimal digits, by matching type. */
const DIGEST_LENGTHS: Record<number, number> = { 1: 64, 2: 128 };

/** `3 1 1 <hexadecimal>`. */
export function parseTlsa(text: string): TlsaRecord {
  const [usage = '', selector = '', matching = '', ...data] = text.trim().split(/\s+/);
  const record = {
    text: text.slice(0, 300),
    usage: numberOf(usage),
    selector: numberOf(selector),
    matching: numberOf(matching),
    data: data.join('').toLowerCase(),
  };
  return { ...record, problem: problemOf(record) };
}

const numberOf = (text: string): number => (/^\d{1,3}$/.test(text) ? Number(text) : Number.NaN);

function problemOf({ usage, selector, matching, data }: Omit<TlsaRecord, 'problem'>) {
  // RFC 7672 §3.1.3.
  if (usage === 0 || usage === 1) return `has usage ${usage}, but SMTP only allows 2 and 3`;
  if (usage !== 2 && usage !== 3) return 'has an unknown usage';
  if (selector !== 0 && selector !== 1) return 'has an unknown selector';
  if (![0, 1, 2].includes(matching)) return 'has an unknown matching type';
  if (!/^(?:[0-9a-f]{2})+$/.test(data)) return 'has no hexadecimal data';
  const length = DIGEST_LENGTHS[matching];
  if (length !== undefined && data.length !== length)
    return `has a digest of ${data.length / 2} bytes instead of ${length / 2}`;
  // A certificate or a public key in DER is a SEQUENCE.
  return matching === 0 && !data.startsWith('30') ? 'has no certificate or public key' : null;
}

/** Whether a usable record matches. `chain` begins with the certificate of the server. */
export const matchesChain = (records: TlsaRecord[], chain: PresentedCertificate[]): boolean =>
  records.some((record) => {
    if (record.problem !== null) return false;
    // DANE-EE (3) names the server's certificate, DANE-TA (2) an authority above it.
    const candidates = record.usage === 3 ? chain.slice(0, 1) : chain;
    return candidates.some((certificate) => associationOf(record, certificate) === record.data);
  });

function associationOf(
  { selector, matching }: TlsaRecord,
  { der, publicKey }: PresentedCertificate,
): string {
  const bytes = selector === 0 ? der : publicKey;
  if (matching === 0) return Buffer.from(bytes).toString('hex');
  return createHash(matching === 1 ? 'sha256' : 'sha512')
    .update(bytes)
    .digest('hex');
}

/** The record that most guides recommend: DANE-EE, public key, SHA-256 (RFC 7671 §5.1). */
export const recommendedTlsa = (certificate: PresentedCertificate): string =>
  `3 1 1 ${createHash('sha256').update(certificate.publicKey).digest('hex')}`;

// Records that senders do not find because a DNS panel appended the domain: to their name, or to the target of an alias.

interface MisplacedTlsa {
  /** One full sentence. */
  problem: string;
  fix: Fix;
}

/** For a name without TLSA records; null if nothing shows that they are elsewhere. */
async function findMisplacedTlsa(
  name: string,
  domain: string,
  resolver: Resolver,
): Promise<MisplacedTlsa | null> {
  // Others publish the records of their servers.
  if (!name.endsWith(`.${ownerOf(domain)}`)) return null;
  const [target] = recordsOf(await resolver(name, 'CNAME')) ?? [];
  if (target !== undefined) {
    const alias = target.toLowerCase().replace(/\.$/, '');
    const meant = await meantName(alias, domain, ['TLSA'], resolver);
    if (meant === null) return null;
    return {
      problem: `The alias ${name} leads to ${alias}, which has no TLSA records.`,
      fix: { text: explainAppended(alias, meant), record: { type: 'CNAME', name, value: meant } },
    };
  }
  const repeated = await repeatedZone(name, domain, () => true, resolver, 'TLSA');
  if (!repeated || (await isFromWildcard(repeated.name, 'TLSA', resolver))) return null;
  return {
    problem: `The TLSA records for ${name} are published at ${repeated.name}.`,
    // Nobody has read them until now, and senders refuse to deliver if they do not match.
    fix: {
      text: `${explainRepeated(name, repeated.name, domain)} First compare them with the certificate that the server has now. If they do not match, senders that use DANE will not deliver.`,
    },
  };
}
