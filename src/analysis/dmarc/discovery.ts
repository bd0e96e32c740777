/** Finds the DMARC record that applies to a domain (RFC 9989 tree walk), and unusable records. */

import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js';
import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import type { Context } from '../check.ts';
import { mailauthResolver } from '../dns/mailauth-resolver.ts';
import { fields } from '../mime/message.ts';
import { isDmarcRecord, parseDmarcTags, resemblesDmarc } from './record.ts';

/** Records at a domain that mailbox providers treat as absent. */
export interface DiscardedRecord {
  domain: string;
  texts: string[];
  /** `version`: does not begin with `v=DMARC1;`. `policy`: no valid policy and no report address. */
  reason: 'several' | 'doubled_tag' | 'version' | 'policy';
}

/** The first record that is not valid DMARC at all, which the check `dmarc_record` reports. */
export function unusableRecord(discarded: DiscardedRecord[]): DiscardedRecord | undefined {
  return discarded.find(({ reason: why }) => why !== 'policy');
}

export interface DmarcPolicy {
  /** What mailbox providers should do, including the effect of `t=y`. */
  effective: string;
  /** What the record says for this From domain, before `t=y` lowers it by one step. */
  published: string;
  /** The tag with the policy: `sp` and `np` apply to subdomains of the record's domain. */
  tag: 'p' | 'sp' | 'np';
  testing: boolean;
}

export interface DmarcDiscovery {
  /** `none`: no record applies. `error`: a lookup failed. `no_author`: From does not have exactly one domain. */
  status: 'found' | 'none' | 'error' | 'offline' | 'no_author';
  /** Only for `error` and `no_author`. */
  reason: string | null;
  fromDomain: string | null;
  /** By the tree walk (RFC 9989 §4.10.2); null if unknown. */
  organizationalDomain: string | null;
  /** Where the record is published, without `_dmarc.`. */
  recordDomain: string | null;
  record: string | null;
  policy: DmarcPolicy | null;
  discarded: DiscardedRecord[];
}

const NO_RECORD: DmarcDiscovery = {
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
  'no-author-domain': 'The From field has no domain.',
  'multiple-author-domains': 'The From field has addresses at more than one domain.',
  'invalid-author-domain': 'An address in the From field has no valid domain.',
  'multiple-from-fields': 'The message has more than one From field.',
};

/** A fact: `context.fact(dmarcDiscovery)`. Finds the record for the From domain of the message. */
export async function dmarcDiscovery(context: Context): Promise<DmarcDiscovery> {
  const { message } = context;
  const addresses = message.from.map(({ address }) => address);
  const fromDomain = normalizeDomain(addresses[0]?.slice(addresses[0].lastIndexOf('@') + 1) ?? '');
  if (context.offline) return { ...NO_RECORD, status: 'offline', fromDomain };
  return discoverDmarc(addresses, context.resolver, fields(message, 'from').length);
}

/** `from`: the From addresses, or a domain. Never rejects. */
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
    return { ...NO_RECORD, status: 'no_author', reason: AUTHOR_REASONS[reason ?? ''] ?? null };
  const fromDomain = normalizeDomain(response.status.header?.from ?? '');
  if (fromDomain === null)
    return { ...NO_RECORD, status: 'no_author', reason: 'The From address has no domain name.' };
  if (response.status.result === 'temperror')
    return { ...NO_RECORD, status: 'error', reason: response.error ?? null, fromDomain };
  const discovery: DmarcDiscovery = {
    ...NO_RECORD,
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

type DmarcResponse = Exclude<Awaited<ReturnType<typeof evaluateDmarc>>['response'], false>;

const ONE_STEP_DOWN: Record<string, string> = { reject: 'quarantine', quarantine: 'none' };

function policyOf(response: DmarcResponse, isOwnRecord: boolean): DmarcPolicy {
  const { p, sp, np, policy: effective, testMode: testing } = response;
  const applyTestMode = (policy: string) => (testing ? (ONE_STEP_DOWN[policy] ?? 'none') : policy);
  // `np` is for domains that do not exist. mailauth has looked that up, and its effective policy shows
  // whether `np` applied.
  const isNonexistent =
    np !== undefined && applyTestMode(np) === effective && applyTestMode(sp) !== effective;
  const inherited = isNonexistent
    ? 'np'
    : parseDmarcTags(response.rr ?? '').tags.has('sp')
      ? 'sp'
      : 'p';
  const tag = isOwnRecord ? 'p' : inherited;
  return { effective, published: { p, sp, np: np ?? sp }[tag], tag, testing };
}

/** Looks up unusable records at the From domain and the organizational domain. */
async function findDiscarded(
  { fromDomain, organizationalDomain: organization, recordDomain }: DmarcDiscovery,
  resolver: Resolver,
): Promise<DiscardedRecord[]> {
  // The From domain has its own record, so the records above it do not matter.
  if (recordDomain === fromDomain) return [];
  const names = [fromDomain, organization, organizationalDomain(fromDomain ?? '')];
  const domains = new Set(names.filter((name) => name !== null && name !== ''));
  const found = await Promise.all(
    [...domains].map(async (domain) => {
      if (domain === recordDomain) return [];
      const answer = await resolver(`_dmarc.${domain}`, 'TXT');
      const texts =
        answer.status === 'found' ? answer.records.filter(resemblesDmarc).toSorted() : [];
      return texts.length === 0 ? [] : [{ domain: domain!, texts, reason: discardReason(texts) }];
    }),
  );
  return found.flat();
}

function discardReason(texts: string[]): DiscardedRecord['reason'] {
  const records = texts.filter(isDmarcRecord);
  if (records.length === 0) return 'version';
  if (records.length > 1) return 'several';
  return parseDmarcTags(records[0]!).duplicates.length > 0 ? 'doubled_tag' : 'policy';
}
