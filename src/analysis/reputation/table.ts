/** The declared lists as a table for the documentation. */

import type { Blocklist, BlocklistKind } from './blocklist.ts';
import { LISTS } from './lists.ts';

const ASKED_ABOUT: Record<BlocklistKind, string> = {
  ip: 'addresses',
  domain: 'domains',
  allow: 'addresses',
};

/** Markdown, without an end of line. */
export function blocklistTable(): string {
  return [
    '| List | Zone | Asked about | Counts as | On | |',
    '| --- | --- | --- | --- | --- | --- |',
    ...LISTS.map(row),
  ].join('\n');
}

function row(list: Blocklist): string {
  const { name, zone, kind, tier, ipv6, addresses, byDefault, terms = '' } = list;
  const more = ipv6 ? ', IPv6 too' : addresses ? ' and addresses in links' : '';
  const counts = kind === 'allow' ? 'allowlist' : `tier ${tier}`;
  const cells = [
    name,
    `\`${zone}\``,
    `${ASKED_ABOUT[kind]}${more}`,
    counts,
    byDefault ? 'yes' : '',
    terms,
  ];
  return `| ${cells.join(' | ')} |`;
}
