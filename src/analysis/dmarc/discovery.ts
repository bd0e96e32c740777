/** Which DMARC record applies to a domain, by RFC 9989's tree walk, and which are passed over. */

import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js';
import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import type { Context } from '../check.ts';
import { mailauthResolver } from '../dns/mailauth-resolver.ts';
import { fields } from '../mime/message.ts';
import { isDmarcRecord, parseDmarcTags, resemblesDmarc } from './record.ts';

/** A record, or several, that receivers act on as if there were none. */
export interface DiscardedRecord {
  domain: string;
  texts: string[];
  /** `version`: does not begin with `v=DMARC1;`. `policy`: no valid policy and nowhere to report to. */
  why: 'several' | 'doubled_tag' | 'version' | 'policy';
}

/** One that was meant to be a DMARC record and is none, which `dmarc_record` tells of; if any. */
export function unusableRecord(discarded: DiscardedRecord[]): DiscardedRecord | undefined {
  return discarded.find(({ why }) => why !== 'policy');
}

export interface DmarcPolicy {
  /** What receivers are asked to do, `t=y` taken into account. */
  effective: string;
  /** What is published for this From domain before `t=y` takes it a step down. */
  published: string;
  /** The tag that it comes from: `sp` and `np` for a domain below the one with the record. */
  tag: 'p' | 'sp' | 'np';
  testing: boolean;
}

export interface DmarcDiscovery {
  /** `none`: no record applies. `error`: could not be found out. `no_author`: From has not one domain. */
  status: 'found' | 'none' | 'error' | 'offline' | 'no_author';
  /** For `error` and `no_author`, in words. */
  reason: string | null;
  fromDomain: string | null;
  /** By the tree walk (RFC 9989 §4.10.2); null where it is not known. */
  organizationalDomain: string | null;
  /** Where the record is published, without `_dmarc.`. */
  recordDomain: string | null;
  record: string | null;
  policy: DmarcPolicy | null;
  discarded: DiscardedRecord[];
}

const NOTHING: DmarcDiscovery = {
  status: 'none',
  reason: null,
  fromDomain: null,
  organizationalDomain: null,
  recordDomain: null,
  record: null,
  policy: null,
  discarded: [],
};

const AUTHOR_REASONS: Record<string, string> = {
  'no-author-domain': 'The From field names no domain.',
  'multiple-author-domains': 'The From field names addresses at more than one domain.',
  'invalid-author-domain': 'One of the addresses in the From field has no valid domain.',
  'multiple-from-fields': 'The message has more than one From field.',
};

/** A fact: ask for it by `context.fact(dmarcDiscovery)`. The record for the message's From domain. */
export async function dmarcDiscovery(context: Context): Promise<DmarcDiscovery> {
  const { message } = context;
  const addresses = message.from.map(({ address }) => address);
  const fromDomain = normalizeDomain(addresses[0]?.slice(addresses[0].lastIndexOf('@') + 1) ?? '');
  if (context.offline) return { ...NOTHING, status: 'offline', fromDomain };
  return discoverDmarc(addresses, context.resolver, fields(message, 'from').length);
}

/** The record for From addresses, or for a domain in their stead. Never rejects. */
async function discoverDmarc(
  from: string | string[],
  resolver: Resolver,
  fromFields = 1,
): Promise<DmarcDiscovery> {
  const { response, reason } = await evaluateDmarc({
    headerFrom: from,
    fromFields,
    resolver: mailauthResolver(resolver),
    strict: true,
  });
  if (!response)
    return { ...NOTHING, status: 'no_author', reason: AUTHOR_REASONS[reason ?? ''] ?? null };
  const fromDomain = normalizeDomain(response.status.header?.from ?? '');
  if (fromDomain === null)
    return { ...NOTHING, status: 'no_author', reason: 'The From address has no domain name.' };
  if (response.status.result === 'temperror')
    return { ...NOTHING, status: 'error', reason: response.error ?? null, fromDomain };
  const discovery: DmarcDiscovery = {
    ...NOTHING,
    fromDomain,
    organizationalDomain: response.domain ?? null,
    recordDomain: response.policyDomain ?? null,
    record: response.rr ?? null,
  };
  if (discovery.record !== null && discovery.recordDomain !== null) {
    discovery.status = 'found';
    discovery.policy = policyOf(response, discovery.recordDomain === fromDomain);
  }
  return { ...discovery, discarded: await findDiscarded(discovery, resolver) };
}

type Response = Exclude<Awaited<ReturnType<typeof evaluateDmarc>>['response'], false>;

const ONE_STEP_DOWN: Record<string, string> = { reject: 'quarantine', quarantine: 'none' };

function policyOf(response: Response, own: boolean): DmarcPolicy {
  const { p, sp, np, policy: effective, testMode: testing } = response;
  const lowered = (policy: string) => (testing ? (ONE_STEP_DOWN[policy] ?? 'none') : policy);
  // `np` is for names that do not exist: mailauth has looked that up, and its answer tells.
  const absent = np !== undefined && lowered(np) === effective && lowered(sp) !== effective;
  const inherited = absent ? 'np' : parseDmarcTags(response.rr ?? '').tags.has('sp') ? 'sp' : 'p';
  const tag = own ? 'p' : inherited;
  return { effective, published: { p, sp, np: np ?? sp }[tag], tag, testing };
}

/** Looks where a record is expected: at the From domain and at the organizational domain. */
async function findDiscarded(
  { fromDomain, organizationalDomain: organization, recordDomain }: DmarcDiscovery,
  resolver: Resolver,
): Promise<DiscardedRecord[]> {
  // Its own record applies: what lies above is asked for nothing.
  if (recordDomain === fromDomain) return [];
  const names = [fromDomain, organization, organizationalDomain(fromDomain ?? '')];
  const expected = new Set(names.filter((name) => name !== null && name !== ''));
  const found = await Promise.all(
    [...expected].map(async (domain) => {
      if (domain === recordDomain) return [];
      const answer = await resolver(`_dmarc.${domain}`, 'TXT');
      const texts = answer.status === 'found' ? answer.records.filter(resemblesDmarc) : [];
      return texts.length === 0 ? [] : [{ domain: domain!, texts, why: whyDiscarded(texts) }];
    }),
  );
  return found.flat();
}

function whyDiscarded(texts: string[]): DiscardedRecord['why'] {
  const records = texts.filter(isDmarcRecord);
  if (records.length === 0) return 'version';
  if (records.length > 1) return 'several';
  return parseDmarcTags(records[0]!).doubled.length > 0 ? 'doubled_tag' : 'policy';
}
