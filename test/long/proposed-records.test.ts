/** Every record that a fix proposes is valid, belongs to the sender, and resolves the finding once published. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Fix } from '../../src/analysis/check.ts';
import { isDmarcRecord, isPolicy, parseDmarcTags } from '../../src/analysis/dmarc/record.ts';
import { parseTagList } from '../../src/analysis/dns/tag-list.ts';
import type { CheckResult } from '../../src/analysis/result.ts';
import { foreignOwner } from '../../src/analysis/sending-services/ownership.ts';
import { hasSuffix } from '../../src/analysis/sending-services/service.ts';
import { isSpfRecord, parseSpfTerms } from '../../src/analysis/spf/record.ts';
import { normalizeAddress } from '../../src/lib/addresses.ts';
import { normalizeDomain, ownedDomain } from '../../src/lib/domain-names.ts';
import { analyzeWorld, makeWorld, publish, type World } from '../analysis/generated-worlds.ts';

// The three properties of a proposed record.

type ProposedRecord = NonNullable<Fix['record']>;

const isHost = (name: string): boolean => normalizeDomain(name)?.includes('.') === true;

function assertValid({ type, name, value }: ProposedRecord): void {
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
function assertOneDmarcRecord(checks: CheckResult[]): void {
  const values = new Map<string, string>();
  for (const { id, fix } of checks) {
    const record = fix?.record;
    if (!record?.name.startsWith('_dmarc.')) continue;
    assert.equal(values.get(record.name) ?? record.value, record.value, `${id}: ${record.name}`);
    values.set(record.name, record.value);
  }
}

/** Someone else's records are proposed only where the text says so: PTR records, and consents to reports. */
function assertOwn({ type, name }: ProposedRecord, world: World): void {
  if (type === 'PTR' || name.includes('._report._dmarc.')) return;
  const { mail_from, helo } = world.envelope;
  const senders = [world.from, mail_from?.split('@')[1] ?? '', helo ?? ''];
  const owned = senders.flatMap((domain) => ownedDomain(domain) ?? []);
  assert.ok(hasSuffix(name, owned), `${name} is not below ${owned.join(', ')}`);
  const domain = name
    .split('.')
    .slice(name.split('.').findLastIndex((label) => label.startsWith('_')) + 1);
  assert.equal(foreignOwner(domain.join('.')), null, `${name} belongs to someone else`);
}

const RANKS = { pass: 0, info: 0, skipped: 0, error: 0, warn: 1, fail: 2 };

/** Files on a web server, a report mailbox, or another party's consent are needed as well. */
const NEED_MORE = ['bimi', 'mta_sts'];

async function assertResolves(
  world: World,
  before: CheckResult[],
  check: CheckResult,
): Promise<void> {
  const { checks: after } = await analyzeWorld(publish(world, check.fix!));
  const result = after.find(({ id }) => id === check.id)!;
  if (!NEED_MORE.includes(check.id)) {
    assert.notEqual(result.title, check.title, 'the finding is still there');
    assert.ok(RANKS[result.status] <= RANKS[check.status], `now: ${result.status} ${result.title}`);
  }
  for (const [index, other] of after.entries()) {
    const previous = before[index]!;
    // What was skipped because of the finding is now checked, and so is a new key.
    const isRevealed = previous.status === 'skipped' || previous.status === 'error';
    const isNewKey = other.id === 'dkim_key' && check.fix!.record!.value.includes('<');
    const isKnown = other.title === previous.title && previous.status === 'warn';
    if (other.id === check.id || isRevealed || isNewKey || isKnown) continue;
    assert.ok(
      RANKS[other.status] <= RANKS[previous.status],
      `new problem: ${other.id} ${other.status} ${other.title}`,
    );
  }
}

const WORLDS = 300;
const GROUPS = 5;

describe('Proposed records', () => {
  for (let group = 0; group < GROUPS; group += 1)
    it(`are valid, publishable by the sender and effective, in generated cases from ${group * (WORLDS / GROUPS)}`, async () => {
      const faults = new Map<string, string>();
      for (let n = 0; n < WORLDS / GROUPS; n += 1) {
        const seed = group * (WORLDS / GROUPS) + n;
        const world = makeWorld(seed);
        const { checks } = await analyzeWorld(world);
        assertOneDmarcRecord(checks);
        for (const check of checks.filter(({ fix }) => fix?.record)) {
          const { record } = check.fix!;
          try {
            assertValid(record!);
            assertOwn(record!, world);
            await assertResolves(world, checks, check);
          } catch (error) {
            const { text } = check.fix!;
            const { title, id } = check;
            const details = {
              seed,
              id,
              title,
              text,
              record,
              world: {
                ...world,
                signers: world.signers.map(({ domain, selector }) => `${selector} ${domain}`),
              },
            };
            faults.set(id, `${(error as Error).message}\n${JSON.stringify(details, null, 1)}`);
          }
        }
      }
      assert.equal(faults.size, 0, [...faults.values()].join('\n\n'));
    });
});
