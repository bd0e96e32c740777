/** What holds for each record that a fix proposes: it is valid, cures its finding, and causes no other problem. */

import assert from 'node:assert/strict';
import type { Fix } from '../../src/analysis/check.ts';
import { isDmarcRecord, isPolicy, parseDmarcTags } from '../../src/analysis/dmarc/record.ts';
import { parseTagList } from '../../src/analysis/dns/tag-list.ts';
import type { CheckResult } from '../../src/analysis/result.ts';
import { isSpfRecord, parseSpfTerms } from '../../src/analysis/spf/record.ts';
import { normalizeAddress } from '../../src/lib/addresses.ts';
import { normalizeDomain } from '../../src/lib/domain-names.ts';

export type ProposedRecord = NonNullable<Fix['record']>;

const isHost = (name: string): boolean => normalizeDomain(name)?.includes('.') === true;

export function assertValid({ type, name, value }: ProposedRecord): void {
  assert.ok(normalizeDomain(name) !== null, `the name ${name}`);
  assert.match(value, /^[\x20-\x7e]+$/);
  if (type === 'A' || type === 'AAAA' || type === 'PTR' || type === 'MX') {
    const isValid = type.startsWith('A')
      ? normalizeAddress(value) === value
      : isHost(value.replace(/^\d+ /, ''));
    assert.ok(isValid, `${type} ${value}`);
    return;
  }
  assert.equal(type, 'TXT');
  const tags = parseTagList(value);
  if (name.startsWith('_dmarc.') || name.includes('._report._dmarc.')) {
    const { faults, duplicates, unknown } = parseDmarcTags(value);
    assert.deepEqual(
      [isDmarcRecord(value), faults, duplicates, unknown],
      [true, [], [], []],
      value,
    );
    if (name.startsWith('_dmarc.')) assert.ok(isPolicy(tags.get('p')), value);
    for (const tag of ['rua', 'ruf'])
      for (const uri of tags.get(tag)?.split(',') ?? [])
        assert.match(uri, /^mailto:[\w.+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+$/, value);
  } else if (name.includes('._domainkey.')) {
    assert.equal(tags.get('v'), 'DKIM1');
    assert.ok(
      (tags.get('p') ?? '') !== '' && ['rsa', 'ed25519'].includes(tags.get('k') ?? 'rsa'),
      value,
    );
  } else if (name.startsWith('_smtp._tls.'))
    assert.match(value, /^v=TLSRPTv1; rua=mailto:[^@ ]+@[^@ ]+$/);
  else if (name.startsWith('_mta-sts.')) assert.match(value, /^v=STSv1; id=[a-zA-Z0-9]{1,32}$/);
  else if (name.includes('._bimi.')) assert.match(value, /^v=BIMI1; l=https:\/\/\S+; a=\S*$/);
  else {
    assert.ok(isSpfRecord(value), value);
    assert.deepEqual(
      parseSpfTerms(value).filter(({ fault }) => fault !== null),
      [],
      value,
    );
  }
}

/** A domain can have only one DMARC record, so a report proposes only one. */
export function assertOneDmarcRecord(checks: CheckResult[]): void {
  const values = new Map<string, string>();
  for (const { id, fix } of checks) {
    const record = fix?.record;
    if (!record?.name.startsWith('_dmarc.')) continue;
    assert.equal(values.get(record.name) ?? record.value, record.value, `${id}: ${record.name}`);
    values.set(record.name, record.value);
  }
}

const RANKS = { pass: 0, info: 0, skipped: 0, error: 0, warn: 1, fail: 2 };

/** Files on a web server, a report mailbox, or another party's consent are needed as well. */
const NEED_MORE = ['bimi', 'mta_sts'];

/** The finding is gone, or at least a smaller one. */
export function assertCured({ id, title, status }: CheckResult, after: CheckResult[]): void {
  if (NEED_MORE.includes(id)) return;
  const result = after.find((one) => one.id === id)!;
  assert.notEqual(result.title, title, 'the finding is still there');
  assert.ok(RANKS[result.status] <= RANKS[status], `now: ${result.status} ${result.title}`);
}

/** No other check is worse than before. */
export function assertNoNewProblem(
  { id, fix }: CheckResult,
  before: CheckResult[],
  after: CheckResult[],
): void {
  for (const [index, other] of after.entries()) {
    const previous = before[index]!;
    // What was skipped because of the finding is now checked, and so is a new key.
    const isRevealed = previous.status === 'skipped' || previous.status === 'error';
    const isNewKey = other.id === 'dkim_key' && fix!.record!.value.includes('<');
    const isKnown = other.title === previous.title && previous.status === 'warn';
    if (other.id === id || isRevealed || isNewKey || isKnown) continue;
    assert.ok(
      RANKS[other.status] <= RANKS[previous.status],
      `new problem: ${other.id} ${other.status} ${other.title}`,
    );
  }
}
