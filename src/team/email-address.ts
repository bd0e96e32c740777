/** The e-mail address by which a member is known. */

import { normalizeDomain } from '../lib/domain-names.ts';

/** Dot-atoms of ASCII (RFC 5321 §4.1.2, RFC 5322 §3.2.3): no list, no comment, no quoted text. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const LOCAL_MAX = 64;
export const EMAIL_MAX = 254;

/** Lower case, the domain as A-labels; null for what is not exactly one address. */
export function normalizeEmail(text: string): string | null {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0)).toLowerCase();
  const domain = normalizeDomain(text.slice(at + 1));
  if (local.length > LOCAL_MAX || !LOCAL_PART.test(local) || domain === null) return null;
  const address = `${local}@${domain}`;
  return address.length <= EMAIL_MAX ? address : null;
}
