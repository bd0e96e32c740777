/** The DMARC policy that applies to a domain, as it was last found in DNS. */

import { isDmarcRecord, isPolicy, parseDmarcTags, percentOf } from '../analysis/dmarc/record.ts';
import type { DomainCheck } from '../analysis/domain/health.ts';
import { type Watched, watchedSets } from '../domains/watched-records.ts';
import type { DomainDigestRow, DomainRow } from '../store/tables.generated.ts';

type Policy = Pick<DomainDigestRow, 'policy' | 'sub_policy' | 'pct'>;

const UNKNOWN_POLICY: Policy = { policy: null, sub_policy: null, pct: null };
const NO_POLICY: Policy = { ...UNKNOWN_POLICY, policy: 'missing' };

/** The record of the organizational domain, as a look stores it. */
const INHERITED = / \(at _dmarc\.\S+\)$/;

/** What the last hourly look found or, before the first one, the last health check. */
export function policyOf(row: Pick<DomainRow, 'name' | 'watched' | 'health_checks'>): Policy {
  const values = row.watched === null ? undefined : watchedDmarc(row.name, row.watched);
  if (values === undefined) return checkedPolicy(JSON.parse(row.health_checks));
  // Receivers ignore several records.
  const records = values.filter((text) => isDmarcRecord(text));
  const [record] = records;
  if (record === undefined || records.length > 1) return NO_POLICY;
  return readPolicy(record.replace(INHERITED, ''), INHERITED.test(record));
}

function watchedDmarc(name: string, json: string): string[] | undefined {
  const set = watchedSets(name, []).find((one) => one.name === `_dmarc.${name}`)!;
  return (JSON.parse(json) as Watched).sets[set.label]?.values;
}

function checkedPolicy(checks: DomainCheck[]): Policy {
  const check = checks.find(({ id }) => id === 'dmarc_policy');
  if (check === undefined || check.former_status !== undefined) return UNKNOWN_POLICY;
  const { record, tag } = check.evidence as { record?: unknown; tag?: unknown };
  if (typeof record === 'string') return readPolicy(record, tag !== 'p');
  return check.status === 'fail' ? NO_POLICY : UNKNOWN_POLICY;
}

function readPolicy(record: string, isInherited: boolean): Policy {
  const { tags } = parseDmarcTags(record);
  const [p, sp] = [valid(tags.get('p')), valid(tags.get('sp'))];
  if (p === null) return NO_POLICY;
  const pct = percentOf(tags);
  return isInherited
    ? { policy: sp ?? p, sub_policy: null, pct }
    : { policy: p, sub_policy: sp, pct };
}

const valid = (value: string | undefined) =>
  isPolicy(value) ? (value!.toLowerCase() as 'none' | 'quarantine' | 'reject') : null;
