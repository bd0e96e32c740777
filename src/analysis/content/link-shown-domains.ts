/** The domains that the visible text of a link shows to its reader. */

import { parse } from 'tldts';
import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';

export interface ShownDomain {
  /** As the reader sees it. */
  shown: string;
  organization: string;
  /** Written as an address (`https://`, `www.`), or all that the link's text says. */
  plain: boolean;
}

/** Words that end so are files more often than domains. */
const FILE_ENDINGS = new Set(['zip', 'mov', 'md', 'sh', 'py', 'pl', 'rs', 'ps', 'cab']);

// What nobody sees must not tell two spellings apart.
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const SEPARATORS = /[\s<>()[\]{}"'“”„‚‘’«»,;|]+/u;

/** In the order of the text; addresses of mailboxes are no domains shown. */
export function shownDomains(text: string): ShownDomain[] {
  const tokens = text
    .replace(INVISIBLE, '')
    .split(SEPARATORS)
    .filter((token) => /[\p{L}\p{N}]/u.test(token));
  return tokens
    .map((token) => readToken(token, tokens.length === 1))
    .filter((found) => found !== null);
}

function readToken(token: string, alone: boolean): ShownDomain | null {
  if (token.includes('@')) return null;
  const [, scheme, rest = ''] = /^(https?:\/\/)?(.*)$/is.exec(token) ?? [];
  const shown = rest.replace(/[/?#:].*$/s, '').replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  const name = shown.includes('.') ? normalizeDomain(shown) : null;
  const organization = name === null ? null : organizationalDomain(name);
  if (name === null || organization === null) return null;
  const address = scheme !== undefined || name.startsWith('www.');
  if (!address && !isWrittenDomain(shown, name, rest)) return null;
  return { shown: shown.slice(0, 100), organization, plain: address || alone };
}

/** A bare word with a full stop in it: a domain where its ending is a true one, written as such. */
function isWrittenDomain(shown: string, name: string, rest: string): boolean {
  const ending = shown.slice(shown.lastIndexOf('.') + 1);
  // "Read it here.It is new": the space was forgotten.
  if (ending !== ending.toLowerCase() && ending !== ending.toUpperCase()) return false;
  if (FILE_ENDINGS.has(ending.toLowerCase()) && !rest.includes('/')) return false;
  return parse(name, { allowPrivateDomains: false, validateHostname: false }).isIcann === true;
}
