/** Looks up the DKIM keys of a domain by their selectors. */

import type { Context } from '../check.ts';
import { parseTagList } from '../dns/tag-list.ts';
import { type DkimKey, readKeyRecord } from './key.ts';

/** More than anybody signs with. */
const MAX_SELECTORS = 50;

export interface SelectorKey {
  selector: string;
  /** Where the key is published. */
  keyName: string;
  /** Told to us, rather than found among the common ones. */
  isKnown: boolean;
  answered: boolean;
  /** All texts there. */
  texts: string[];
  /** Those of them that are DKIM keys. */
  records: string[];
  /** The first of these; null where there is none. */
  key: DkimKey | null;
}

export interface FoundKeys {
  keys: SelectorKey[];
  /** A guess was not answered: what is not among the keys may be there all the same. */
  incomplete: boolean;
}

/** Which selectors to look under. */
export interface Selectors {
  /** Those that are known; where there is none, common ones are tried. */
  selectors: string[];
  /** Those of them that count only while their key is there. */
  waning?: string[];
  /** Of the common ones, those whose key was there before: they are told of where the DNS fails. */
  guessed?: string[];
}

/** The keys of the known selectors; where none is known, those of the common ones that exist. */
export async function lookUpKeys(
  context: Context,
  domain: string,
  { selectors, waning = [], guessed = [] }: Selectors,
): Promise<FoundKeys> {
  const known = [...new Set(selectors.map((selector) => selector.toLowerCase()))];
  const lookUp = (some: string[], isKnown: boolean) =>
    Promise.all(some.map((selector) => lookUpKey(context, domain, selector, isKnown)));
  const found = await lookUp(known.slice(0, MAX_SELECTORS), true);
  const keys = found.filter((one) => !(waning.includes(one.selector) && isGone(one)));
  if (keys.length > 0) return { keys, incomplete: false };
  const tried = await lookUp(COMMON_SELECTORS, false);
  const missed = tried.filter((one) => !one.answered && guessed.includes(one.selector));
  // A wildcard answers under every selector, and is one key.
  const distinct = new Map(
    tried.flatMap((one) => (one.key ? [[one.records[0], one] as const] : [])).reverse(),
  );
  return {
    keys: [...[...distinct.values()].reverse(), ...missed],
    incomplete: tried.some(({ answered }) => !answered),
  };
}

const isGone = ({ answered, key }: SelectorKey): boolean =>
  answered && (key === null || key.revoked);

async function lookUpKey(
  { resolver }: Context,
  domain: string,
  selector: string,
  isKnown: boolean,
): Promise<SelectorKey> {
  const keyName = `${selector}._domainkey.${domain}`;
  const answer = await resolver(keyName, 'TXT');
  const texts = answer.status === 'found' ? answer.records.slice(0, 10) : [];
  const records = texts.filter(isKeyRecord);
  const key = records[0] === undefined ? null : readKeyRecord(records[0], null);
  return { selector, keyName, isKnown, answered: answer.status !== 'error', texts, records, key };
}

/** RFC 6376 §3.6.1: `p=` must be there, the version may. A wildcard brings other texts to any name. */
function isKeyRecord(text: string): boolean {
  const tags = parseTagList(text);
  const version = tags.get('v');
  return tags.has('p') && (version === undefined || version.toUpperCase() === 'DKIM1');
}

// Selectors under which large senders and common servers keep their DKIM keys.

/** Tried where none is known: what does not exist among them says nothing. */
const COMMON_SELECTORS = [
  'default',
  'dkim',
  'mail',
  'smtp',
  'key1',
  's1',
  's2',
  'k1',
  'k2',
  'k3',
  'google',
  'selector1',
  'selector2',
  'fm1',
  'fm2',
  'fm3',
  'protonmail',
  'protonmail2',
  'protonmail3',
  'sig1',
  'zoho',
  'mandrill',
  'mailjet',
  'pm',
  'cm',
  'sm',
  'mx',
  'dkim1',
];
