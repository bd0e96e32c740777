/** Claims of sending services, and tenants. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListedReport } from '../../../src/feedback/schemas/report.ts';
import { claimsOf } from '../../../src/feedback/sources/claims.ts';
import { nameSource } from '../../../src/feedback/sources/name.ts';
import { reportersOnDay, sourceOr404 } from '../../../src/feedback/sources/queries.ts';
import type {
  FeedbackSource,
  FeedbackSourceDetails,
} from '../../../src/feedback/sources/schema.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { newMember } from '../../dashboard/member.ts';
import { dmarc, record } from '../reading/builders.ts';
import { named, startFeedback } from '../start.ts';

const TXT = (text: string) => ({ TXT: [text] });
const KEY = TXT('v=DKIM1; k=rsa; p=MIIB');
const BROKEN = { fails: 'servfail' } as const;

const CASES: [what: string, service: string, zone: Zone, claim: RegExp | null | undefined][] = [
  [
    'an include',
    'sendgrid',
    { 'example.com': TXT('v=spf1 include:sendgrid.net -all') },
    /includes/,
  ],
  [
    'an include of an own record',
    'mailgun',
    {
      'example.com': TXT('v=spf1 include:_spf.example.com -all'),
      '_spf.example.com': TXT('v=spf1 include:mailgun.org -all'),
    },
    /includes mailgun\.org/,
  ],
  [
    'an include of another service',
    'sendgrid',
    { 'example.com': TXT('v=spf1 include:mailgun.org -all') },
    null,
  ],
  [
    'a common selector that points to the service',
    'sendgrid',
    { 's1._domainkey.example.com': { CNAME: ['s1.domainkey.u1.wl.sendgrid.net'] } },
    /s1\._domainkey\.example\.com points to/,
  ],
  [
    'a common selector that points elsewhere',
    'sendgrid',
    { 's1._domainkey.example.com': { CNAME: ['s1.dkim.other.example'] } },
    null,
  ],
  ['a common selector with a key', 'sendgrid', { 's1._domainkey.example.com': KEY }, null],
  [
    'a selector that only this service uses',
    'google_workspace',
    { 'google._domainkey.example.com': KEY },
    /at google, a selector of the service/,
  ],
  [
    'a revoked key',
    'google_workspace',
    { 'google._domainkey.example.com': TXT('v=DKIM1; p=') },
    null,
  ],
  [
    'a wildcard with a DMARC record',
    'google_workspace',
    { '*.example.com': TXT('v=DMARC1; p=reject') },
    null,
  ],
  ['a wildcard with a key', 'google_workspace', { '*._domainkey.example.com': KEY }, null],
  [
    'a return path',
    'postmark',
    { 'pm-bounces.example.com': { CNAME: ['pm.mtasv.net'] } },
    /return path pm-bounces\.example\.com/,
  ],
  [
    'a return path by its SPF record',
    'mailgun',
    { 'mg.example.com': TXT('v=spf1 include:mailgun.org ~all') },
    /return path mg\.example\.com/,
  ],
  ['nothing', 'mailchimp', { 'example.com': TXT('v=spf1 -all') }, null],
  ['an SPF record that cannot be looked up', 'mailchimp', { 'example.com': BROKEN }, undefined],
  [
    'a selector, where the SPF record cannot be looked up',
    'mailchimp',
    { 'example.com': BROKEN, 'k2._domainkey.example.com': { CNAME: ['dkim2.mcsv.net'] } },
    /points to dkim2\.mcsv\.net/,
  ],
];

test('A service is the domain’s own only if DNS shows it', async (t) => {
  const { service, domain } = await startFeedback(t);
  for (const [what, id, zone, expected] of CASES) {
    const claim = await claimsOf(service.app.db, zoneResolver(zone), domain)(`service ${id}`);
    if (expected instanceof RegExp) assert.match(claim ?? '', expected, what);
    else assert.equal(claim, expected, what);
  }
});

test('A large service is recognized by its networks, unless the address is in the networks of the domain', () => {
  const known = { domain: 'example.com', host: null, testedOn: null, signers: [], mailFrom: [] };
  for (const [address, key] of [
    ['209.85.220.41', 'service google_workspace'],
    ['2a01:111:f403:c10c::1', 'service microsoft_365'],
    ['54.240.8.1', 'service amazon_ses'],
  ] as const) {
    assert.equal(nameSource({ ...known, address, isOwn: false }).key, key);
    assert.equal(nameSource({ ...known, address, isOwn: true }).key, `own ${address}`);
    assert.equal(
      nameSource({ ...known, address, isOwn: false, mailFrom: ['googlegroups.com'] }).key,
      'forwarder Google Groups',
    );
  }
});

test('Failing messages of another tenant count for that tenant, and deleting their report leaves nothing', async (t) => {
  const zone: Zone = {
    'example.com': {
      A: ['192.0.2.1'],
      TXT: ['v=spf1 include:spf.protection.outlook.com -all'],
    },
    'selector2._domainkey.example.com': {
      CNAME: ['selector2-example-com._domainkey.corp.onmicrosoft.com'],
    },
  };
  const feedback = await startFeedback(t, { zone });
  const { service, domain, upload, reports } = feedback;
  const signed = (tenant: string) =>
    `<auth_results><dkim><domain>${tenant}</domain><selector>s</selector><result>pass</result></dkim></auth_results>`;
  const source = '40.107.1.1';
  const failing = { source, dkim: 'fail', spf: 'fail' };
  await upload(
    dmarc({
      orgName: 'Google.com',
      records: [
        record({ source, count: '90' }),
        record({ ...failing, count: '4', results: signed('corp.onmicrosoft.com') }),
        record({ ...failing, count: '30', results: signed('evil.onmicrosoft.com') }),
        record({ ...failing, count: '2', results: '' }),
      ].join(''),
    }),
  );
  await named(feedback);
  const path = `/v1/feedback/sources?domain_id=${domain.id}`;
  const { body } = await service.call<{ data: FeedbackSource[] }>('GET', path);
  assert.deepEqual(
    body.data.map(({ name, kind, messages, passed }) => [name, kind, messages, passed]),
    [
      ['Microsoft 365', 'misconfigured', 96, 90],
      ['evil.onmicrosoft.com', 'spoof', 30, 0],
    ],
  );
  for (const [index, counted] of [92, 30].entries()) {
    const { body: details } = await service.call<FeedbackSourceDetails>(
      'GET',
      `/v1/feedback/sources/${body.data[index]!.id}`,
    );
    assert.equal(
      details.signatures.reduce((sum, { messages }) => sum + messages, 0),
      counted,
    );
    assert.equal(details.reporters[0]!.messages, counted);
    const row = await sourceOr404(service.app.db, details.id);
    assert.equal(await reportersOnDay(service.app.db, row, '2026-11-21'), 1);
  }
  // The page of the report leads each row to the same source.
  const member = await newMember(service, 'viewer');
  const [{ id: reportId }] = (await reports()) as [ListedReport];
  const { html } = await member.get(`/feedback/reports/${reportId}`);
  const linked = [...html.matchAll(/\/feedback\/sources\/(src_\w+)"/g)].map(([, id]) => id);
  assert.deepEqual(
    linked.toSorted(),
    [body.data[0]!, body.data[0]!, body.data[0]!, body.data[1]!].map(({ id }) => id).toSorted(),
  );
  for (const { id } of await reports()) await service.call('DELETE', `/v1/feedback/reports/${id}`);
  for (const table of ['feedback_addresses', 'feedback_source_days', 'feedback_sources'] as const)
    assert.deepEqual(await service.app.db.selectFrom(table).selectAll().execute(), [], table);
});
