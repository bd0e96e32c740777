/** Looks up the DKIM keys of a domain by their selectors. */

import type { Context } from '../check.ts';
import { type DkimKey, isKeyRecord, readKeyRecord } from './key-record.ts';

const MAX_SELECTORS = 50;

export interface SelectorKey {
  selector: string;
  /** Where the key is published. */
  keyName: string;
  /** Known, rather than guessed from the common selectors. */
  isKnown: boolean;
  lookupSucceeded: boolean;
  /** All TXT records at `keyName`. */
  texts: string[];
  /** Those of `texts` that are DKIM keys. */
  records: string[];
  /** The first of `records`; null if there is none. */
  key: DkimKey | null;
}

export interface FoundKeys {
  keys: SelectorKey[];
  /** The lookup of a guessed selector failed, so there may be more keys. */
  incomplete: boolean;
}

export interface Selectors {
  /** Known selectors; without any, common ones are tried. */
  selectors: string[];
  /** Those of `selectors` to drop once their key is removed or revoked. */
  expiring?: string[];
  /** Common selectors that had a key before: reported even if their lookup fails. */
  guessed?: string[];
}

/** The keys of the known selectors; without any, the keys that exist under common selectors. */
export async function lookUpKeys(
  context: Context,
  domain: string,
  { selectors, expiring = [], guessed = [] }: Selectors,
): Promise<FoundKeys> {
  const knownSelectors = [...new Set(selectors.map((selector) => selector.toLowerCase()))];
  const lookUp = (names: string[], isKnown: boolean) =>
    Promise.all(names.map((selector) => lookUpKey(context, domain, selector, isKnown)));
  const knownKeys = await lookUp(knownSelectors.slice(0, MAX_SELECTORS), true);
  const keys = knownKeys.filter(
    (entry) => !(expiring.includes(entry.selector) && isRemoved(entry)),
  );
  if (keys.length > 0) return { keys, incomplete: false };
  const commonKeys = await lookUp(COMMON_SELECTORS, false);
  const failedGuesses = commonKeys.filter(
    (entry) => !entry.lookupSucceeded && guessed.includes(entry.selector),
  );
  // A wildcard record answers for every selector, but is one key.
  const distinct = new Map(
    commonKeys
      .flatMap((entry) => (entry.key ? [[entry.records[0], entry] as const] : []))
      .reverse(),
  );
  return {
    keys: [...[...distinct.values()].reverse(), ...failedGuesses],
    incomplete: commonKeys.some(({ lookupSucceeded }) => !lookupSucceeded),
  };
}

const isRemoved = ({ lookupSucceeded, key }: SelectorKey): boolean =>
  lookupSucceeded && (key === null || key.revoked);

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
  return {
    selector,
    keyName,
    isKnown,
    lookupSucceeded: answer.status !== 'error',
    texts,
    records,
    key,
  };
}

/** Selectors that large senders and common mail servers use. */
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
