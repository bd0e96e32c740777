/** Running an analysis: concurrent checks, their faults, the deadline, and DNS queries. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analyze } from '../../src/analysis/analyze.ts';
import { pass } from '../../src/analysis/check.ts';
import type { DnsAnswer, Resolver } from '../../src/net/dns/resolver.ts';
import { analyzeBy, fakeCheck, INPUT, never } from './fake-checks.ts';

describe('analyze with a check that throws', () => {
  const fault = new Error('broken');
  for (const [how, run] of [
    ['at once', () => assert.fail(fault)],
    ['later', () => Promise.reject(fault)],
  ] as const)
    it(`${how}: reports an error, passes the fault on and continues`, async () => {
      const faults: [string, unknown][] = [];
      const result = await analyzeBy([fakeCheck('bad', run), fakeCheck('good', 'pass')], {
        onFault: (id, error) => faults.push([id, error]),
      });
      const { status, title, detail, earned, gain, fix } = result.of('bad');
      assert.deepEqual([status, earned, gain, fix], ['error', null, 0, null]);
      assert.equal(title, 'Could not check BAD.');
      assert.match(detail, /bug in this service, not a problem with your message/);
      assert.deepEqual(faults, [['bad', fault]]);
      assert.equal(result.of('good').status, 'pass');
      assert.equal(result.score, 100);
      assert.equal(result.coverage, 0.8);
    });

  it('truncates the error and works without a fault listener', async () => {
    const { of } = await analyzeBy([
      fakeCheck('bad', () => {
        throw new Error('x'.repeat(10_000));
      }),
    ]);
    assert.ok(of('bad').detail.length < 200);
  });
});

describe('analyze deadline', () => {
  it('ends a hanging check and keeps the other results', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let started = () => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const analysis = analyzeBy(
      [
        fakeCheck('slow', () => {
          started();
          return never();
        }),
        fakeCheck('quick', 'pass'),
        fakeCheck('later', async () => {
          await new Promise(setImmediate);
          return pass('In time.', 'Before the deadline.');
        }),
      ],
      { deadlineMs: 1000 },
    );
    await running;
    for (let i = 0; i < 3; i++) await new Promise(setImmediate);
    t.mock.timers.tick(1000);
    const { of, score, coverage, summary } = await analysis;
    assert.equal(of('slow').status, 'error');
    assert.equal(of('slow').title, 'The SLOW check timed out.');
    assert.deepEqual([of('quick').status, of('later').status], ['pass', 'pass']);
    assert.deepEqual([score, coverage], [100, 0.833]);
    assert.ok(!summary.includes('could not be completed'));
  });

  it('ignores what a check does after it', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { promise: running, resolve: started } = Promise.withResolvers<void>();
    const late = Promise.withResolvers<never>();
    const faults: string[] = [];
    const slow = () => {
      started();
      return late.promise;
    };
    const onFault = (id: string) => faults.push(id);
    const analysis = analyzeBy([fakeCheck('slow', slow)], { deadlineMs: 1000, onFault });
    await running;
    t.mock.timers.tick(1000);
    const { of } = await analysis;
    late.reject(new Error('too late'));
    await new Promise(setImmediate);
    assert.equal(of('slow').title, 'The SLOW check timed out.');
    assert.deepEqual(faults, []);
  });

  it('turns unanswered DNS queries into errors', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let onQuery = () => {};
    const firstQuery = new Promise<void>((resolve) => {
      onQuery = resolve;
    });
    const resolver: Resolver = () => {
      onQuery();
      return never();
    };
    const analysis = analyze(INPUT, { resolver, deadlineMs: 1000 });
    await firstQuery;
    // Checks that need no DNS end first.
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
    t.mock.timers.tick(1000);
    const { score, temporary, auth_results, checks } = await analysis;
    assert.deepEqual([score, temporary], [null, true]);
    assert.equal(auth_results.spf, 'temperror');
    assert.equal(auth_results.dmarc, 'temperror');
    const statusOf = (id: string) => checks.find((check) => check.id === id)?.status;
    assert.deepEqual(['spf', 'dmarc', 'mx', 'from'].map(statusOf), [
      'error',
      'error',
      'error',
      'pass',
    ]);
  });

  it('stops all DNS queries', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const queries: string[] = [];
    const late = Promise.withResolvers<DnsAnswer>();
    let proceed = () => {};
    const waiting = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    let started = () => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const analysis = analyzeBy(
      [
        fakeCheck('slow', async ({ resolver }) => {
          await resolver('early.example', 'A');
          started();
          await waiting;
          late.resolve(await resolver('late.example', 'A'));
          return pass('Done.', 'It ends.');
        }),
      ],
      {
        deadlineMs: 1000,
        resolver: async (name) => {
          queries.push(name);
          return { status: 'nxdomain' };
        },
      },
    );
    await running;
    t.mock.timers.tick(1000);
    await analysis;
    proceed();
    assert.deepEqual(await late.promise, { status: 'error', reason: 'timeout' });
    assert.ok(queries.includes('early.example') && !queries.includes('late.example'));
  });
});

describe('analyze DNS queries', () => {
  it('are sent once per name and type, ignoring case', async () => {
    const queries: string[] = [];
    const queryTwice = (id: string, name: string) =>
      fakeCheck(id, async ({ resolver }) => {
        await Promise.all([resolver(name, 'A'), resolver(name.toUpperCase(), 'A')]);
        await resolver(name, 'AAAA');
        return pass('Queried.', 'Twice.');
      });
    await analyzeBy(
      [
        queryTwice('a', 'one.example'),
        queryTwice('b', 'One.Example'),
        queryTwice('c', 'two.example'),
      ],
      {
        resolver: async (name, type) => {
          queries.push(`${name.toLowerCase()} ${type}`);
          return { status: 'nodata' };
        },
      },
    );
    const own = queries.filter((query) => /^(one|two)\.example /.test(query));
    assert.deepEqual(own.sort(), [
      'one.example A',
      'one.example AAAA',
      'two.example A',
      'two.example AAAA',
    ]);
  });

  it('are limited to 400 per message', async () => {
    let count = 0;
    const answers: DnsAnswer[] = [];
    await analyzeBy(
      [
        fakeCheck('greedy', async ({ resolver }) => {
          for (let i = 0; i < 500; i++) answers.push(await resolver(`n${i}.example`, 'A'));
          return pass('Queried.', 'Many times.');
        }),
      ],
      {
        resolver: async (name) => {
          count += 1;
          return name === 'com'
            ? { status: 'found', records: ['a.gtld-servers.net'], ttl: 300, authenticated: false }
            : { status: 'nodata' };
        },
      },
    );
    assert.equal(count, 400);
    const refused = answers.filter((answer) => answer.status === 'error');
    assert.ok(refused.length >= 100);
    assert.ok(refused.every((answer) => answer.status === 'error' && answer.reason === 'limit'));
  });
});

it('context.fact computes a shared value once', async () => {
  let made = 0;
  const costly = async () => {
    made += 1;
    return made;
  };
  const seen: number[] = [];
  const sharing = (id: string) =>
    fakeCheck(id, async (context) => {
      seen.push(await context.fact(costly));
      return pass('Computed.', 'Once.');
    });
  await analyzeBy([sharing('a'), sharing('b'), sharing('c')]);
  assert.deepEqual([made, seen], [1, [1, 1, 1]]);
  await analyzeBy([sharing('a')]);
  assert.equal(made, 2, 'another analysis computes its own');
});

it('analyze returns checks in declared order with all their fields', async () => {
  const reference = { name: 'A rule', url: 'https://rules.example/' };
  const found = () => ({
    status: 'warn' as const,
    title: 'It is so.',
    detail: 'Why it matters.',
    evidence: { seen: 1 },
    reference,
    fix: { text: 'Do this.', record: { type: 'TXT', name: '_x.example.com', value: 'v' } },
  });
  const { checks } = await analyzeBy([
    fakeCheck('z', 'pass'),
    fakeCheck('a', found, { category: 'content', points: 4 }),
    fakeCheck('m', 'info', { points: 0 }),
  ]);
  assert.deepEqual(
    checks.map(({ id }) => id),
    ['spf', 'dkim', 'dmarc', 'z', 'a', 'm'],
  );
  const { gain, ...rest } = checks[4]!;
  assert.deepEqual(rest, {
    id: 'a',
    category: 'content',
    label: 'A',
    points: 4,
    earned: 2,
    goes_with: null,
    ...found(),
  });
  assert.equal(gain, 11.1);
  assert.equal(checks[5]!.earned, null);
});
