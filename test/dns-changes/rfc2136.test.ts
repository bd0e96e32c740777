/** Records are read and replaced at real name servers, BIND, Knot DNS and PowerDNS, by signed dynamic updates. */

import assert from 'node:assert/strict';
import { describe, it, type TestContext, test } from 'node:test';
import * as v from 'valibot';
import {
  DnsServerError,
  type DnsServerProblem,
  type RecordSet,
} from '../../src/dns-changes/server.ts';
import { parseServer } from '../../src/dns-changes/servers/fields.ts';
import { rfc2136 } from '../../src/dns-changes/servers/rfc2136.ts';
import {
  loopbackContext,
  type NameServerOptions,
  startBind,
  startKnot,
  startPowerDns,
  TEST_KEY,
  type TestNameServer,
} from '../helpers/bind.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';

const LONG_KEY = `v=DKIM1; k=rsa; p=${'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'.repeat(17)}`;
const ZONE: NameServerOptions['zones'][string] = {
  'example.com': {
    TXT: ['v=spf1 mx -all', 'site=1'],
    MX: ['10 mx.example.com'],
    CAA: ['0 issue "ca.example"'],
  },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=none'] },
  'mx.example.com': { A: ['192.0.2.25'] },
  'alias.example.com': { CNAME: ['elsewhere.example'] },
};

const openAt = (server: TestNameServer, settings = {}, clock = loopbackContext().clock) =>
  rfc2136.open({ ...server.settings, ...settings }, loopbackContext(clock));

const set = (name: string, type: string, values: string[], ttl = 3600): RecordSet => ({
  name,
  type,
  values,
  ttl,
});

const sorted = (records: RecordSet) => ({ ...records, values: records.values.toSorted() });

async function assertProblem(work: Promise<unknown>, problem: DnsServerProblem, message?: RegExp) {
  await assert.rejects(work, (error: DnsServerError) => {
    assert.ok(error instanceof DnsServerError, String(error));
    assert.equal(error.problem, problem, error.message);
    if (message) assert.match(error.message, message);
    assert.ok(!error.message.includes(TEST_KEY.secret));
    return true;
  });
}

const SERVERS = [
  { command: 'named', start: startBind },
  { command: 'knotd', start: startKnot },
  { command: 'pdns_server', start: startPowerDns },
];

for (const { command, start } of SERVERS)
  describe(`Dynamic updates at ${command}`, { skip: skipUnlessInstalled(command) }, () => {
    const startServer = (t: TestContext, options: Partial<NameServerOptions> = {}) =>
      start(t, { zones: { 'example.com': ZONE }, ...options });

    it('adds, replaces and removes records, and undo brings back the very same sets', async (t) => {
      const running = await startServer(t);
      const server = openAt(running);
      const changes: [RecordSet, RecordSet][] = [
        [
          set('_smtp._tls.example.com', 'TXT', []),
          set('_smtp._tls.example.com', 'TXT', ['v=TLSRPTv1; rua=mailto:t@example.com']),
        ],
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
          set('s1._domainkey.example.com', 'TXT', [LONG_KEY]),
        ],
        [
          set('mx.example.com', 'A', ['192.0.2.25']),
          set('mx.example.com', 'A', ['192.0.2.25', '192.0.2.26']),
        ],
        [set('mx.example.com', 'AAAA', []), set('mx.example.com', 'AAAA', ['2001:db8::25'])],
        [
          set('example.com', 'CAA', ['0 issue "ca.example"']),
          set('example.com', 'CAA', ['0 issue "ca.example"', '0 iodef "mailto:a@example.com"']),
        ],
        [
          set('example.com', 'MX', ['10 mx.example.com']),
          set('example.com', 'MX', ['5 a.example.com', '10 mx.example.com']),
        ],
        [
          set('_25._tcp.mx.example.com', 'TLSA', []),
          set('_25._tcp.mx.example.com', 'TLSA', [`3 1 1 ${'ab'.repeat(32)}`]),
        ],
        [
          set('quoted.example.com', 'TXT', []),
          set('quoted.example.com', 'TXT', ['say "hi" \\ é ;', '', ' ']),
        ],
      ];
      for (const [before, after] of changes) {
        assert.equal(await server.zoneOf(before.name), 'example.com');
        assert.deepEqual(
          sorted(await server.read('example.com', before.name, before.type)),
          sorted(before),
        );
        await server.replace('example.com', before, after);
        assert.deepEqual(
          sorted(await server.read('example.com', before.name, before.type)),
          sorted(after),
        );
        const answer = await running.resolver(after.name, after.type as 'TXT');
        assert.ok(answer.status === 'found');
        assert.deepEqual(answer.records.toSorted(), after.values.toSorted());
      }
      for (const [before, after] of changes.toReversed()) {
        await server.replace('example.com', after, before);
        assert.deepEqual(
          sorted(await server.read('example.com', before.name, before.type)),
          sorted(before),
        );
      }
    });

    it('changes nothing if the records are no longer what they were', async (t) => {
      const server = openAt(await startServer(t));
      const before = await server.read('example.com', '_dmarc.example.com', 'TXT');
      const mine = { ...before, values: ['v=DMARC1; p=reject'] };
      const theirs = { ...before, values: ['v=DMARC1; p=quarantine'] };
      await server.replace('example.com', before, theirs);
      await assertProblem(
        server.replace('example.com', before, mine),
        'changed',
        /Make a new plan/,
      );
      const added = set('new.example.com', 'TXT', ['b']);
      await server.replace('example.com', set('new.example.com', 'TXT', []), added);
      await assertProblem(
        server.replace('example.com', set('new.example.com', 'TXT', []), added),
        'changed',
      );
      assert.deepEqual(await server.read('example.com', '_dmarc.example.com', 'TXT'), theirs);
    });

    it('lets exactly one of many concurrent changes win', async (t) => {
      const server = openAt(await startServer(t));
      const before = await server.read('example.com', '_dmarc.example.com', 'TXT');
      const outcomes = await Promise.allSettled(
        Array.from({ length: 8 }, (_, i) =>
          server.replace('example.com', before, {
            ...before,
            values: [`v=DMARC1; p=none; x=${i}`],
          }),
        ),
      );
      const won = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []));
      assert.equal(won.length, 1);
      const after = await server.read('example.com', '_dmarc.example.com', 'TXT');
      assert.deepEqual(after.values, [`v=DMARC1; p=none; x=${won[0]}`]);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') assert.equal(outcome.reason.problem, 'changed');
    });

    it('never writes beside an alias', async (t) => {
      const server = openAt(await startServer(t));
      assert.deepEqual((await server.read('example.com', 'alias.example.com', 'CNAME')).values, [
        'elsewhere.example',
      ]);
      const none = await server.read('example.com', 'alias.example.com', 'TXT');
      assert.deepEqual(none.values, []);
      await assertProblem(
        server.replace('example.com', none, { ...none, values: ['x'] }),
        'changed',
      );
    });

    it('explains wrong keys, wrong clocks and zones of others', async (t) => {
      const other = { ...TEST_KEY, name: 'other-key' };
      const running = await startServer(t, { keys: [other] });
      const wrong = Buffer.alloc(32, 'x').toString('base64');
      const zones = 'example.com';
      // PowerDNS does not say what is wrong.
      const problem = (one: DnsServerProblem) => (command === 'pdns_server' ? 'refused' : one);
      const words = (text: RegExp) =>
        command === 'pdns_server' ? /this secret, that both clocks agree/ : text;
      await assertProblem(
        openAt(running, { zones, key_secret: wrong }).check(),
        problem('bad_credentials'),
        words(/another secret/),
      );
      await assertProblem(
        openAt(running, { zones, key_name: 'nobody' }).check(),
        problem('bad_credentials'),
        words(/does not know the key nobody/),
      );
      for (const hours of [-1, 1]) {
        const clock = { now: () => Date.now() + hours * 3_600_000 };
        await assertProblem(
          openAt(running, { zones }, clock).check(),
          problem('wrong_time'),
          words(/five minutes.* UTC there/),
        );
      }
      const set1 = set('a.example.com', 'TXT', []);
      await assertProblem(
        openAt(running, { key_name: 'other-key' }).replace('example.com', set1, {
          ...set1,
          values: ['x'],
        }),
        // Knot DNS says the same about a key that it does not know.
        command === 'knotd' ? 'bad_credentials' : 'refused',
        command === 'knotd'
          ? /key other-key .* does not accept it for this zone/
          : /does not allow the key other-key to change a\.example\.com/,
      );
      const server = openAt(running);
      assert.equal(await server.zoneOf('_dmarc.example.org'), null);
      await assertProblem(server.read('example.org', 'example.org', 'TXT'), 'no_such_zone');
      await assertProblem(
        openAt(running, { zones: 'example.org' }).check(),
        'no_such_zone',
        /primary server/,
      );
      assert.deepEqual(await openAt(running, { zones: 'example.com' }).check(), {
        zones: ['example.com'],
      });
      if (command !== 'knotd') assert.deepEqual(await server.check(), { zones: [] });
      else await assertProblem(server.check(), 'refused', /Enter the zones of the key/);
      assert.equal(await openAt(running, { zones: 'other.example' }).zoneOf('a.example.com'), null);
    });

    it('tells records of a name from those of a wildcard', async (t) => {
      const zone = {
        ...ZONE,
        '*.example.com': { TXT: ['wild'] },
        '*.w.example.com': { CNAME: ['elsewhere.example'] },
      };
      const server = openAt(await startServer(t, { zones: { 'example.com': zone } }));
      const none = await server.read('example.com', 'b.a.example.com', 'TXT');
      assert.deepEqual(none.values, []);
      await server.replace('example.com', none, { ...none, values: ['wild'] });
      assert.deepEqual((await server.read('example.com', 'b.a.example.com', 'TXT')).values, [
        'wild',
      ]);
      assert.deepEqual(
        (await server.read('example.com', '_dmarc.w.example.com', 'CNAME')).values,
        [],
      );
      const own = await server.read('example.com', '_dmarc.w.example.com', 'TXT');
      await server.replace('example.com', own, { ...own, values: ['v=DMARC1; p=none'] });
      assert.equal((await server.read('example.com', '*.example.com', 'TXT')).values[0], 'wild');
    });

    it('tells which records a name has by a wildcard', async (t) => {
      const zone = {
        ...ZONE,
        '*.example.com': { A: ['192.0.2.80'], TXT: ['wild'] },
        'b.a.example.com': { TXT: ['x'] },
      };
      const server = openAt(await startServer(t, { zones: { 'example.com': zone } }));
      const types = (name: string) => server.wildcardTypes!('example.com', name);
      assert.deepEqual(await types('_dmarc.news.example.com'), ['A', 'TXT']);
      for (const name of ['mx.example.com', '_dmarc.mx.example.com', 'a.example.com'])
        assert.deepEqual(await types(name), [], name);
    });

    it('changes only the zones of its settings, and none above the zone of a name', async (t) => {
      const zones = { 'example.com': ZONE, 'sub.example.com': {} };
      const running = await startServer(t, { zones });
      assert.equal(await openAt(running).zoneOf('_dmarc.sub.example.com'), 'sub.example.com');
      const parent = openAt(running, { zones: 'example.com' });
      assert.equal(await parent.zoneOf('_dmarc.example.com'), 'example.com');
      assert.equal(await parent.zoneOf('_dmarc.sub.example.com'), null);
      const before = set('_dmarc.sub.example.com', 'TXT', []);
      await assertProblem(
        parent.replace('sub.example.com', before, { ...before, values: ['x'] }),
        'refused',
        /is not among the zones of this server/,
      );
    });

    it('explains a server that does not answer', async (t) => {
      const running = await startServer(t);
      await running.kill();
      const server = openAt(running);
      await assertProblem(
        server.check(),
        'unreachable',
        /Could not reach 127\.0\.0\.1:\d+ over TCP/,
      );
      const guarded = rfc2136.open(running.settings, { ...loopbackContext(), allowNetworks: [] });
      await assertProblem(guarded.check(), 'unreachable', /no public IP address/);
    });
  });

test('a key that may change only TXT records is enough for them, and is refused for others', {
  skip: skipUnlessInstalled('named'),
}, async (t) => {
  const running = await startBind(t, {
    zones: { 'example.com': ZONE },
    policies: { 'example.com': `grant ${TEST_KEY.name} zonesub TXT;` },
  });
  const server = openAt(running, { zones: 'example.com' });
  assert.deepEqual(await server.check(), { zones: ['example.com'] });
  const before = await server.read('example.com', '_dmarc.example.com', 'TXT');
  await server.replace('example.com', before, { ...before, values: ['v=DMARC1; p=reject'] });
  const address = set('a.example.com', 'A', []);
  await assertProblem(
    server.replace('example.com', address, { ...address, values: ['192.0.2.1'] }),
    'refused',
    /does not allow the key deliverability-key to change a\.example\.com in example\.com/,
  );
});

test('records whose bytes are not text are kept, but not removed', {
  skip: skipUnlessInstalled('named'),
}, async (t) => {
  const lines = ['raw.example.com. IN TXT "caf\\233"', 'raw.example.com. IN TXT "v=spf1 " "-all"'];
  const running = await startBind(t, {
    zones: { 'example.com': {} },
    lines: { 'example.com': lines },
  });
  const server = openAt(running);
  const before = await server.read('example.com', 'raw.example.com', 'TXT');
  assert.deepEqual(before.values.toSorted(), ['café', 'v=spf1 -all']);
  await assertProblem(
    server.replace('example.com', before, { ...before, values: ['v=spf1 -all'] }),
    'invalid_record',
    /could not be undone/,
  );
  await server.replace('example.com', before, { ...before, values: ['café', 'v=spf1 ~all'] });
  const after = await server.read('example.com', 'raw.example.com', 'TXT');
  assert.deepEqual(after.values.toSorted(), ['café', 'v=spf1 ~all']);
});

test('names below a DNAME record are aliases, and a text in two notations is one value', {
  skip: skipUnlessInstalled('named'),
}, async (t) => {
  const running = await startBind(t, {
    zones: { 'example.com': {} },
    lines: {
      'example.com': [
        'd.example.com. IN DNAME other.example.',
        'two.example.com. IN TXT "ab" "c"',
        'two.example.com. IN TXT "a" "bc"',
      ],
    },
  });
  const server = openAt(running);
  assert.deepEqual((await server.read('example.com', '_dmarc.d.example.com', 'CNAME')).values, [
    '_dmarc.other.example',
  ]);
  const before = await server.read('example.com', 'two.example.com', 'TXT');
  const after = { ...before, values: ['abc', 'd'] };
  await server.replace('example.com', before, after);
  await server.replace('example.com', after, before);
});

test('settings of a server are validated and normalized', () => {
  const field = (name: string) => rfc2136.fields.find((one) => one.name === name)!.schema;
  for (const [text, parsed] of [
    ['ns1.example.com', { host: 'ns1.example.com', port: 53 }],
    ['192.0.2.1:5353', { host: '192.0.2.1', port: 5353 }],
    ['[2001:db8::53]:5353', { host: '2001:db8::53', port: 5353 }],
    ['2001:db8::53', { host: '2001:db8::53', port: 53 }],
  ] as const) {
    assert.ok(v.is(field('server'), text), text);
    assert.deepEqual(parseServer(text), parsed);
  }
  for (const text of [
    '',
    'a b',
    'ns1:0',
    'ns1:99999',
    'https://ns1.example.com',
    '[192.0.2.1]:53',
    'ns1:5:3',
  ])
    assert.ok(!v.is(field('server'), text), text);
  for (const text of ['', 'short', `${'A'.repeat(21)}`, 'not base64 at all!!!!'])
    assert.ok(!v.is(field('key_secret'), text), text);
  assert.ok(v.is(field('key_secret'), TEST_KEY.secret));
  assert.equal(
    v.parse(field('zones'), ' Example.com,, münchen.example\nexample.com'),
    'example.com, xn--mnchen-3ya.example',
  );
  assert.equal(v.parse(field('zones'), ''), '');
  assert.equal(v.parse(field('key_name'), 'My-Key.'), 'my-key');
  assert.ok(!v.is(field('key_algorithm'), 'hmac-md5'));
});
