/** Looks up the DKIM keys of a domain by their selectors. */

import type { Context } from '../check.ts';
import { withoutZone } from '../dns/appended-zone.ts';
import { isMissing } from '../dns/broken-name.ts';
import {
  type DomainService,
  selectorsOfServices,
  servicesOfDomain,
} from '../sending-services/services-of-domain.ts';
import { ALIAS_SELECTORS, aliasAt, keyOwner, typedAlias } from './aliases.ts';
import { type DkimKey, readKeyRecord, resemblesKey } from './key-record.ts';

const MAX_SELECTORS = 50;
/** Beside the common ones. With those, fewer than 120 DNS queries follow from guesses. */
const MAX_LIKELY_SELECTORS = 24;

export interface SelectorKey {
  selector: string;
  /** Where the key is published. */
  keyName: string;
  /** Known, rather than guessed from the services in use or the common selectors. */
  isKnown: boolean;
  lookupSucceeded: boolean;
  /** All TXT records at `keyName`. */
  texts: string[];
  /** Those of `texts` that are meant as DKIM keys. */
  records: string[];
  /** The first of `records`; null if there is none. */
  key: DkimKey | null;
  /** The target of a CNAME record that leads to no key. */
  alias: string | null;
  /** The target of a CNAME record that was entered as a TXT record. */
  typedAlias: string | null;
}

export interface FoundKeys {
  keys: SelectorKey[];
  /** The lookup of a guessed selector failed, so there may be more keys. */
  incomplete: boolean;
  /** DNS proves that no key exists under any selector (RFC 8020). */
  noneExists: boolean;
  /** The services that the domain uses, by its records. */
  services: DomainService[];
}

export interface Selectors {
  /** Known selectors; without any, common ones are tried. */
  selectors: string[];
  /** Those of `selectors` to drop once their key is removed or revoked. */
  expiring?: string[];
  /** Guessed selectors that had a key before: reported even if their lookup fails. */
  guessed?: string[];
}

/**
 * The keys of the known selectors. Beside them, those under the selectors of the services in use, because their keys count
 * whether somebody knows of them or not; and without known selectors, those under common ones. Of the guessed ones, only what
 * exists is returned.
 */
export async function lookUpKeys(
  context: Context,
  domain: string,
  { selectors, expiring = [], guessed = [] }: Selectors,
): Promise<FoundKeys> {
  const { resolver } = context;
  const knownSelectors = [...new Set(selectors.map((selector) => selector.toLowerCase()))];
  const lookUp = (names: string[], isKnown: boolean) =>
    Promise.all(names.map((selector) => lookUpKey(context, domain, selector, isKnown)));
  const known = (await lookUp(knownSelectors.slice(0, MAX_SELECTORS), true)).filter(
    (entry) => !(expiring.includes(entry.selector) && isRemoved(entry)),
  );
  const services = await servicesOfDomain(context, domain);
  const likely = selectorsOfServices(services).slice(0, MAX_LIKELY_SELECTORS);
  const tried = new Set([...likely, ...(known.length === 0 ? COMMON_SELECTORS : [])]);
  const guesses = await lookUp(
    [...tried].filter((selector) => !knownSelectors.includes(selector)),
    false,
  );
  const existing = distinct(
    guesses.filter((entry) => entry.key !== null || entry.typedAlias !== null),
  );
  const hasKey = [...known, ...existing].some(({ key }) => key !== null);
  // Some name servers deny names above others, so a key proves more than their denial.
  const noneExists = !hasKey && (await isMissing(`_domainkey.${domain}`, resolver));
  const withAlias = async (entry: SelectorKey): Promise<SelectorKey> => ({
    ...entry,
    alias: entry.texts.length === 0 && !noneExists ? await deadAlias(context, entry) : null,
  });
  const aliased = await Promise.all(
    guesses
      .filter(({ selector }) => likely.includes(selector) || ALIAS_SELECTORS.has(selector))
      .map(withAlias),
  );
  const failed = guesses.filter(
    ({ lookupSucceeded, selector }) => !lookupSucceeded && guessed.includes(selector),
  );
  return {
    keys: [
      ...(await Promise.all(known.map(withAlias))),
      ...existing,
      ...(await deadServices(context, domain, aliased, [...known, ...existing])),
      ...failed,
    ],
    incomplete: guesses.some(({ lookupSucceeded }) => !lookupSucceeded),
    noneExists,
    services,
  };
}

const isRemoved = ({ lookupSucceeded, key }: SelectorKey): boolean =>
  lookupSucceeded && (key === null || key.revoked);

/** A wildcard record answers for every selector, but is one key. */
const distinct = (entries: SelectorKey[]): SelectorKey[] => {
  const contentOf = ({ records, typedAlias }: SelectorKey) => records[0] ?? typedAlias;
  return [
    ...new Map(entries.toReversed().map((entry) => [contentOf(entry), entry])).values(),
  ].toReversed();
};

const deadAlias = async (
  { resolver }: Context,
  { keyName, lookupSucceeded }: SelectorKey,
): Promise<string | null> => (lookupSucceeded ? aliasAt(resolver, keyName) : null);

/**
 * One entry for each service of which no alias leads to a key. A service that signs may publish its next key later, such as
 * Microsoft 365 with its second selector.
 */
async function deadServices(
  { resolver }: Context,
  domain: string,
  aliased: SelectorKey[],
  others: SelectorKey[],
): Promise<SelectorKey[]> {
  // Each target to which the domain was appended is a mistake of its own.
  const ownerOf = (target: string) =>
    withoutZone(target, domain) === null ? keyOwner(target) : target;
  const dead = aliased.flatMap((entry) =>
    entry.alias === null ? [] : [{ entry, owner: ownerOf(entry.alias) }],
  );
  if (dead.length === 0) return [];
  const live = await Promise.all(
    others.map(async ({ keyName, alias }) => alias ?? (await aliasAt(resolver, keyName))),
  );
  const seen = new Set(live.map((target) => target && keyOwner(target)));
  return dead.flatMap(({ entry, owner }) => {
    if (seen.has(owner)) return [];
    seen.add(owner);
    return [entry];
  });
}

async function lookUpKey(
  { resolver }: Context,
  domain: string,
  selector: string,
  isKnown: boolean,
): Promise<SelectorKey> {
  const keyName = `${selector}._domainkey.${domain}`;
  const answer = await resolver(keyName, 'TXT');
  const texts = answer.status === 'found' ? answer.records.slice(0, 10) : [];
  const records = texts.filter(resemblesKey);
  const key = records[0] === undefined ? null : readKeyRecord(records[0], null);
  return {
    selector,
    keyName,
    isKnown,
    lookupSucceeded: answer.status !== 'error',
    texts,
    records,
    key,
    alias: null,
    typedAlias: key === null ? await typedAlias(resolver, texts) : null,
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
  'x',
];
