/** What every kind of name server must do, whatever its protocol is. */

import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { type ProposedRecord, planChanges, planToken } from '../../src/dns-changes/plan.ts';
import {
  DnsServerError,
  type DnsServerProblem,
  type RecordSet,
} from '../../src/dns-changes/server.ts';
import type { Harness } from '../helpers/dns-apis/harness.ts';
import { Records, zoneData } from '../helpers/dns-apis/records.ts';

const LONG = `v=DKIM1; k=rsa; p=${'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'.repeat(17)}`;

export const set = (name: string, type: string, values: string[], ttl = 3600): RecordSet => ({
  name,
  type,
  values,
  ttl,
});

/** Before each test. */
const SETS = [
  set('example.com', 'TXT', ['v=spf1 mx -all', 'site=1']),
  set('example.com', 'MX', ['10 mx.example.com']),
  set('_dmarc.example.com', 'TXT', ['v=DMARC1; p=none']),
  set('mx.example.com', 'A', ['192.0.2.25']),
  set('alias.example.com', 'CNAME', ['elsewhere.example']),
  set('*.w.example.com', 'TXT', ['wild']),
  set('*.w.example.com', 'A', ['192.0.2.80']),
  set('b.a.w.example.com', 'TXT', ['x']),
  set('delegated.example.com', 'NS', ['ns1.elsewhere.example']),
  set('_dmarc.sub.example.com', 'TXT', ['v=DMARC1; p=reject']),
];
export const ZONES = ['example.com', 'sub.example.com', 'example.net'];

export function seededRecords(radix: 8 | 10 = 10): Records {
  const records = new Records(ZONES);
  for (const { values, ...rest } of SETS)
    records.put({ ...rest, data: values.map((value) => zoneData(rest.type, value, radix)) });
  return records;
}

export async function assertProblem(
  work: Promise<unknown>,
  problem: DnsServerProblem | DnsServerProblem[],
  message?: RegExp,
): Promise<DnsServerError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof DnsServerError, String(error));
    assert.ok([problem].flat().includes(error.problem), `${error.problem}: ${error.message}`);
    if (message) assert.match(error.message, message);
    assert.match(error.message, /\.$|”$/, 'a sentence');
    assert.doesNotMatch(error.message, /wrong-|secret-0123|correct horse|status \d/);
    return error;
  }
  return assert.fail('it did not fail');
}

const sorted = ({ name, type, values }: RecordSet) => ({ name, type, values: values.toSorted() });

interface Abilities {
  /** Types that it does not take. */
  without?: string[];
  /** It can only be stopped, not made to fail in other ways. */
  isReal?: boolean;
  /** It ignores a request to be asked again at once. */
  neverBusy?: boolean;
}

/** Inside of a `describe` in the file of the test. */
export function conformanceTests(
  start: (t: TestContext) => Promise<Harness>,
  { without = [], isReal = false, neverBusy = false }: Abilities = {},
): void {
  it('are read, added, replaced and removed, and undo brings the same sets back', async (t) => {
    const harness = await start(t);
    const server = harness.open();
    const changes: [RecordSet, RecordSet][] = [
      [
        set('example.com', 'TXT', ['v=spf1 mx -all', 'site=1']),
        set('example.com', 'TXT', ['v=spf1 mx include:a.example -all', 'site=1']),
      ],
      [
        set('_dmarc.example.com', 'TXT', ['v=DMARC1; p=none']),
        set('_dmarc.example.com', 'TXT', ['v=DMARC1; p=reject; rua=mailto:d@example.com']),
      ],
      [
        set('s1._domainkey.example.com', 'TXT', []),
        set('s1._domainkey.example.com', 'TXT', [LONG]),
      ],
      [
        set('quoted.example.com', 'TXT', []),
        set('quoted.example.com', 'TXT', ['say "hi" \\ é ; <&>', 'b']),
      ],
      [
        set('mx.example.com', 'A', ['192.0.2.25']),
        set('mx.example.com', 'A', ['192.0.2.25', '192.0.2.26']),
      ],
      [set('mx.example.com', 'AAAA', []), set('mx.example.com', 'AAAA', ['2001:db8::25'])],
      [
        set('example.com', 'MX', ['10 mx.example.com']),
        set('example.com', 'MX', ['10 mx.example.com', '5 a.example.com']),
      ],
      [set('example.com', 'CAA', []), set('example.com', 'CAA', ['0 issue "ca.example"'])],
      [
        set('_25._tcp.mx.example.com', 'TLSA', []),
        set('_25._tcp.mx.example.com', 'TLSA', [`3 1 1 ${'ab'.repeat(32)}`]),
      ],
      [set('*.new.example.com', 'TXT', []), set('*.new.example.com', 'TXT', ['wild'])],
      [
        set('mta-sts.example.com', 'CNAME', []),
        set('mta-sts.example.com', 'CNAME', ['mail.example.net']),
      ],
      [
        set('alias.example.com', 'CNAME', ['elsewhere.example']),
        set('alias.example.com', 'CNAME', ['mail.example.net']),
      ],
    ];
    const possible = changes.filter(([{ type }]) => !without.includes(type));
    assert.equal((await server.check()).zones.includes('example.com'), true);
    for (const [before, after] of possible) {
      assert.equal(await server.zoneOf(before.name), 'example.com');
      const read = () => server.read('example.com', before.name, before.type);
      assert.deepEqual(sorted(await read()), sorted(before));
      await server.replace('example.com', before, after);
      assert.deepEqual(sorted(await read()), sorted(after));
      const stored = await harness.values(after.name, after.type);
      assert.deepEqual(stored.toSorted(), after.values.toSorted());
    }
    for (const [before, after] of possible.toReversed())
      await server.replace('example.com', after, before);
    // Resolvers do not get the records of a delegation from the zone above it.
    for (const { name, type, values } of SETS.filter(({ type }) => type !== 'NS'))
      assert.deepEqual((await harness.values(name, type)).toSorted(), values.toSorted());
    for (const [{ name, type, values }] of possible)
      assert.deepEqual((await harness.values(name, type)).toSorted(), values.toSorted());
  });

  it('stay as they are if anything has changed since the plan', async (t) => {
    const harness = await start(t);
    const server = harness.open();
    const before = await server.read('example.com', '_dmarc.example.com', 'TXT');
    const after = { ...before, values: ['v=DMARC1; p=reject'] };
    await harness.put('_dmarc.example.com', 'TXT', ['v=DMARC1; p=quarantine']);
    await assertProblem(server.replace('example.com', before, after), 'changed', /new plan/);
    const none = set('new.example.com', 'TXT', []);
    await harness.put('new.example.com', 'TXT', ['theirs']);
    await assertProblem(
      server.replace('example.com', none, { ...none, values: ['mine'] }),
      'changed',
    );
    assert.deepEqual(await harness.values('new.example.com', 'TXT'), ['theirs']);
    assert.deepEqual(await harness.values('_dmarc.example.com', 'TXT'), ['v=DMARC1; p=quarantine']);
  });

  it('are in the longest zone, and not behind a delegation', async (t) => {
    const server = (await start(t)).open();
    assert.equal(await server.zoneOf('_dmarc.a.example.com'), 'example.com');
    assert.equal(await server.zoneOf('_dmarc.sub.example.com'), 'sub.example.com');
    assert.equal(await server.zoneOf('example.net'), 'example.net');
    assert.equal(await server.zoneOf('_dmarc.delegated.example.com'), null);
    assert.equal(await server.zoneOf('other.example'), null);
    const alias = await server.read('example.com', 'alias.example.com', 'CNAME');
    assert.deepEqual(alias.values, ['elsewhere.example']);
    await assertProblem(server.read('other.example', 'other.example', 'TXT'), 'no_such_zone');
  });

  it('are never written beside an alias, and never in part', async (t) => {
    const harness = await start(t);
    const server = harness.open();
    const none = set('alias.example.com', 'TXT', []);
    await assertProblem(server.replace('example.com', none, { ...none, values: ['x'] }), 'changed');
    const before = await server.read('example.com', 'mx.example.com', 'A');
    await assertProblem(
      server.replace('example.com', before, { ...before, values: ['192.0.2.26', 'nonsense'] }),
      ['invalid_record', 'server_failed'],
    );
    assert.deepEqual(await harness.values('mx.example.com', 'A'), ['192.0.2.25']);
    // Dynamic updates ignore it (RFC 2136 §3.4.2.2).
    const alias = set('_dmarc.example.com', 'CNAME', []);
    await assertProblem(
      server.replace('example.com', alias, { ...alias, values: ['mail.example.net'] }),
      ['refused', 'server_failed'],
    );
    assert.deepEqual(await harness.values('_dmarc.example.com', 'TXT'), ['v=DMARC1; p=none']);
    assert.deepEqual(await harness.values('_dmarc.example.com', 'CNAME'), []);
  });

  it('keep their TTL, and so do those beside them', async (t) => {
    const harness = await start(t);
    await harness.put('ttl.example.com', 'TXT', ['a', 'b'], 600);
    const server = harness.open();
    const before = await server.read('example.com', 'ttl.example.com', 'TXT');
    await server.replace('example.com', before, { ...before, values: ['c', 'b'] });
    const { values, ttl } = await server.read('example.com', 'ttl.example.com', 'TXT');
    assert.deepEqual([values.toSorted(), ttl], [['b', 'c'], 600]);
  });

  it('are distinguished from those of a wildcard', async (t) => {
    const server = (await start(t)).open();
    const read = await server.read('example.com', '_dmarc.news.w.example.com', 'TXT');
    assert.deepEqual(read.values, []);
    const types = (name: string) => server.wildcardTypes!('example.com', name);
    assert.deepEqual(await types('_dmarc.news.w.example.com'), ['A', 'TXT']);
    for (const name of ['mx.example.com', '_dmarc.mx.example.com', 'a.w.example.com'])
      assert.deepEqual(await types(name), [], name);
  });

  it('are planned, and the plan is the same as long as nothing changes', async (t) => {
    const harness = await start(t);
    const proposal = (name: string, value: string): ProposedRecord => ({
      name,
      value,
      type: 'TXT',
      purpose: 'x',
      checks: ['x'],
      basedOn: null,
      problem: null,
      caution: null,
    });
    const plan = () =>
      planChanges(harness.open(), [
        proposal('example.com', 'v=spf1 mx ip4:192.0.2.1 -all'),
        {
          ...proposal('_dmarc.example.com', 'v=DMARC1; p=quarantine'),
          basedOn: ['v=DMARC1; p=none'],
        },
        proposal('alias.example.com', 'v=spf1 -all'),
        proposal('_smtp._tls.example.com', 'v=TLSRPTv1; rua=mailto:t@example.com'),
      ]);
    const first = await plan();
    assert.deepEqual(
      first.map(({ action, problem }) => [action, problem === null]),
      [
        ['replace', true],
        ['replace', true],
        ['none', false],
        ['add', true],
      ],
    );
    assert.equal(planToken(await plan()), planToken(first));
    await harness.put('_dmarc.example.com', 'TXT', ['v=DMARC1; p=none; pct=50']);
    assert.notEqual(planToken(await plan()), planToken(first));
  });

  if (isReal) return;

  it('are not read or changed with wrong credentials, and the error says so', async (t) => {
    const harness = await start(t);
    if (!harness.openWrong) return;
    await assertProblem(harness.openWrong().check(), 'bad_credentials', /key|token/i);
    const before = set('a.example.com', 'TXT', []);
    await assertProblem(
      harness.openWrong().replace('example.com', before, { ...before, values: ['x'] }),
      'bad_credentials',
    );
  });

  it('are not changed if the server limits requests, fails, or sends invalid responses', async (t) => {
    const harness = await start(t);
    const before = set('a.example.com', 'TXT', []);
    const after = { ...before, values: ['x'] };
    harness.fault = { kind: 'throttled', on: 'all' };
    const { retryAfterMs } = await assertProblem(
      harness.open().check(),
      'rate_limited',
      /Try again in 2 minutes|slow down/,
    );
    assert.ok(neverBusy || retryAfterMs === 120_000);
    harness.fault = { kind: 'unavailable', on: 'all' };
    await assertProblem(harness.open().check(), 'server_failed', /unavailable|maintenance/);
    harness.fault = { kind: 'unavailable', on: 'write' };
    const failed = await assertProblem(
      harness.open().replace('example.com', before, after),
      'server_failed',
    );
    assert.equal(failed.mayHaveChanged, true);
    harness.fault = { kind: 'hostile', on: 'all' };
    await assertProblem(harness.open().check(), ['bad_response', 'refused']);
    harness.fault = { kind: 'slow', on: 'all' };
    await assertProblem(harness.open({ timeoutMs: 300 }).check(), 'timeout');
    harness.fault = null;
    assert.deepEqual(await harness.values('a.example.com', 'TXT'), []);
    if (neverBusy) return;
    harness.fault = { kind: 'busy', on: 'write' };
    await harness.open().replace('example.com', before, after);
    assert.deepEqual(await harness.values('a.example.com', 'TXT'), ['x']);
  });

  it('are read again if the connection ends during a change', async (t) => {
    const harness = await start(t);
    const before = set('_dmarc.example.com', 'TXT', ['v=DMARC1; p=none']);
    const after = { ...before, values: ['v=DMARC1; p=reject'] };
    for (const kind of ['broken', 'cut'] as const) {
      harness.fault = { kind, on: 'write' };
      const error = await assertProblem(harness.open().replace('example.com', before, after), [
        'unreachable',
        'server_failed',
      ]);
      assert.equal(error.mayHaveChanged, true);
      harness.fault = null;
      const { values } = await harness.open().read('example.com', before.name, 'TXT');
      assert.deepEqual(values, kind === 'cut' ? after.values : before.values);
    }
  });
}
