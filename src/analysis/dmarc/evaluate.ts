/** The DMARC result of a message (RFC 9989): does SPF or DKIM pass with an aligned domain? */

import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js';
import { normalizeDomain, ownedDomain } from '../../lib/domain-names.ts';
import type { AuthResult } from '../auth-results.ts';
import type { Context } from '../check.ts';
import { type DkimOutcome, dkimResult } from '../dkim/verify.ts';
import { mailauthResolver } from '../dns/mailauth-resolver.ts';
import { type SpfOutcome, spfResult } from '../spf/evaluate.ts';
import { withPublished } from '../spf/tree.ts';
import { type DmarcDiscovery, dmarcDiscovery, unusableRecord } from './discovery.ts';
import { parseDmarcTags } from './record.ts';

export interface DmarcOutcome extends Omit<DmarcDiscovery, 'status'> {
  /** RFC 8601 §2.7.2 and RFC 9989 §9.1; null if unknown, but not because of a temporary error. */
  result: AuthResult | null;
  /** Why the result is not `pass` or `none`, in full sentences. */
  reason: string | null;
  /** The result of SPF and DKIM for From, whether or not a record applies; null as for `result`. */
  identifiers: AuthResult | null;
  /** Compares the domains only. DMARC also requires that SPF or DKIM passes. */
  alignment: {
    spf: Alignment;
    /** The best signature: a passing and aligned one if there is one. */
    dkim: Alignment & { result: AuthResult | null };
  };
}

/** A fact: `context.fact(dmarcResult)`. Never rejects because of the content of DNS or of the message. */
export async function dmarcResult(context: Context): Promise<DmarcOutcome> {
  const { status, ...discovery } = await context.fact(dmarcDiscovery);
  const [spf, dkim] = await Promise.all([context.fact(spfResult), context.fact(dkimResult)]);
  const signingDomains = await compareSignatures(context, dkim);
  const alignment = {
    spf: await alignmentOf(context, spf.domain, 'spf'),
    dkim: signingDomains[0] ?? {
      domain: null,
      aligned: null,
      mode: alignmentMode({ status, ...discovery }, 'dkim'),
      result: dkim.result,
    },
  };
  const verdict = evaluate(spf, alignment.spf, signingDomains, dkim.overLimit.isOwn);
  const outcome = { ...discovery, alignment, identifiers: verdict.result };
  if (status === 'offline')
    return { ...outcome, result: null, reason: 'Offline mode makes no DNS lookups.' };
  if (status === 'error')
    return {
      ...outcome,
      result: 'temperror',
      reason: 'The DNS lookup of the DMARC record failed.',
    };
  if (status === 'no_author') return { ...outcome, result: 'permerror' };
  if (status === 'none') return { ...outcome, result: 'none', reason: null };
  return { ...outcome, ...verdict };
}

/**
 * A fact: whether DMARC passes only by Ed25519 signatures, or would pass only by them if there were a record.
 * Large mailbox providers do not verify those, so they see no pass.
 */
export async function reliesOnEd25519(context: Context): Promise<boolean> {
  const [{ identifiers, alignment }, spf] = await Promise.all([
    context.fact(dmarcResult),
    context.fact(spfResult),
  ]);
  // While SPF is unknown, it may be a second basis.
  const maySpf = spf.result === 'pass' || spf.result === 'temperror' || spf.result === null;
  if (identifiers !== 'pass' || (maySpf && alignment.spf.aligned !== false)) return false;
  return !(await context.fact(hasAlignedRsaSignature));
}

/** A fact: whether a valid signature that every mailbox provider verifies is aligned. */
export async function hasAlignedRsaSignature(context: Context): Promise<boolean> {
  const { signatures } = await context.fact(dkimResult);
  const verified = signatures.filter(
    ({ algorithm, result }) => algorithm === 'rsa-sha256' && result === 'pass',
  );
  const compared = await Promise.all(
    verified.map(({ domain }) => alignmentOf(context, domain, 'dkim')),
  );
  return compared.some(({ aligned }) => aligned === true);
}

type SigningDomain = Alignment & { result: AuthResult | null };

const ALIGNMENT_ORDER = [true, null, false];

/** The signing domains, best first. */
async function compareSignatures(context: Context, dkim: DkimOutcome): Promise<SigningDomain[]> {
  const compared = await Promise.all(
    dkim.signatures.map(async ({ domain, result }) => ({
      ...(await alignmentOf(context, domain, 'dkim')),
      result,
    })),
  );
  const rank = ({ result, aligned }: SigningDomain) =>
    (result === 'pass' ? 0 : result === 'temperror' || result === null ? 3 : 6) +
    ALIGNMENT_ORDER.indexOf(aligned);
  return compared.sort((a, b) => rank(a) - rank(b));
}

type Verdict = Pick<DmarcOutcome, 'result' | 'reason'>;

function evaluate(
  spf: SpfOutcome,
  spfAlignment: Alignment,
  signingDomains: SigningDomain[],
  hasUncheckedSignature: boolean,
): Verdict {
  const authenticated = signingDomains
    .filter(({ result }) => result === 'pass')
    .map(({ aligned }) => aligned);
  if (spf.result === 'pass' && spf.domain) authenticated.push(spfAlignment.aligned);
  if (authenticated.includes(true)) return { result: 'pass', reason: null };
  if (authenticated.includes(null))
    return { result: 'temperror', reason: 'The DNS lookup of the organizational domain failed.' };
  if (hasUncheckedSignature)
    return {
      result: 'temperror',
      reason: 'The message has more DKIM signatures by the From domain than are checked.',
    };
  return evaluateIncomplete(spf, spfAlignment, signingDomains);
}

/** No identifier is known to pass with alignment. The DMARC result is unknown while any still might. */
function evaluateIncomplete(
  spf: SpfOutcome,
  spfAlignment: Alignment,
  signingDomains: SigningDomain[],
): Verdict {
  const undecided = signingDomains.filter(({ aligned }) => aligned !== false);
  const isSpfUndecided = spfAlignment.aligned !== false;
  if (undecided.some(({ result }) => result === 'temperror'))
    return {
      result: 'temperror',
      reason: 'DKIM could not be checked. It might still pass for the From domain.',
    };
  if (isSpfUndecided && spf.result === 'temperror')
    return {
      result: 'temperror',
      reason: 'SPF could not be checked. It might still pass for the From domain.',
    };
  if (undecided.some(({ result }) => result === null))
    return {
      result: null,
      reason: 'DKIM was not checked. It might still pass for the From domain.',
    };
  if (isSpfUndecided && spf.result === null)
    return {
      result: null,
      reason:
        `SPF was not checked, and no DKIM signature passes for the From domain. ${spf.reason ?? ''}`.trim(),
    };
  return {
    result: 'fail',
    reason: 'Neither SPF nor DKIM passes for a domain that aligns with the From domain.',
  };
}

// Alignment of an authenticated domain with the From domain (RFC 9989 §4.4, §4.10.2).

export interface Alignment {
  /** The domain compared with the From domain; null if there is none. */
  domain: string | null;
  /** null: unknown, or nothing to compare. */
  aligned: boolean | null;
  /** From the record's `aspf` or `adkim`; relaxed without a record. */
  mode: 'relaxed' | 'strict';
}

/**
 * Uses the tree walk of RFC 9989. Without a DMARC record, the walk finds no organizational domain,
 * so the Public Suffix List predicts what would align with a record.
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
  const aligned = name === from || (await isAlignedCached(context, discovery, name, from, mode));
  return { domain: name, aligned, mode };
}

/** A fact: caches the comparison of each domain for all checks and signatures. */
const alignmentCache = (_: Context) => new Map<string, Promise<boolean | null>>();

function isAlignedCached(
  context: Context,
  discovery: DmarcDiscovery,
  name: string,
  from: string,
  mode: Alignment['mode'],
): Promise<boolean | null> {
  const cache = context.fact(alignmentCache);
  const key = `${mode} ${name}`;
  const comparison = cache.get(key) ?? isAligned(context, discovery, name, from, mode);
  cache.set(key, comparison);
  return comparison;
}

function alignmentMode({ record }: DmarcDiscovery, mechanism: 'spf' | 'dkim'): Alignment['mode'] {
  const tag = mechanism === 'spf' ? 'aspf' : 'adkim';
  // Most records leave it out.
  if (!record?.toLowerCase().includes(tag)) return 'relaxed';
  return parseDmarcTags(record).tags.get(tag)?.toLowerCase() === 's' ? 'strict' : 'relaxed';
}

async function isAligned(
  context: Context,
  discovery: DmarcDiscovery,
  name: string,
  from: string,
  mode: Alignment['mode'],
): Promise<boolean | null> {
  if (discovery.status === 'none') {
    const organization = expectedOrganization(discovery, from);
    return organization !== null && (name === organization || name.endsWith(`.${organization}`));
  }
  if (discovery.status !== 'found') return null;
  // Strict alignment requires identical names (RFC 9989 §4.4), which the caller has compared.
  if (mode === 'strict') return false;
  // Different top-level labels never align. This is usually an email service's own signature.
  if (name.split('.').at(-1) !== from.split('.').at(-1)) return false;
  const { response } = await evaluateDmarc({
    headerFrom: from,
    // Relaxed alignment is the same for SPF and DKIM, but each has its own tag in the record. So
    // pass the domain as the identifier whose tag is relaxed.
    ...relaxedIdentifier(discovery, name),
    resolver: mailauthResolver(context.resolver),
    strict: true,
  });
  if (!response) return null;
  if (response.status.result === 'pass') return true;
  return response.status.result === 'temperror' ? null : false;
}

/** Where a record will be once the proposed one is published: in place of an unusable one, if there is any. */
function expectedOrganization({ discarded }: DmarcDiscovery, from: string): string | null {
  return (unusableRecord(discarded) ?? discarded[0])?.domain ?? ownedDomain(from);
}

/** Whether DMARC counts the signing domain if the proposed record replaces the one that applies. */
export async function alignsWithRecord(
  context: Context,
  domain: string,
  proposed: string,
): Promise<boolean> {
  const { fromDomain, recordDomain } = await context.fact(dmarcDiscovery);
  const { response } = await evaluateDmarc({
    headerFrom: fromDomain ?? '',
    dkimDomains: [{ domain }],
    resolver: mailauthResolver(withPublished(`_dmarc.${recordDomain}`, proposed, context.resolver)),
    strict: true,
  });
  return response !== false && response.status.result === 'pass';
}

function relaxedIdentifier(discovery: DmarcDiscovery, name: string) {
  return alignmentMode(discovery, 'spf') === 'relaxed'
    ? { spfDomains: [name] }
    : { dkimDomains: [{ domain: name }] };
}
