/** Domains and compliance at Google Postmaster Tools, missing permissions, and servers that misbehave. */

// @one-database: about requests to Google.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AccountError } from '../../../src/net/account-error.ts';
import { HOSTILE_RESPONSES, type HttpFault, startHttpScript } from '../../helpers/http-script.ts';
import {
  servedCompliance,
  servedDomain,
  startPostmasterServer,
} from '../../helpers/postmaster-server.ts';
import { failure, open } from './opening.ts';

const RANGE = { from: '2026-11-15', to: '2026-11-21' };

test('All pages of domains are read, with permission and verification', async (t) => {
  const server = await startPostmasterServer(t, { maxPageSize: 2 });
  assert.deepEqual(await open(server).listDomains(), []);
  for (let i = 1; i <= 5; i++) server.domains.set(`d${i}.example`, servedDomain());
  server.domains.set(
    'Mail.Acme.Example',
    servedDomain({ permission: 'NONE', verificationState: 'UNVERIFIED' }),
  );
  server.domains.set('münchen.example', servedDomain({ permission: 'READER' }));
  server.domains.set('not a domain', servedDomain());
  const domains = await open(server).listDomains();
  assert.deepEqual(
    domains.map(({ name }) => name),
    [
      'd1.example',
      'd2.example',
      'd3.example',
      'd4.example',
      'd5.example',
      'mail.acme.example',
      'xn--mnchen-3ya.example',
    ],
  );
  assert.deepEqual(domains[5], {
    name: 'mail.acme.example',
    permission: 'NONE',
    verificationState: 'UNVERIFIED',
  });
  const sizes = server.exchanges.map(({ query }) => query.get('pageSize'));
  assert.deepEqual([...new Set(sizes)], ['200']);
});

test('A list of domains without an end is an error, because a part of it would hide domains', async (t) => {
  const script = await startHttpScript(t, ({ json }) =>
    json(200, { domains: [{ name: 'domains/a.example' }], nextPageToken: 'again' }),
  );
  await failure(open(script).listDomains(), 'bad_response');
  assert.equal(script.exchanges.length, 50);
});

test('Compliance has each requirement, and the reasons of both verdicts about unsubscribing', async (t) => {
  const server = await startPostmasterServer(t);
  server.domains.set(
    'acme.example',
    servedDomain({
      compliance: {
        ...servedCompliance({ DKIM: 'NEEDS_WORK', ENCRYPTION: 'STATE_UNSPECIFIED' }),
        oneClick: { status: 'NEEDS_WORK', reason: 'NO_UNSUB_GENERAL' },
        honor: { status: 'COMPLIANT', reason: 'REASON_UNSPECIFIED' },
      },
    }),
  );
  const rows = (await open(server).compliance('acme.example'))!;
  const of = (name: string) => rows.find(({ requirement }) => requirement === name);
  assert.equal(rows.length, 10);
  assert.equal(of('ENCRYPTION'), undefined);
  assert.deepEqual(of('SPF'), { requirement: 'SPF', status: 'COMPLIANT', reason: null });
  assert.equal(of('DKIM')?.status, 'NEEDS_WORK');
  assert.deepEqual(of('ONE_CLICK_UNSUBSCRIBE'), {
    requirement: 'ONE_CLICK_UNSUBSCRIBE',
    status: 'NEEDS_WORK',
    reason: 'NO_UNSUB_GENERAL',
  });
  assert.deepEqual(of('HONOR_UNSUBSCRIBE'), {
    requirement: 'HONOR_UNSUBSCRIBE',
    status: 'COMPLIANT',
    reason: null,
  });
});

test('Compliance of a subdomain is its own if Google has it, or that of the registrable domain', async (t) => {
  const server = await startPostmasterServer(t);
  const served = servedDomain({ compliance: servedCompliance({ SPF: 'NEEDS_WORK' }) });
  server.domains.set('news.acme.example', served);
  const statusOf = async () =>
    (await open(server).compliance('news.acme.example'))?.find(
      ({ requirement }) => requirement === 'SPF',
    )?.status;
  assert.equal(await statusOf(), 'NEEDS_WORK');
  served.subdomainCompliance = { rows: {} };
  assert.equal(await statusOf(), 'NEEDS_WORK');
  served.subdomainCompliance = servedCompliance();
  assert.equal(await statusOf(), 'COMPLIANT');
});

test('Without a compliance status, there is null and not an empty list', async (t) => {
  const server = await startPostmasterServer(t);
  server.domains.set('acme.example', servedDomain());
  assert.equal(await open(server).compliance('acme.example'), null);
  assert.equal(await open(server).compliance('unknown.example'), null);
  server.domains.get('acme.example')!.compliance = { rows: {} };
  assert.equal(await open(server).compliance('acme.example'), null);
});

test('Each missing permission is named', async (t) => {
  const server = await startPostmasterServer(t);
  server.domains.set('acme.example', servedDomain({ permission: 'NONE' }));
  const days = () => open(server).days('acme.example', RANGE);
  assert.match(
    (await failure(days(), 'refused')).message,
    /does not let this account read acme\.example\. Verify the domain there/,
  );
  await failure(open(server).compliance('acme.example'), 'refused');
  server.scopes.delete('postmaster.domain');
  assert.match(
    (await failure(open(server).listDomains(), 'refused')).message,
    /lacks a permission\. Sign in again/,
  );
  server.isEnabled = false;
  assert.match(
    (await failure(open(server).listDomains(), 'refused')).message,
    /not enabled in the project/,
  );
  await failure(open(server, { accessToken: 'expired' }).listDomains(), 'sign_in_failed');
  await failure(
    open(server, { accessToken: 'expired' }).days('a.example', RANGE),
    'sign_in_failed',
  );
});

test('No error repeats the access token, even if the server does', async (t) => {
  const script = await startHttpScript(t, ({ json, headers }) =>
    json(403, { error: { message: `Not with ${headers.authorization} today.` } }),
  );
  const { message } = await failure(open(script).listDomains(), 'refused');
  assert.match(message, /“Not with Bearer … today\.”/);
});

const FAULTS: [HttpFault, AccountError['problem'], number | null][] = [
  ['throttled', 'throttled', 120_000],
  ['unavailable', 'unreachable', null],
  ['broken', 'unreachable', null],
  ['truncated', 'unreachable', null],
];
for (const [fault, problem, retryAfterMs] of FAULTS)
  test(`A server that is ${fault} makes each operation fail as ${problem}`, async (t) => {
    const server = await startPostmasterServer(t, { fault: () => fault });
    const postmaster = open(server);
    const operations = [
      () => postmaster.listDomains(),
      () => postmaster.compliance('acme.example'),
      () => postmaster.days('acme.example', RANGE),
    ];
    for (const operation of operations)
      assert.equal((await failure(operation(), problem)).retryAfterMs, retryAfterMs);
  });

test('A request to a silent server ends with the signal', async (t) => {
  const server = await startPostmasterServer(t, { fault: () => 'slow' });
  await failure(open(server, { signal: AbortSignal.timeout(50) }).listDomains(), 'timeout');
});

test('A limit of the project is a rate limit, although Google sends it as a refusal', async (t) => {
  const script = await startHttpScript(t, ({ json }) =>
    json(403, { error: { message: 'Quota', details: [{ reason: 'RATE_LIMIT_EXCEEDED' }] } }),
  );
  await failure(open(script).listDomains(), 'throttled');
});

for (const [what, respond] of HOSTILE_RESPONSES)
  test(`A server that sends ${what} makes each operation fail`, async (t) => {
    const script = await startHttpScript(t, respond);
    const postmaster = open(script);
    // JSON of another form may have no domains and no status.
    if (what !== 'JSON of another form') {
      await failure(postmaster.listDomains(), 'bad_response');
      await failure(postmaster.compliance('acme.example'), 'bad_response');
    }
    await failure(postmaster.days('acme.example', RANGE), 'bad_response');
  });

/** Values of any type where Google sends its own. */
const anyJson = fc.jsonValue({ maxDepth: 3 });
const broken = (valid: fc.Arbitrary<unknown>) => fc.oneof({ weight: 3, arbitrary: valid }, anyJson);
const status = broken(
  fc.record({ status: broken(fc.constantFrom('COMPLIANT', 'NEEDS_WORK', '')) }),
);
const data = broken(
  fc.record(
    {
      rowData: broken(
        fc.array(broken(fc.record({ requirement: broken(fc.constant('SPF')), status }))),
      ),
      oneClickUnsubscribeVerdict: broken(fc.record({ status, reason: anyJson })),
    },
    { requiredKeys: [] },
  ),
);
const answers = fc.oneof(
  fc.record({ complianceData: data, subdomainComplianceData: data }, { requiredKeys: [] }),
  fc.record({
    domains: broken(
      fc.array(
        broken(fc.record({ name: broken(fc.constant('domains/a.example')), permission: anyJson })),
      ),
    ),
  }),
);

test('Whatever JSON the server sends, domains and compliance are valid or an AccountError', async (t) => {
  let answer: unknown;
  const script = await startHttpScript(t, ({ json }) => json(200, answer));
  const property = fc.asyncProperty(answers, async (json) => {
    answer = json;
    const accountError = (error: unknown) => {
      assert.ok(error instanceof AccountError, String(error));
      return null;
    };
    for (const domain of (await open(script).listDomains().catch(accountError)) ?? []) {
      assert.equal(domain.name, 'a.example');
      assert.match(domain.permission, /^[A-Z_\d]+$/);
    }
    for (const row of (await open(script).compliance('a.example').catch(accountError)) ?? []) {
      assert.match(row.requirement, /^[A-Z_\d]+$/);
      assert.match(row.status, /^[A-Z_\d]+$/);
      assert.match(row.reason ?? 'NONE', /^[A-Z_\d]+$/);
    }
  });
  await fc.assert(property, { numRuns: 200 });
});
