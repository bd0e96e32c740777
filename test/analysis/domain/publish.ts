/** Publishes the records that a check of a domain proposes, one after the other, in the world of its test. */

import assert from 'node:assert/strict';
import { resemblesDmarc } from '../../../src/analysis/dmarc/record.ts';
import type { DomainOptions } from '../../../src/analysis/domain/analyze-domain.ts';
import type { DomainCheck, DomainHealth } from '../../../src/analysis/domain/health.ts';
import { resemblesSpf } from '../../../src/analysis/spf/repair.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { checkDomain } from './domains.ts';

type ProposedRecord = NonNullable<NonNullable<DomainCheck['fix']>['record']>;

/** How the check finds the records of each kind, valid or not. */
const KINDS = [resemblesSpf, resemblesDmarc];

/** As an administrator does: in place of the records of its kind, and of an alias at the name. */
export function published(zone: Zone, { type, name, value }: ProposedRecord): Zone {
  const node = zone[name];
  const { CNAME: _, ...records } = !node || 'fails' in node ? {} : node;
  // Nothing can stand beside an alias (RFC 1034 §3.6.2).
  if (type === 'CNAME') return { ...zone, [name]: { CNAME: [value] } };
  if (type !== 'TXT') return { ...zone, [name]: { ...records, [type]: [value] } };
  const resembles = KINDS.find((kind) => kind(value));
  const others = (records.TXT ?? []).filter((text) => !resembles?.(text));
  return {
    ...zone,
    [name]: { ...records, TXT: /(?:^|\.)_/.test(name) ? [value] : [...others, value] },
  };
}

const RANKS: Record<DomainCheck['status'], number> = {
  pass: 0,
  info: 0,
  skipped: 0,
  error: 0,
  warn: 1,
  fail: 2,
};

/** Optional: nobody needs them, and they need files on a web server. */
const OPTIONAL = ['mta_sts', 'bimi', 'caa', 'dane'];

/** Each proposed record alone cures its finding, or leaves a smaller or a known one, and makes no other check worse. */
export async function assertProposalsCure(
  zone: Zone,
  name: string,
  options: Partial<DomainOptions> = {},
): Promise<DomainHealth> {
  const before = await checkDomain(zone, options, name);
  for (const { id, title, detail, status, fix } of before.checks) {
    // Nobody can publish an example with a placeholder.
    if (!fix?.record || fix.record.value.includes('<') || OPTIONAL.includes(id)) continue;
    const record = fix.record;
    assert.match(record.value, /^[\x20-\x7e]+$/);
    const after = await checkDomain(published(zone, record), options, name);
    const what = `${id}: ${record.type} ${record.name} ${record.value}`;
    // The host of a new MX record may need an address next.
    const isStep = RANKS[status] === 0 || record.type !== 'TXT';
    const known = (other: string) =>
      detail.includes(other) ||
      before.checks.some((check) => check.id === id && check.title === other);
    const own = after.checks.filter((check) => check.id === id);
    assert.ok(
      own.every(
        (check) =>
          check.title !== title &&
          RANKS[check.status] <= RANKS[status] &&
          (RANKS[check.status] < RANKS[status] || isStep || known(check.title)),
      ),
      `${what} does not cure: ${own.map((check) => check.title)}`,
    );
    for (const check of after.checks) {
      const former = before.checks.find((one) => one.id === check.id && one.label === check.label);
      if (!former || check.id === id || former.status === 'skipped') continue;
      assert.ok(RANKS[check.status] <= RANKS[former.status], `${what} causes: ${check.title}`);
    }
  }
  return before;
}
