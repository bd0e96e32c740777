/** One CAA record: its parts, what is wrong with it, and the same record put right (RFC 8659 §4). */

import { normalizeDomain } from '../../lib/domain-names.ts';

/** RFC 8659 §4, RFC 9495, and the properties of the CA/Browser Forum and for mark certificates. */
const KNOWN = /^(?:issue|issuewild|issuemail|issuevmc|iodef|contactemail|contactphone)$/;

interface CaaRecord {
  flags: number;
  tag: string;
  value: string;
}

export interface CaaProblem {
  /** One sentence. */
  text: string;
  /** What to change, one sentence. */
  fix: string;
  /** The record to publish in its place; null where it cannot be told. */
  corrected: string | null;
}

/** `0 issue "ca.example; account=1"`; null for what cannot be read. */
export function parseCaa(text: string): CaaRecord | null {
  const match = /^(\d{1,3}) ([a-z0-9]{1,255}) "?([^"]*)"?$/i.exec(text);
  if (!match) return null;
  return { flags: Number(match[1]), tag: match[2]!.toLowerCase(), value: match[3]! };
}

/** The authority that an `issue` property names; empty for nobody. */
export const issuerOf = (value: string): string => value.split(';', 1)[0]!.trim().toLowerCase();

/** `text`: the record as it was published. */
export function caaProblem(record: CaaRecord | null, text: string): CaaProblem | null {
  const shown = `"${text.slice(0, 100)}"`;
  if (record === null)
    return {
      text: `${shown} cannot be read.`,
      fix: `Delete the record ${shown}, or write it as a number, a property and a value: 0 issue "ca.example".`,
      corrected: null,
    };
  const { flags, tag, value } = record;
  // §4.1: an authority that does not know a critical property must not issue.
  if (!KNOWN.test(tag))
    return flags < 128
      ? null
      : {
          text: `${shown} is critical, and nobody knows "${tag.slice(0, 40)}".`,
          fix: `Delete the record ${shown}, or publish it with the flags 0.`,
          corrected: `0 ${tag} "${value}"`,
        };
  // §4.2: an issuer that is no domain name forbids issuance to all.
  const issuer = issuerOf(value);
  if (!tag.startsWith('issue') || issuer === '' || normalizeDomain(issuer) !== null) return null;
  const host = hostIn(issuer);
  return {
    text: `${shown} does not name an authority by its domain.`,
    fix: host
      ? `Publish the record ${shown} with ${host} alone as the name of the authority.`
      : `Write the domain name of the authority in the record ${shown}, or delete it.`,
    corrected: host && `${flags} ${tag} "${[host, ...value.split(';').slice(1)].join(';')}"`,
  };
}

/** The name of a host out of what somebody took for its name: `https://ca.example/`, `a@ca.example`. */
function hostIn(issuer: string): string | null {
  const host = issuer
    .replace(/^[a-z][a-z0-9+.-]*:(?:\/\/)?/, '')
    .replace(/[/?#].*$/s, '')
    .replace(/^.*@/s, '')
    .replace(/:\d+$/, '')
    .trim();
  const name = normalizeDomain(host);
  return name?.includes('.') ? name : null;
}
