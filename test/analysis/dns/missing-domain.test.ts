import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import type { Envelope } from '../../../src/analysis/check.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';

const HOST = '203.0.113.44';

const ZONE: Zone = {
  'orchard.example': {
    A: [HOST],
    MX: ['10 mail.orchard.example'],
    TXT: ['v=spf1 mx -all'],
  },
  '_dmarc.orchard.example': { TXT: ['v=DMARC1; p=reject'] },
  'mail.orchard.example': { A: [HOST] },
  '44.113.0.203.in-addr.arpa': { PTR: ['mail.orchard.example'] },
};

async function resultFor(from: string, envelope: Partial<Envelope>, zone = ZONE, fields = '') {
  const raw = Buffer.from(
    `From: Lee <${from}>\r\nTo: pat@example.net\r\nSubject: Invoice 7\r\n${fields}Date: Sat, 21 Nov 2026 10:00:00 +0000\r\nMessage-ID: <7@orchard.example>\r\n\r\nYour invoice.\r\n`,
  );
  return analyze(
    {
      raw,
      envelope: {
        mail_from: from,
        client_ip: HOST,
        helo: 'mail.orchard.example',
        tls: { used: true, version: 'TLSv1.3', cipher: null },
        ...envelope,
      },
      receivedAt: Date.UTC(2026, 10, 21, 10),
      kind: 'transactional',
    },
    { resolver: zoneResolver(zone) },
  );
}

const problemsOf = ({ checks }: Awaited<ReturnType<typeof resultFor>>) =>
  checks.filter(({ status }) => status === 'fail' || status === 'warn');

test('A From domain that does not exist is one finding, with the likely spelling and no record', async () => {
  const result = await resultFor('lee@orchrad.example', { mail_from: 'lee@orchard.example' });
  const problems = problemsOf(result);
  assert.deepEqual(
    problems.map(({ id }) => id),
    ['mx'],
  );
  assert.match(problems[0]!.title, /^orchrad\.example does not exist/);
  assert.match(problems[0]!.fix!.text, /did you mean orchard\.example\?/);
  assert.equal(result.checks.filter(({ fix }) => fix?.record).length, 0);
  assert.match(result.summary, /its From domain does not exist/);
  assert.equal(result.score, 25);
});

test('A subdomain of a domain that does not exist, as envelope sender too, is one finding', async () => {
  const result = await resultFor('lee@shop.nowhere-at-all.com', {});
  assert.deepEqual(
    problemsOf(result).map(({ id }) => id),
    ['mx'],
  );
  assert.match(result.checks.find(({ id }) => id === 'mx')!.fix!.text, /register it/);
  const gmail = result.providers.find(({ provider }) => provider === 'gmail')!;
  assert.equal(gmail.ready, false);
});

test('A domain that ends in no top-level domain cannot be registered', async () => {
  const result = await resultFor('lee@orchard.exmaple', { mail_from: 'lee@orchard.exmaple' });
  const [mx] = problemsOf(result);
  assert.doesNotMatch(JSON.stringify(result.checks), /register it/);
  assert.match(mx!.fix!.text, /no names that end in \.exmaple/);
});

test('An envelope sender whose domain does not exist is one finding of the return path', async () => {
  const result = await resultFor('lee@orchard.example', { mail_from: 'b@bounce-orchard.com' });
  const problems = problemsOf(result);
  assert.ok(problems.some(({ id }) => id === 'return_path'));
  assert.deepEqual(
    problems.filter(({ id }) => id.startsWith('spf')).map(({ id }) => id),
    [],
  );
  assert.ok(!JSON.stringify(result.checks).includes('"name":"bounce-orchard.com"'));
});

test('An address without a reverse zone has its name set by its host', async () => {
  const { '44.113.0.203.in-addr.arpa': _, ...zone } = ZONE;
  const result = await resultFor('lee@orchard.example', {}, zone);
  const ptr = result.checks.find(({ id }) => id === 'ptr')!;
  assert.match(ptr.fix!.text, /^Ask the provider of 203\.0\.113\.44 to set this PTR record/);
  assert.deepEqual(ptr.fix!.record, {
    type: 'PTR',
    name: '44.113.0.203.in-addr.arpa',
    value: 'mail.orchard.example',
  });
  assert.doesNotMatch(JSON.stringify(result.checks), /arpa does not exist|register/);
});
