/** Whether an authenticated domain belongs to the From domain (RFC 9989 §4.4, §4.10.2). */

import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js';
import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import type { Context } from '../check.ts';
import { type DmarcDiscovery, dmarcDiscovery } from './dmarc-discovery.ts';
import { parseDmarcTags } from './dmarc-tags.ts';
import { mailauthResolver } from './mailauth-resolver.ts';

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

export function alignmentMode(
  { record }: DmarcDiscovery,
  mechanism: 'spf' | 'dkim',
): Alignment['mode'] {
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
