/** Domains that others cannot look up: the cause is one critical finding, and what is not known is never claimed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mx } from '../../../src/analysis/checks/mx.ts';
import { returnPath } from '../../../src/analysis/checks/return-path.ts';
import { dnssecFault } from '../../../src/analysis/dns/dnssec-fault.ts';
import type { ZoneSecurity } from '../../../src/analysis/dns/zone-survey.ts';
import type { DomainHealth } from '../../../src/analysis/domain/health.ts';
import { type AskDns, NO_REPLY } from '../../../src/net/dns/reply.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { RECEIVED_AT, runCheck } from '../../helpers/analysis.ts';
import { type DnsWorld, dnsWorld } from '../../helpers/dns-world.ts';
import { checkDomain, GOOD_ZONE, item } from '../domain/domains.ts';

const DAY = 24 * 60 * 60 * 1000;
const NAME = 'example.com';
const inWorld = (world: DnsWorld): Promise<DomainHealth> =>
  checkDomain(world.zone, dnsWorld(world), NAME);

/** All names of the domain fail at the resolver. */
const REJECTED: Zone = Object.fromEntries(
  Object.keys(GOOD_ZONE).map((name) => [name, { fails: 'servfail' }]),
);
// RFC 4034 §5.4 and RFC 4509 §2.3.
const KEY =
  '256 3 5 AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAphXdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==';
const DS_SHA1 = '60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118';
const DS_SHA256 = '60485 5 2 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A';
const OTHER_DS = `4711 13 2 ${'0'.repeat(64)}`;

const ALL_SKIPPED = ({ checks }: DomainHealth): boolean =>
  checks.every(({ id, status }) => id === 'name_servers' || status === 'skipped');

const server = (address: string, answers: 'yes' | 'timeout' | 'refused' | 'servfail' | 'lame') => ({
  address,
  answers,
});

const bogus: DnsWorld = { zone: REJECTED, unchecked: GOOD_ZONE, ds: { [NAME]: [OTHER_DS] } };

test('A domain with expired signatures is critical, with the date, as the only finding', async () => {
  const until = Date.UTC(2025, 2, 9, 12);
  const health = await inWorld({ ...bogus, signatures: { [NAME]: { from: 0, until } } });
  assert.equal(health.status, 'critical');
  assert.equal(health.score, 0);
  assert.equal(
    health.summary,
    'Receivers that validate DNSSEC cannot look up example.com: its signatures expired on 9 March 2025. Nothing else was checked.',
  );
  assert.ok(ALL_SKIPPED(health));
  const { fix, evidence } = item(health, 'name_servers');
  assert.match(fix?.text ?? '', /^Sign example\.com again at its DNS provider/);
  assert.equal(fix?.record, undefined);
  assert.deepEqual([evidence.cause, evidence.since], ['expired', '2025-03-09T12:00:00.000Z']);
});

test('Expired signatures are critical with a resolver that does not validate, beside the other checks', async () => {
  const signatures = { [NAME]: { from: 0, until: RECEIVED_AT - DAY } };
  const health = await inWorld({ zone: GOOD_ZONE, ds: { [NAME]: [OTHER_DS] }, signatures });
  assert.equal(health.status, 'critical');
  assert.equal(item(health, 'name_servers').evidence.cause, 'expired');
  assert.deepEqual(
    ['spf_record', 'mx', 'dnssec'].map((id) => item(health, id).status),
    ['pass', 'pass', 'skipped'],
  );
});

test('An extended error names the cause where the records do not', async () => {
  for (const [text, words] of [
    ['7 Signature Expired: example.com SOA', /its signatures have expired\.$/],
    ['9 DNSKEY Missing', /none of its keys matches the DS record/],
    ['6 DNSSEC Bogus', /its signatures are not valid\.$/],
  ] as const) {
    const health = await inWorld({ ...bogus, ede: { [NAME]: text } });
    const { title, severity, detail } = item(health, 'name_servers');
    assert.match(title, words);
    assert.equal(severity, 'critical');
    assert.ok(detail.endsWith(`The resolver says: ${text}.`), detail);
  }
});

test('A DS record at the parent zone that fits no key, or a zone without keys, is named', async () => {
  const withKeys = (DNSKEY: string[]): DnsWorld => ({
    ...bogus,
    unchecked: { ...GOOD_ZONE, [NAME]: { ...GOOD_ZONE[NAME], DNSKEY } },
  });
  const wrong = item(await inWorld(withKeys([KEY])), 'name_servers');
  assert.equal(wrong.evidence.cause, 'wrong_ds');
  assert.match(
    wrong.fix!.text,
    /registrar of example\.com, replace the DS record with the key tag 4711 /,
  );
  const unsigned = item(await inWorld(withKeys([])), 'name_servers');
  assert.equal(unsigned.evidence.cause, 'unsigned');
  assert.match(unsigned.fix!.text, /^At the registrar of example\.com, remove the DS record /);
});

test('A domain whose name servers all fail is critical, with what each of them does', async () => {
  const health = await inWorld({
    zone: REJECTED,
    unchecked: REJECTED,
    servers: {
      [NAME]: {
        'ns1.old.example': server('192.0.2.11', 'refused'),
        'ns2.old.example': server('192.0.2.12', 'timeout'),
      },
    },
  });
  assert.equal(
    health.summary,
    'Nobody can look up example.com: none of its name servers answers for example.com. Nothing else was checked.',
  );
  const { detail, fix } = item(health, 'name_servers');
  assert.match(
    detail,
    /^ns1\.old\.example \(192\.0\.2\.11\) refuses to answer for the zone \(REFUSED\); ns2\.old\.example \(192\.0\.2\.12\) does not respond\./,
  );
  assert.match(fix!.text, /^At the registrar of example\.com, set the name servers /);
  assert.ok(ALL_SKIPPED(health));
});

test('Name servers inside a zone whose parent zone has no addresses for them are dead', async () => {
  const host = `ns1.${NAME}`;
  const health = await inWorld({
    zone: { ...REJECTED, [host]: { fails: 'servfail' } },
    unchecked: { ...REJECTED, [host]: { fails: 'servfail' } },
    servers: { [NAME]: { [host]: { address: null, answers: 'yes' } } },
  });
  const { detail, severity } = item(health, 'name_servers');
  assert.equal(severity, 'critical');
  assert.match(detail, /^ns1\.example\.com has no address in DNS\./);
});

test('One lame name server of two is a warning beside the other checks', async () => {
  for (const answers of ['lame', 'refused', 'servfail', 'timeout'] as const) {
    const health = await inWorld({
      zone: GOOD_ZONE,
      servers: {
        [NAME]: {
          'ns1.host.example': server('192.0.2.11', 'yes'),
          'ns2.host.example': server('192.0.2.12', answers),
        },
      },
    });
    const { title, severity, fix } = item(health, 'name_servers');
    assert.deepEqual([health.status, severity], ['warning', 'warning']);
    assert.equal(title, 'ns2.host.example does not answer for example.com.');
    assert.match(fix!.text, /remove ns2\.host\.example from the name servers/);
    assert.equal(item(health, 'spf_record').status, 'pass');
  }
});

test('A healthy domain passes with few questions to name servers', async () => {
  const world = dnsWorld({ zone: GOOD_ZONE });
  const asked: string[] = [];
  const askDns: AskDns = (question) => {
    asked.push(`${question.type} ${question.to}`);
    return world.askDns(question);
  };
  const health = await checkDomain(GOOD_ZONE, { ...world, askDns });
  assert.deepEqual([health.status, item(health, 'name_servers').status], ['healthy', 'pass']);
  assert.deepEqual(asked, ['NS 192.0.2.250', 'SOA 192.0.2.251', 'SOA 192.0.2.252']);
});

test('A resolver that works for no name, or blocks this one, leaves the health unknown and says so', async () => {
  const dead = await inWorld({ ...bogus, zone: { ...REJECTED, com: { fails: 'servfail' } } });
  assert.equal(dead.status, 'unknown');
  assert.match(item(dead, 'name_servers').title, /the DNS resolver used here does not work\.$/);
  const blocked = await inWorld({ ...bogus, ede: { [NAME]: '17 Filtered' } });
  assert.equal(blocked.status, 'unknown');
  assert.match(item(blocked, 'name_servers').title, /resolver used here blocks the name\.$/);
});

test('Servers that answer while the resolver fails leave the health unknown', async () => {
  const health = await inWorld({ zone: REJECTED, unchecked: REJECTED });
  const { status, title, detail } = item(health, 'name_servers');
  assert.deepEqual([health.status, status], ['unknown', 'error']);
  assert.equal(title, 'Could not determine why lookups of example.com fail.');
  assert.match(detail, /2 of its 2 name servers answer when asked directly\./);
});

test('A network that stops queries to name servers is no fault of the domain', async () => {
  const { resolver } = dnsWorld({ zone: GOOD_ZONE });
  for (const failure of ['timeout', 'forbidden', 'unreachable'] as const) {
    const askDns: AskDns = async () => ({ ...NO_REPLY, failure });
    const health = await checkDomain(GOOD_ZONE, { resolver, askDns });
    assert.deepEqual([health.status, item(health, 'name_servers').status], ['healthy', 'info']);
  }
  let questions = 0;
  const silent: AskDns = async () => {
    questions += 1;
    return NO_REPLY;
  };
  await checkDomain(GOOD_ZONE, { resolver, askDns: silent });
  assert.equal(questions, 1);
  // A router that answers all queries itself looks like a lame server.
  const askDns: AskDns = async () => ({ ...NO_REPLY, failure: null, records: ['ns1.dns.invalid'] });
  const intercepted = await checkDomain(GOOD_ZONE, { resolver, askDns });
  assert.equal(intercepted.status, 'healthy');
});

test('Silence of all servers is no fault while the resolver finds everything', async () => {
  const health = await inWorld({
    zone: GOOD_ZONE,
    servers: { [NAME]: { 'ns1.host.example': server('192.0.2.11', 'timeout') } },
  });
  assert.deepEqual([health.status, item(health, 'name_servers').severity], ['healthy', null]);
});

test('Other name servers in the zone than at the registrar are named without a warning', async () => {
  const zone = { ...GOOD_ZONE, [NAME]: { ...GOOD_ZONE[NAME], NS: ['ns9.dns.invalid'] } };
  const { title, severity } = item(await inWorld({ zone }), 'name_servers');
  assert.equal(severity, null);
  assert.match(title, /^The registrar of example\.com and the zone itself list different/);
});

for (const [what, own, atRegistrar] of [
  ['in the zone', ['ns1.dns.invalid', `ns1.host.example.${NAME}`], undefined],
  [
    'in the zone, below a wildcard',
    [`ns1.host.example.${NAME}`, `ns2.host.example.${NAME}`],
    undefined,
  ],
  ['at the registrar', undefined, [`ns2.host.example.${NAME}`, 'ns1.dns.invalid']],
] as const)
  test(`The zone appended to a name server is named, with the name that was meant: ${what}`, async () => {
    const zone: Zone = {
      ...GOOD_ZONE,
      ...(what.includes('wildcard') && { [`*.${NAME}`]: { A: ['192.0.2.99'] } }),
      [NAME]: { ...GOOD_ZONE[NAME], ...(own && { NS: [...own] }) },
      'ns1.host.example': { A: ['192.0.2.11'] },
      'ns2.host.example': { AAAA: ['2001:db8::12'] },
    };
    const world = { address: '192.0.2.251', answers: 'yes' as const };
    const hosts = atRegistrar?.map((host) => [
      host,
      host.endsWith(NAME) ? { ...world, address: null } : world,
    ]);
    const servers = hosts && { [NAME]: Object.fromEntries(hosts) };
    const { title, severity, fix, evidence } = item(
      await inWorld({ zone, ...(servers && { servers }) }),
      'name_servers',
    );
    assert.deepEqual([severity, evidence.cause], ['warning', 'name_appended']);
    assert.match(title, /example\.com was appended to (?:it|them)\.$/);
    assert.match(fix!.text, /Enter "ns[12]\.host\.example\." with a dot at the end/);
    assert.equal(/Do the same for ns2\.host\.example\./.test(fix!.text), what.includes('wildcard'));
  });

test('A domain whose name servers all have its name appended is critical, and told their names', async () => {
  const host = `ns1.host.example.${NAME}`;
  const zone: Zone = { ...REJECTED, [host]: { fails: 'servfail' } };
  const health = await inWorld({
    zone: { ...zone, 'ns1.host.example': { A: ['192.0.2.11'] } },
    unchecked: zone,
    servers: { [NAME]: { [host]: { address: null, answers: 'yes' } } },
  });
  const { severity, fix } = item(health, 'name_servers');
  assert.equal(severity, 'critical');
  assert.match(fix!.text, /^Correct the NS records of example\.com, also at its registrar/);
});

test('A name server below the domain that has an address is right, whatever its name', async () => {
  const host = `ns1.host.example.${NAME}`;
  const zone: Zone = {
    ...GOOD_ZONE,
    [NAME]: { ...GOOD_ZONE[NAME], NS: [host] },
    [host]: { A: ['192.0.2.251'] },
    'ns1.host.example': { A: ['192.0.2.11'] },
  };
  assert.equal(item(await inWorld({ zone }), 'name_servers').severity, null);
});

for (const [what, dead] of [
  [
    'name servers that refuse',
    {
      servers: { 'dead.example': { 'ns1.old.example': server('192.0.2.11', 'refused') } },
    },
  ],
  [
    'a DS record that fits no key',
    {
      unchecked: { 'mx1.dead.example': { A: ['192.0.2.21'] } },
      ds: { 'dead.example': [OTHER_DS] },
      ede: { 'mx1.dead.example': '9 DNSKEY Missing' },
    },
  ],
] as const satisfies [string, Partial<DnsWorld>][]) {
  const DEAD = 'mx1.dead.example';
  const worldOf = (others: string[]): DnsWorld => ({
    ...dead,
    zone: {
      ...GOOD_ZONE,
      [NAME]: { ...GOOD_ZONE[NAME], MX: [`5 ${DEAD}`, ...others] },
      'dead.example': { fails: 'servfail' },
      [DEAD]: { fails: 'servfail' },
    },
  });
  test(`A mail server in a zone with ${what} is explained by the cause`, async () => {
    const found = item(await inWorld(worldOf([])), 'mx');
    assert.deepEqual([found.status, found.severity], ['fail', 'critical']);
    assert.equal(found.title, `The mail server ${DEAD} of ${NAME} cannot be looked up.`);
    assert.match(
      found.detail,
      /cannot look up mx1\.dead\.example: none of its keys matches|none of its name servers answers for dead\.example/,
    );
    assert.match(
      found.fix!.text,
      /registrar of dead\.example.* If someone else runs mx1\.dead\.example, /,
    );
    const beside = item(await inWorld(worldOf([`10 mx.${NAME}`])), 'mx');
    assert.deepEqual([beside.status, beside.title], ['warn', found.title]);
  });

  test(`The return path of a message names the cause: ${what}`, async () => {
    const envelope = { mail_from: `b@${DEAD}` };
    const message = `From: Ann <ann@${NAME}>\n\nHello\n`;
    const found = await runCheck(returnPath, { message, envelope, ...dnsWorld(worldOf([])) });
    assert.equal(found.status, 'fail');
    assert.match(found.title, /look up mx1\.dead\.example: /);
    assert.deepEqual(found.dependsOn, ['mx']);
    const { resolver } = dnsWorld(worldOf([]));
    const alone = await runCheck(returnPath, { message, envelope, resolver });
    assert.equal(alone.status, 'error');
  });

  test(`The return path cannot be fine if all its mail servers are in a zone with ${what}`, async () => {
    const envelope = { mail_from: `b@${NAME}` };
    const message = 'From: Ann <ann@other.example>\n\nHello\n';
    const statusIn = async (others: string[]) => {
      const found = await runCheck(returnPath, {
        message,
        envelope,
        ...dnsWorld(worldOf(others)),
      });
      return [found.status, found.title, found.dependsOn];
    };
    const dead = `The mail server ${DEAD} of ${NAME} cannot be looked up.`;
    assert.deepEqual(await statusIn([]), ['fail', dead, ['mx']]);
    assert.deepEqual(await statusIn(['10 gone.other.example']), ['fail', dead, ['mx']]);
    const [status] = await statusIn([`10 mx.${NAME}`]);
    assert.equal(status, 'pass');
  });
}

test('The finding about mail servers of a message names why the sender domain cannot be looked up', async () => {
  const message = 'From: Ann <ann@example.com>\n\nHello\n';
  const until = Date.UTC(2025, 2, 9, 12);
  const ofMessage = (changes: Partial<DnsWorld>, receivedAt: number | null = RECEIVED_AT) =>
    runCheck(mx, { message, receivedAt, ...dnsWorld({ ...bogus, ...changes }) });
  const expired = await ofMessage({ signatures: { [NAME]: { from: 0, until } } });
  assert.equal(expired.status, 'fail');
  assert.match(expired.title, /its signatures expired on 9 March 2025\.$/);
  // A file may be older than the signatures, or without a date.
  const younger = { signatures: { [NAME]: { from: until, until: until + DAY } } };
  for (const receivedAt of [until - DAY, null]) {
    const { title } = await ofMessage(younger, receivedAt);
    assert.match(title, /its signatures are not valid\.$/);
  }
  const alone = await runCheck(mx, { message, resolver: dnsWorld(bogus).resolver });
  assert.equal(alone.status, 'error');
});

const security = (changes: Partial<ZoneSecurity>): ZoneSecurity => ({
  ds: [DS_SHA256],
  keys: [KEY],
  keySignatures: [{ keyTag: 60485, from: 0, until: RECEIVED_AT + DAY }],
  signatures: [{ keyTag: 60485, from: 0, until: RECEIVED_AT + DAY }],
  answersUnchecked: true,
  extended: [],
  ...changes,
});
const period = (from: number, until: number) => [
  { keyTag: 60485, from: RECEIVED_AT + from, until: RECEIVED_AT + until },
];
const ROWS: [what: string, changes: Partial<ZoneSecurity>, cause: string | null][] = [
  ['a key with its DS record of SHA-256', {}, null],
  ['a key with its DS record of SHA-1', { ds: [DS_SHA1] }, null],
  ['one DS record of two that fits', { ds: [OTHER_DS, DS_SHA256] }, null],
  ['no DS record that fits', { ds: [OTHER_DS] }, 'wrong_ds'],
  ['a DS record with another digest', { ds: [`${DS_SHA256.slice(0, -1)}B`] }, 'wrong_ds'],
  ['a DS record of an unknown digest type', { ds: ['60485 5 9 00'] }, null],
  ['no keys', { keys: [] }, 'unsigned'],
  ['keys that are unknown', { keys: null, ds: [OTHER_DS] }, null],
  ['expired signatures', { signatures: period(-2 * DAY, -DAY) }, 'expired'],
  ['an expired signature of the keys', { keySignatures: period(-2 * DAY, -DAY) }, 'expired'],
  [
    'one expired signature of two',
    { signatures: [...period(-2 * DAY, -DAY), ...period(0, DAY)] },
    null,
  ],
  ['signatures of tomorrow', { signatures: period(DAY, 2 * DAY) }, 'not_yet'],
  ['no signatures', { signatures: [] }, 'unsigned'],
  ['signatures that are unknown', { signatures: null, keySignatures: null }, null],
  [
    'a signature by another key',
    { signatures: [{ keyTag: 1, from: 0, until: RECEIVED_AT + DAY }] },
    'wrong_key',
  ],
];

for (const [what, changes, cause] of ROWS)
  test(`dnssecFault with ${what}: ${cause ?? 'no fault'}`, () => {
    const fault = dnssecFault(security(changes), 'dskey.example.com', RECEIVED_AT);
    assert.equal(fault?.cause ?? null, cause);
  });
