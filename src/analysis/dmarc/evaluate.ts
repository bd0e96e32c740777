/** The DMARC result of a message (RFC 9989): does an aligned SPF or DKIM pass vouch for From? */

import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js';
import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import type { Context } from '../check.ts';
import { type DkimOutcome, dkimResult } from '../dkim/verify.ts';
import { mailauthResolver } from '../dns/mailauth-resolver.ts';
import type { AuthResult } from '../result.ts';
import { type SpfOutcome, spfResult } from '../spf/evaluate.ts';
import { type DmarcDiscovery, dmarcDiscovery } from './discovery.ts';
import { parseDmarcTags } from './record.ts';

export interface DmarcOutcome extends Omit<DmarcDiscovery, 'status'> {
  /** RFC 8601 §2.7.2 and RFC 9989 §9.1; null is "not known, and nothing temporary about it". */
  result: AuthResult | null;
  /** Why it is not `pass` or `none`, a full sentence. */
  reason: string | null;
  /** What SPF and DKIM come to for From, whether or not a record applies; null as for `result`. */
  identifiers: AuthResult | null;
  /** Of the domains alone, whether or not SPF and DKIM pass: only both together count. */
  alignment: {
    spf: Alignment;
    /** The signature that helps most: a passing and aligned one where there is one. */
    dkim: Alignment & { result: AuthResult | null };
  };
}

/** A fact: ask for it by `context.fact(dmarcResult)`. Never rejects for what the DNS or the message says. */
export async function dmarcResult(context: Context): Promise<DmarcOutcome> {
  const { status, ...discovery } = await context.fact(dmarcDiscovery);
  const [spf, dkim] = await Promise.all([context.fact(spfResult), context.fact(dkimResult)]);
  const signed = await compareSignatures(context, dkim);
  const alignment = {
    spf: await alignmentOf(context, spf.domain, 'spf'),
    dkim: signed[0] ?? {
      domain: null,
      aligned: null,
      mode: alignmentMode({ status, ...discovery }, 'dkim'),
      result: dkim.result,
    },
  };
  const verdict = evaluate(spf, alignment.spf, signed);
  const found = { ...discovery, alignment, identifiers: verdict.result };
  if (status === 'offline')
    return { ...found, result: null, reason: 'The analysis was made offline.' };
  if (status === 'error')
    return { ...found, result: 'temperror', reason: 'The DNS did not answer for the record.' };
  if (status === 'no_author') return { ...found, result: 'permerror' };
  if (status === 'none') return { ...found, result: 'none', reason: null };
  return { ...found, ...verdict };
}

type SignedBy = Alignment & { result: AuthResult | null };

const RANKS = [true, null, false];

/** The signing domains, the most helpful first; each domain is compared once. */
async function compareSignatures(context: Context, dkim: DkimOutcome): Promise<SignedBy[]> {
  const compared = await Promise.all(
    dkim.signatures.map(async ({ domain, result }) => ({
      ...(await alignmentOf(context, domain, 'dkim')),
      result,
    })),
  );
  const rank = ({ result, aligned }: SignedBy) =>
    (result === 'pass' ? 0 : result === 'temperror' || result === null ? 3 : 6) +
    RANKS.indexOf(aligned);
  return compared.sort((a, b) => rank(a) - rank(b));
}

type Verdict = Pick<DmarcOutcome, 'result' | 'reason'>;

function evaluate(spf: SpfOutcome, spfAlignment: Alignment, signed: SignedBy[]): Verdict {
  const vouching = signed.filter(({ result }) => result === 'pass').map(({ aligned }) => aligned);
  if (spf.result === 'pass' && spf.domain) vouching.push(spfAlignment.aligned);
  if (vouching.includes(true)) return { result: 'pass', reason: null };
  if (vouching.includes(null))
    return { result: 'temperror', reason: 'The DNS did not answer for the organizational domain.' };
  return couldStillPass(spf, spfAlignment, signed);
}

/** No identifier is known to vouch for From: but one that is not known might, and then nor is DMARC. */
function couldStillPass(spf: SpfOutcome, spfAlignment: Alignment, signed: SignedBy[]): Verdict {
  const open = signed.filter(({ aligned }) => aligned !== false);
  const spfIsOpen = spfAlignment.aligned !== false;
  if (open.some(({ result }) => result === 'temperror'))
    return { result: 'temperror', reason: 'DKIM could not be checked, and might vouch for From.' };
  if (spfIsOpen && spf.result === 'temperror')
    return { result: 'temperror', reason: 'SPF could not be checked, and might vouch for From.' };
  if (open.some(({ result }) => result === null))
    return { result: null, reason: 'DKIM was not checked, and might vouch for From.' };
  if (spfIsOpen && spf.result === null)
    return {
      result: null,
      reason:
        `SPF was not checked, and no aligned DKIM signature vouches for From. ${spf.reason ?? ''}`.trim(),
    };
  return { result: 'fail', reason: 'Neither SPF nor DKIM passes for a domain aligned with From.' };
}

// Whether an authenticated domain belongs to the From domain (RFC 9989 §4.4, §4.10.2).

export interface Alignment {
  /** The domain that was compared with the From domain; null where there is none. */
  domain: string | null;
  /** null: could not be found out, or there is nothing to compare. */
  aligned: boolean | null;
  /** By the record's `aspf` or `adkim`; relaxed where there is no record. */
  mode: 'relaxed' | 'strict';
}

/**
 * Compares by the tree walk of RFC 9989. Without a DMARC record the walk would find no common
 * organization for anyone, so the Public Suffix List stands in: what would align once there is one.
 */
export async function alignmentOf(
  context: Context,
  domain: string | null,
  mechanism: 'spf' | 'dkim',
): Promise<Alignment> {
  const discovery = await context.fact(dmarcDiscovery);
  const mode = alignmentMode(discovery, mechanism);
  const name = domain === null ? null : normalizeDomain(domain);
  const from = discovery.fromDomain;
  if (name === null || from === null) return { domain, aligned: null, mode };
  const aligned = name === from || (await compareOnce(context, discovery, name, from, mode));
  return { domain: name, aligned, mode };
}

/** A fact: each domain is compared once, however many checks and signatures name it. */
const comparisons = (_: Context) => new Map<string, Promise<boolean | null>>();

function compareOnce(
  context: Context,
  discovery: DmarcDiscovery,
  name: string,
  from: string,
  mode: Alignment['mode'],
): Promise<boolean | null> {
  const made = context.fact(comparisons);
  const key = `${mode} ${name}`;
  const comparison = made.get(key) ?? isAligned(context, discovery, name, from, mode);
  made.set(key, comparison);
  return comparison;
}

function alignmentMode({ record }: DmarcDiscovery, mechanism: 'spf' | 'dkim'): Alignment['mode'] {
  const value = record && parseDmarcTags(record).tags.get(mechanism === 'spf' ? 'aspf' : 'adkim');
  return value?.toLowerCase() === 's' ? 'strict' : 'relaxed';
}

async function isAligned(
  context: Context,
  discovery: DmarcDiscovery,
  name: string,
  from: string,
  mode: Alignment['mode'],
): Promise<boolean | null> {
  if (discovery.status === 'none') {
    const organization = organizationalDomain(from);
    return organization !== null && organization === organizationalDomain(name);
  }
  if (discovery.status !== 'found') return null;
  // Strict alignment wants the very same name (RFC 9989 §4.4), and that was compared already.
  if (mode === 'strict') return false;
  // Without a common label there is no common organization: a provider's own signature, mostly.
  if (name.split('.').at(-1) !== from.split('.').at(-1)) return false;
  const { response } = await evaluateDmarc({
    headerFrom: from,
    // As a signer's domain or as SPF's: relaxed alignment is the same for both, but each follows
    // its own tag of the record, so it is asked as one whose tag is relaxed.
    ...relaxedIdentifier(discovery, name),
    resolver: mailauthResolver(context.resolver),
    strict: true,
  });
  if (!response) return null;
  if (response.status.result === 'pass') return true;
  return response.status.result === 'temperror' ? null : false;
}

function relaxedIdentifier(discovery: DmarcDiscovery, name: string) {
  return alignmentMode(discovery, 'spf') === 'relaxed'
    ? { spfDomains: [name] }
    : { dkimDomains: [{ domain: name }] };
}
