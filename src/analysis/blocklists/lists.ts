/** Every supported blocklist and allowlist. To add a list, add an entry to `lists.json`. */

import type { Blocklist, BlocklistKind, BlocklistTier } from './blocklist.ts';
import lists from './lists.json' with { type: 'json' };

/** An entry of `lists.json`: a `Blocklist` without default values. `scripts/data.ts` checks them. */
export interface ListEntry extends Omit<Partial<Blocklist>, 'listed'> {
  zone: string;
  name: string;
  /** For readers of the file. */
  note?: string;
  kind: BlocklistKind;
  tier: BlocklistTier;
  delisting: string;
  /** One of these two is `listed`. */
  codes?: Record<string, string>;
  bits?: Record<string, string>;
}

/** TypeScript would infer each code as an optional property. */
const ENTRIES = lists as unknown as ListEntry[];

/** RFC 5782 §5: 127.0.0.2 is always listed, 127.0.0.1 never. */
const ADDRESS_TEST = { listed: '2.0.0.127', unlisted: '1.0.0.127' };
/** RFC 5782 §5: for names, TEST is always listed and INVALID never. */
const NAME_TEST = { listed: 'test', unlisted: 'invalid' };

/**
 * In display order. Only active lists with documented codes and test points. Do not add SORBS, NiXSpam
 * or CBL: they have shut down.
 */
export const LISTS: Blocklist[] = ENTRIES.map((entry) => {
  const { note: _, codes, bits = {}, ...list } = entry;
  return {
    errors: {},
    test: entry.kind === 'domain' ? NAME_TEST : ADDRESS_TEST,
    byDefault: false,
    ipv6: false,
    ...list,
    listed: codes ? { codes } : { bits },
  };
});

const COVERS: Record<BlocklistKind, string> = {
  ip: 'addresses',
  domain: 'domains',
  allow: 'addresses',
};

/** The lists as a Markdown table for the documentation, without a final newline. */
export function blocklistTable(): string {
  return [
    '| List | Zone | Covers | Counts as | On by default | Notes |',
    '| --- | --- | --- | --- | --- | --- |',
    ...LISTS.map(row),
  ].join('\n');
}

function row(list: Blocklist): string {
  const { name, zone, kind, tier, ipv6, acceptsAddresses: addresses, byDefault, terms = '' } = list;
  const more = ipv6 ? ', including IPv6' : addresses ? ' and addresses in links' : '';
  const counts = kind === 'allow' ? 'allowlist' : `tier ${tier}`;
  const cells = [
    name,
    `\`${zone}\``,
    `${COVERS[kind]}${more}`,
    counts,
    byDefault ? 'yes' : '',
    terms,
  ];
  return `| ${cells.join(' | ')} |`;
}
