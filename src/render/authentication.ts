/** SPF, each DKIM signature and DMARC side by side, with what of them is aligned with From. */

import { addressDomain } from '../lib/domain-names.ts';
import {
  booleanIn,
  type Evidence,
  evidenceOf,
  numberIn,
  objectIn,
  objectsIn,
  textIn,
  textsIn,
} from './read-evidence.ts';
import type { Reported } from './report.ts';

/** SPF, or one signature: a domain that was authenticated, or was not. */
export interface Identifier {
  mechanism: 'SPF' | 'DKIM';
  /** In the words of RFC 8601; null where it was not asked. */
  result: string | null;
  domain: string | null;
  /** Whether the domain belongs to that of From; null where that is not known or nothing to compare. */
  aligned: boolean | null;
  /** What else is known of it, a few words each. */
  notes: string[];
}

interface Authentication {
  fromDomain: string | null;
  identifiers: Identifier[];
  dmarc: { result: string | null; policy: string | null; record: string | null; at: string | null };
  /** DKIM signatures that were not looked at. */
  ignored: number;
}

export function authenticationOf({
  checks,
  auth_results,
  from_address,
}: Pick<Reported, 'checks' | 'auth_results' | 'from_address'>): Authentication {
  const dmarc = evidenceOf(checks, 'dmarc');
  const dkim = evidenceOf(checks, 'dkim');
  const fromDomain = textIn(dmarc, 'from_domain') ?? addressDomain(from_address ?? '');
  const recordDomain = textIn(dmarc, 'record_domain');
  const compared = checks.find(({ id, status }) => id === 'dkim_alignment' && status !== 'error');
  const signatures = objectsIn(dkim, 'signatures').map((signature) =>
    signatureOf(signature, fromDomain, compared?.evidence ?? {}, dmarc),
  );
  return {
    fromDomain,
    identifiers: [
      spfOf(evidenceOf(checks, 'spf'), auth_results.spf, dmarc),
      ...(signatures.length > 0 ? signatures : [unsigned(auth_results.dkim)]),
    ],
    dmarc: {
      result: auth_results.dmarc,
      policy: textIn(dmarc, 'policy'),
      record: textIn(dmarc, 'record'),
      at: recordDomain && `_dmarc.${recordDomain}`,
    },
    ignored: numberIn(dkim, 'signatures_not_looked_at') ?? 0,
  };
}

function spfOf(spf: Evidence, result: string | null, dmarc: Evidence): Identifier {
  const ip = textIn(spf, 'client_ip');
  const identity = textIn(spf, 'identity');
  const reason = textIn(spf, 'reason');
  return {
    mechanism: 'SPF',
    result,
    domain: textIn(spf, 'domain'),
    aligned: booleanIn(objectIn(dmarc, 'spf'), 'aligned'),
    notes: [
      ...(ip ? [`sent by ${ip}`] : []),
      ...(identity ? [identity === 'helo' ? 'by the name in HELO' : 'by the envelope sender'] : []),
      ...(reason && result !== 'pass' ? [reason] : []),
    ],
  };
}

const unsigned = (result: string | null): Identifier => ({
  mechanism: 'DKIM',
  result,
  domain: null,
  aligned: null,
  notes: result === 'none' ? ['the message is not signed'] : [],
});

function signatureOf(
  signature: Evidence,
  fromDomain: string | null,
  alignment: Evidence,
  dmarc: Evidence,
): Identifier {
  const domain = textIn(signature, 'domain');
  const result = textIn(signature, 'result');
  const selector = textIn(signature, 'selector');
  const bits = numberIn(signature, 'bits');
  const reason = textIn(signature, 'reason');
  return {
    mechanism: 'DKIM',
    result,
    domain,
    aligned: domain === null ? null : isAligned(domain, result, fromDomain, alignment, dmarc),
    notes: [
      ...(selector ? [`selector ${selector}`] : []),
      ...[textIn(signature, 'algorithm')].filter((text) => text !== null),
      ...(bits === null ? [] : [`${bits} bits`]),
      ...(reason && result !== 'pass' ? [reason] : []),
    ],
  };
}

/** `dkim_alignment` compares the valid signatures, `dmarc` the one that helps most. */
function isAligned(
  domain: string,
  result: string | null,
  fromDomain: string | null,
  alignment: Evidence,
  dmarc: Evidence,
): boolean | null {
  if (domain === fromDomain || textsIn(alignment, 'aligned').includes(domain)) return true;
  const best = objectIn(dmarc, 'dkim');
  if (textIn(best, 'domain') === domain) return booleanIn(best, 'aligned');
  return result === 'pass' && 'aligned' in alignment ? false : null;
}
