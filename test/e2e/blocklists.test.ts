/** Blocklists on a real DNS server: listings cost points, other answers of a zone do not. */

// @one-database: about DNS.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { analyze } from '../../src/analysis/analyze.ts';
import type { BlocklistInUse } from '../../src/analysis/blocklists/blocklist.ts';
import { chooseBlocklists } from '../../src/analysis/blocklists/choose.ts';
import { createBlocklistWatch } from '../../src/analysis/blocklists/watch.ts';
import { NO_SETUP } from '../../src/analysis/context.ts';
import type { Cap, CheckResult } from '../../src/analysis/result.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { createDnsResolver } from '../../src/net/dns/network-resolver.ts';
import type { DnsErrorReason } from '../../src/net/dns/resolver.ts';
import type { Zone } from '../../src/net/dns/zone.ts';
import { RECEIVED_AT } from '../helpers/analysis.ts';
import { blocklistZone, listIn, workingLists } from '../helpers/blocklists.ts';
import { type DnsTestServer, startDnsServer } from '../helpers/dns-server.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { SENDER_ZONE, signed } from './sender.ts';

/** Not a documentation address, because those are never queried. Nothing connects to it. */
const CLIENT = '203.0.114.7';
const REVERSED = '7.114.0.203';
const LINK = 'shop.example';

const SENDER: Zone = {
  ...SENDER_ZONE,
  // Public resolvers find it, so that other names can be denied.
  com: { NS: ['a.gtld-servers.net'] },
  'example.com': { A: [CLIENT], MX: ['10 mail.example.com'], TXT: [`v=spf1 ip4:${CLIENT} -all`] },
  'mail.example.com': { A: [CLIENT], TXT: ['v=spf1 a -all'] },
  'out.host.example': { A: [CLIENT] },
  [`${REVERSED}.in-addr.arpa`]: { PTR: ['out.host.example'] },
};

const RAW = signed({ message: goodMessage({}, `Read on: https://www.${LINK}/bread\n`) });

/** The default lists, and one that refuses queries in its own way. */
const LISTS = [...workingLists(), ...workingLists('bl.score.senderscore.com')];

async function startLists(t: TestContext): Promise<DnsTestServer> {
  const dns = await startDnsServer({});
  t.after(() => dns.close());
  return dns;
}

/** A resolver with a short timeout and an empty cache. */
function freshResolver({ address }: DnsTestServer) {
  return createDnsResolver({ servers: [address], clock: systemClock, timeoutMs: 300 });
}

async function judge(dns: DnsTestServer, blocklists: BlocklistInUse[]) {
  const resolver = freshResolver(dns);
  const result = await analyze(
    {
      raw: await RAW,
      envelope: {
        mail_from: 'bounce@example.com',
        client_ip: CLIENT,
        helo: 'out.host.example',
        tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
      },
      receivedAt: RECEIVED_AT,
      kind: 'transactional',
    },
    {
      resolver,
      setup: { ...NO_SETUP, blocklists },
      onFault: (id, error) => assert.fail(`${id}: ${error}`),
    },
  );
  resolver.close();
  const of = (id: string): CheckResult => result.checks.find((check) => check.id === id)!;
  return { ...result, of };
}

/** The points and the cap. */
const verdict = ({
  score,
  grade,
  cap,
  uncapped,
  checks,
}: {
  score: number | null;
  grade: string | null;
  cap: Cap | null;
  uncapped: number | null;
  checks: CheckResult[];
}) => ({
  score,
  grade,
  cap,
  uncapped,
  checks: checks
    .filter(({ points }) => points > 0)
    // Unknown checks don't count: they are neither passed nor failed.
    .map(({ id, points, earned, gain }) => ({ id, lost: points - (earned ?? points), gain })),
});

const REPUTATION = ['ip_blocklists', 'domain_blocklists', 'link_blocklists'];

test('Blocklists: an unlisted sender loses no points', async (t) => {
  const dns = await startLists(t);
  dns.zone = { ...blocklistZone(), ...SENDER };
  const result = await judge(dns, LISTS);
  for (const id of REPUTATION) assert.equal(result.of(id).status, 'pass', result.of(id).detail);
  assert.equal(result.of('allowlists').status, 'info');
  assert.equal(result.cap, null);
  assert.equal(result.categories.find(({ name }) => name === 'reputation')?.score, 100);
});

type Node = Zone[string];
const answer = (...codes: string[]): Node => ({ A: codes });
const failure = (reason: DnsErrorReason): Node => ({ fails: reason });

/** Answers that are not a listing in any zone. */
const ANYWHERE: [string, Node][] = [
  ['a code that no list has', answer('127.0.0.99')],
  ['an answer outside of 127.0.0.0/8', answer('198.51.100.80')],
  ['SERVFAIL', failure('servfail')],
  ['REFUSED', failure('refused')],
  ['silence', failure('timeout')],
];
const REFUSALS: [zone: string, Node[]][] = [
  [
    'zen.spamhaus.org',
    [
      answer('127.255.255.252'),
      answer('127.255.255.254'),
      answer('127.255.255.255'),
      answer('127.0.0.2', '127.255.255.254'),
    ],
  ],
  [
    'dbl.spamhaus.org',
    [
      answer('127.0.1.255'),
      answer('127.255.255.252'),
      answer('127.255.255.254'),
      answer('127.255.255.255'),
    ],
  ],
  ['multi.surbl.org', [answer('127.0.0.1')]],
  ['multi.uribl.com', [answer('127.0.0.1')]],
  ['list.dnswl.org', [answer('127.0.0.255')]],
  ['bl.score.senderscore.com', [answer('127.255.255.255')]],
];
const zonesOf = (lists: BlocklistInUse[]) => lists.map(({ list }) => list.zone);

/** The same answer to every query of this message. */
const everywhere = (zone: string, node: Node): Zone =>
  Object.fromEntries(
    [REVERSED, 'example.com', 'host.example', 'out.host.example', LINK, `www.${LINK}`].map(
      (question) => [`${question}.${zone}`, node],
    ),
  );

for (const zone of zonesOf(LISTS))
  test(`Blocklist ${zone}: replies other than a listing cost no points`, async (t) => {
    const dns = await startLists(t);
    const without = LISTS.filter(({ list }) => list.zone !== zone);
    const alone = LISTS.filter(({ list }) => list.zone === zone);
    dns.zone = { ...blocklistZone(), ...SENDER };
    const wanted = verdict(await judge(dns, without));
    const { score } = await judge(dns, []);
    const refusals = REFUSALS.find(([name]) => name === zone)?.[1] ?? [];
    const nodes: [string, Node][] = [
      ...ANYWHERE,
      ...refusals.map((node): [string, Node] => [`the refusal ${JSON.stringify(node)}`, node]),
    ];
    for (const [what, node] of nodes) {
      dns.zone = { ...blocklistZone(), ...SENDER, ...everywhere(zone, node) };
      const result = await judge(dns, LISTS);
      assert.deepEqual(verdict(result), wanted, what);
      assert.deepEqual(statusesOf(result.checks, zone), ['error'], what);
      const only = await judge(dns, alone);
      assert.equal(only.score, score, what);
      assert.equal(only.cap, null, what);
      for (const id of REPUTATION)
        assert.match(only.of(id).status, /^(error|skipped|info)$/, `${what}: ${id}`);
    }
  });

/** The statuses of one list in the evidence of all checks, each once. */
function statusesOf(checks: CheckResult[], zone: string): string[] {
  const entries = checks.flatMap(
    ({ evidence }) => (evidence.lists ?? []) as { zone: string; status: string }[],
  );
  return [...new Set(entries.filter((entry) => entry.zone === zone).map(({ status }) => status))];
}

/** Answers every query below these zones alike. */
function wildcard(zone: Zone, suffixes: string[], node: Node): Zone {
  return new Proxy(zone, {
    get: (target, name: string) =>
      suffixes.some((suffix) => name.endsWith(`.${suffix}`)) ? node : target[name],
  });
}

const BROKEN: [string, Node, RegExp][] = [
  [
    'lists everything',
    answer('127.0.0.2', '127.0.1.2'),
    /not one of the codes|must never be listed/,
  ],
  ['is parked on a web server', answer('198.51.100.80'), /may have shut down/],
  ['returns SERVFAIL', failure('servfail'), /SERVFAIL/],
  ['times out', failure('timeout'), /in time/],
  ['refuses queries', answer('127.255.255.254'), /public resolver|not one of the codes/],
  ['is empty', {}, /does not contain its own test entry/],
];

for (const [what, node, says] of BROKEN)
  test(`Blocklist zone that ${what} is excluded by its self-test and costs no points`, async (t) => {
    const dns = await startLists(t);
    const broken = ['zen.spamhaus.org', 'bl.spamcop.net', 'dbl.spamhaus.org', 'list.dnswl.org'];
    const healthy = workingLists().filter(({ list }) => !broken.includes(list.zone));
    dns.zone = { ...blocklistZone(), ...SENDER };
    const wanted = verdict(await judge(dns, healthy));
    dns.zone = wildcard(dns.zone, broken, node);
    const resolver = freshResolver(dns);
    const warned: string[] = [];
    const watch = createBlocklistWatch({
      lists: chooseBlocklists([], null),
      resolver,
      clock: systemClock,
      log: { ...silentLog, warn: (_, fields) => warned.push(String(fields?.zone)) },
    });
    const lists = await watch.inUse();
    resolver.close();
    const out = lists.filter(({ fault }) => fault !== null);
    assert.deepEqual(zonesOf(out).sort(), [...broken].sort());
    assert.deepEqual(warned.sort(), [...broken].sort());
    for (const { fault } of out) assert.match(fault!, says);
    const result = await judge(dns, lists);
    assert.deepEqual(verdict(result), wanted);
    for (const zone of broken) assert.deepEqual(statusesOf(result.checks, zone), ['left_out']);
  });

test('Blocklists that list everything with a valid code are detected', async (t) => {
  const dns = await startLists(t);
  for (const [zone, code] of [
    ['zen.spamhaus.org', '127.0.0.2'],
    ['dbl.spamhaus.org', '127.0.1.2'],
    ['multi.surbl.org', '127.0.0.64'],
    ['list.dnswl.org', '127.0.10.3'],
  ] as const) {
    dns.zone = wildcard({ ...blocklistZone(), ...SENDER }, [zone], answer(code));
    const resolver = freshResolver(dns);
    const watch = createBlocklistWatch({
      lists: chooseBlocklists([], null),
      resolver,
      clock: systemClock,
      log: silentLog,
    });
    const lists = await watch.inUse();
    resolver.close();
    const out = lists.filter(({ fault }) => fault !== null);
    assert.deepEqual(zonesOf(out), [zone]);
    assert.match(out[0]!.fault!, /must never be listed/);
    const result = await judge(dns, lists);
    // If a list of large mailbox providers does not answer, the result is unknown, never a failure.
    for (const id of REPUTATION)
      assert.ok(['pass', 'error'].includes(result.of(id).status), result.of(id).title);
    assert.equal(result.score, 100);
  }
});

interface Listed {
  what: string;
  zone: Zone;
  check: string;
  status: string;
  cap: number | null;
}

const LISTINGS: Listed[] = [
  {
    what: 'the client address on tier 1',
    zone: listIn('zen.spamhaus.org', REVERSED, '127.0.0.3', 'https://check.example/7'),
    check: 'ip_blocklists',
    status: 'fail',
    cap: 35,
  },
  {
    what: 'the client address on the Spamhaus PBL',
    zone: listIn('zen.spamhaus.org', REVERSED, '127.0.0.11'),
    check: 'ip_blocklists',
    status: 'fail',
    cap: 35,
  },
  {
    what: 'the client address on tier 2',
    zone: listIn('bl.spamcop.net', REVERSED, '127.0.0.2'),
    check: 'ip_blocklists',
    status: 'warn',
    cap: null,
  },
  {
    what: 'the client address on tier 3',
    zone: listIn('dnsbl-1.uceprotect.net', REVERSED, '127.0.0.2'),
    check: 'ip_blocklists',
    status: 'pass',
    cap: null,
  },
  {
    what: 'the From domain on tier 1',
    zone: listIn('dbl.spamhaus.org', 'example.com', '127.0.1.4'),
    check: 'domain_blocklists',
    status: 'fail',
    cap: 35,
  },
  {
    what: 'the From domain on tier 2',
    zone: listIn('multi.uribl.com', 'example.com', '127.0.0.2'),
    check: 'domain_blocklists',
    status: 'warn',
    cap: null,
  },
  {
    what: 'only the HELO name on tier 1',
    zone: listIn('dbl.spamhaus.org', 'host.example', '127.0.1.2'),
    check: 'domain_blocklists',
    status: 'fail',
    cap: null,
  },
  {
    what: 'a link on tier 1',
    zone: listIn('dbl.spamhaus.org', LINK, '127.0.1.2'),
    check: 'link_blocklists',
    status: 'fail',
    cap: 50,
  },
  {
    what: 'a link on tier 2',
    zone: listIn('multi.surbl.org', LINK, '127.0.0.8'),
    check: 'link_blocklists',
    status: 'warn',
    cap: null,
  },
];

for (const { what, zone, check, status, cap } of LISTINGS)
  test(`Blocklists: with ${what}, ${check} is ${status} and the score cap is ${cap ?? 'none'}`, async (t) => {
    const dns = await startLists(t);
    dns.zone = { ...blocklistZone(), ...SENDER };
    const clean = await judge(dns, LISTS);
    dns.zone = { ...dns.zone, ...zone };
    const result = await judge(dns, LISTS);
    assert.equal(result.of(check).status, status, result.of(check).title);
    for (const id of REPUTATION.filter((other) => other !== check))
      assert.equal(result.of(id).status, 'pass', id);
    assert.equal(result.cap?.limit ?? null, cap);
    if (cap !== null) assert.ok(result.score! <= cap);
    if (status === 'pass') assert.equal(result.score, clean.score);
    else {
      assert.ok(result.score! < clean.score!);
      assert.ok(result.of(check).gain > 0);
      assert.ok(result.of(check).fix?.text);
    }
  });

test('Blocklist finding includes the TXT record of the listing', async (t) => {
  const dns = await startLists(t);
  dns.zone = { ...blocklistZone(), ...SENDER, ...LISTINGS[0]!.zone };
  const { evidence } = (await judge(dns, LISTS)).of('ip_blocklists');
  const [zen] = evidence.lists as Record<string, unknown>[];
  assert.equal(zen?.text, 'https://check.example/7');
  assert.equal(dns.queries.get(`${REVERSED}.zen.spamhaus.org/TXT`), 1);
  assert.equal(dns.queries.get(`${REVERSED}.bl.spamcop.net/TXT`), undefined);
});
