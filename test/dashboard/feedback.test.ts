/** The pages of feedback: reporters, TLS, exports, reports of a day, exceptions from the policy, confirmation and deletion. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InferOutput } from 'valibot';
import type { DmarcReporters } from '../../src/feedback/schemas/dmarc.ts';
import type { TlsFeedback } from '../../src/feedback/schemas/tls.ts';
import { bounce, complaint, GMAIL } from '../feedback/messages.ts';
import {
  BEGIN,
  dmarc,
  mail,
  record,
  tls,
  tlsFailure,
  tlsPolicy,
} from '../feedback/reading/builders.ts';
import { type FeedbackService, named, startFeedback } from '../feedback/start.ts';
import { newMember } from './member.ts';
import { mainOf } from './pages.ts';

const csv = async ({ service }: FeedbackService, path: string): Promise<string[]> => {
  const { status, text, headers } = await service.call('GET', path);
  assert.equal(status, 200, text);
  assert.match(headers.get('content-type')!, /^text\/csv/);
  return text.trimEnd().split('\r\n');
};

test('Reporters are compared by what they did, also those whose report spans several days', async (t) => {
  const feedback = await startFeedback(t);
  const { service, domain, upload } = feedback;
  const fail = { dkim: 'fail', spf: 'fail' };
  await upload(
    dmarc({
      orgName: 'Google',
      id: 'a',
      begin: String(BEGIN - 86_400),
      records: [
        record({ count: '90' }),
        record({ ...fail, source: '198.51.100.9', count: '7', disposition: 'reject' }),
        record({ ...fail, source: '198.51.100.8', count: '3', disposition: 'quarantine' }),
      ].join(''),
    }),
  );
  await upload(dmarc({ orgName: 'Yahoo', id: 'b' }));
  await named(feedback);
  const query = `domain_id=${domain.id}`;
  const { body } = await service.call<InferOutput<typeof DmarcReporters>>(
    'GET',
    `/v1/feedback/dmarc/reporters?${query}`,
  );
  assert.deepEqual(
    body.reporters.map(({ id: _id, last_at: _at, ...sums }) => sums),
    [
      {
        name: 'google',
        reports: 1,
        messages: 100,
        passed: 90,
        failed: 10,
        quarantined: 3,
        rejected: 7,
      },
      {
        name: 'yahoo.com',
        reports: 1,
        messages: 2,
        passed: 2,
        failed: 0,
        quarantined: 0,
        rejected: 0,
      },
    ],
  );
  for (const [day, count] of [
    ['2026-11-19', 0],
    ['2026-11-20', 1],
    ['2026-11-21', 2],
    ['2026-11-22', 0],
  ] as const)
    assert.equal((await feedback.reports(`&day=${day}`)).length, count, day);
  const { get } = await newMember(service, 'viewer');
  const page = mainOf((await get(`/feedback/domains/${domain.id}/reporters`)).html);
  assert.match(page, /google10090%10371/);
  assert.match(page, /24 Oct 2026 to 22 Nov 2026 \(UTC\)/);
  const list = mainOf((await get('/feedback/reports?day=2026-11-20&type=dmarc')).html);
  assert.match(list, /DMARC from google/);
  assert.doesNotMatch(list, /DMARC from yahoo/);
  const overview = (await get(`/feedback/domains/${domain.id}`)).html;
  assert.match(
    overview,
    new RegExp(
      `href="/feedback/reports\\?domain_id=${domain.id}&amp;type=dmarc&amp;day=2026-11-20`,
    ),
  );
  assert.match(
    mainOf((await get('/feedback')).html),
    /Your own mail: 100% passes DMARC; 9\.8% of all mail with your name looks forged\.102 messages, 2 reporters/,
  );
});

test('TLS failures are explained with their servers, exported, and their basis is named', async (t) => {
  const feedback = await startFeedback(t);
  const { service, domain, upload } = feedback;
  const path = `/feedback/domains/${domain.id}/tls`;
  const { get } = await newMember(service, 'viewer');
  assert.match(mainOf((await get(path)).html), /No TLS reports in this period/);
  await upload(
    tls({}, [
      tlsPolicy({}, { 'total-failure-session-count': 5 }, [
        tlsFailure({ 'receiving-mx-hostname': '=mx.example.com' }),
      ]),
      tlsPolicy(
        { 'policy-type': 'no-policy-found', 'policy-string': [] },
        {
          'total-failure-session-count': 0,
        },
      ),
    ]),
  );
  const query = `domain_id=${domain.id}`;
  const { body } = await service.call<InferOutput<typeof TlsFeedback>>(
    'GET',
    `/v1/feedback/tls?${query}`,
  );
  assert.deepEqual(body.policies, [
    { policy_type: 'sts', mode: 'testing', succeeded: 100, failed: 5 },
    { policy_type: 'no-policy-found', mode: null, succeeded: 100, failed: 0 },
  ]);
  assert.deepEqual(
    body.reporters.map(({ name, succeeded, failed }) => [name, succeeded, failed]),
    [['receiver.example', 200, 5]],
  );
  const page = mainOf((await get(path)).html);
  assert.match(page, /5 of 205 sessions failed \(2%\)/);
  assert.match(page, /Counted by 1 reporter from 24 Oct 2026 to 22 Nov 2026/);
  assert.match(page, /For 2 failed sessions, the reports give no reason/);
  assert.deepEqual(await csv(feedback, `/v1/feedback/tls/export?${query}`), [
    'date,succeeded,failed',
    '2026-11-21,200,5',
  ]);
  const [, row] = await csv(feedback, `/v1/feedback/tls/failures/export?${query}`);
  assert.match(
    row!,
    /^2026-11-21,receiver\.example,fbr_\w+,certificate-expired,3,'=mx\.example\.com,/,
  );
  const past = await get(`${path}?from=2026-01-01&to=2026-01-31`);
  assert.match(mainOf(past.html), /No TLS reports in this period/);
});

test('Complaints and bounces are exported with what they mean', async (t) => {
  const feedback = await startFeedback(t);
  const { domain, send } = feedback;
  await send(complaint('abuse', '192.0.2.9'));
  await send(bounce(GMAIL), { sign: false });
  const query = `domain_id=${domain.id}&from=2026-11-22&to=2026-11-22`;
  const complaints = await csv(feedback, `/v1/feedback/complaints/export?${query}`);
  assert.equal(complaints.length, 2);
  assert.match(complaints[1]!, /,abuse,.*,192\.0\.2\.9,example\.com,/);
  const bounces = await csv(feedback, `/v1/feedback/bounces/export?${query}`);
  assert.equal(bounces.length, 2);
  assert.match(bounces[1]!, /,policy,failed,5\.7\.26,.*Gmail/);
  assert.equal((await csv(feedback, `/v1/feedback/bounces/export?${query}&class=soft`)).length, 1);
});

test('A report and a source say why failing mail was delivered, and whether to act', async (t) => {
  const feedback = await startFeedback(t);
  const { service, domain, upload } = feedback;
  const fail = { dkim: 'fail', spf: 'fail' };
  const reason = (type: string, comment: string) =>
    `<reason><type>${type}</type><comment>${comment}</comment></reason>`;
  const [report] = await upload(
    dmarc({
      policy: '<policy_published><domain>example.com</domain><p>quarantine</p></policy_published>',
      records: [
        record({ ...fail, count: '9', reasons: reason('local_policy', 'arc=pass') }),
        record({ ...fail, count: '5', reasons: reason('mailing_list', '') }),
        record({ ...fail, count: '4' }),
      ].join(''),
    }),
  );
  await named(feedback);
  const { get } = await newMember(service, 'viewer');
  const page = mainOf((await get(`/feedback/reports/${report!.id}`)).html);
  assert.match(page, /Trusted ARC chain: 9 messages/);
  assert.match(page, /Mailing list: 5 messages/);
  assert.match(page, /The receiver gives no reason/);
  assert.match(page, /p=quarantine/);
  assert.doesNotMatch(page, /Delete report/);
  const { body } = await service.call<{ data: { id: string }[] }>(
    'GET',
    `/v1/feedback/sources?domain_id=${domain.id}`,
  );
  const source = `/feedback/sources/${body.data[0]!.id}`;
  assert.match(mainOf((await get(source)).html), /Trusted ARC chain: 9 messages/);
  const past = mainOf((await get(`${source}?from=2026-01-01&to=2026-01-31`)).html);
  assert.match(past, /None from 1 Jan 2026 to 31 Jan 2026 \(UTC\)/);
});

test('Members confirm a reporter and withdraw that, and delete a report, from its page', async (t) => {
  const feedback = await startFeedback(t);
  const { service, send, reports, domain } = feedback;
  const raw = mail([{ type: 'text/xml', content: dmarc() }]);
  await send(raw, { from: 'stranger.example' });
  await send(raw, { sign: false });
  const [report, unverified] = await reports();
  assert.deepEqual([report!.status, unverified!.status], ['unconfirmed', 'unverified']);
  const { get, post } = await newMember(service, 'member');
  const unsigned = mainOf((await get(`/feedback/reports/${unverified!.id}`)).html);
  assert.match(unsigned, /in the name of receiver ltd.*Nothing shows who sent this report/s);

  const overview = `/feedback/domains/${domain.id}`;
  assert.match(mainOf((await get(overview)).html), /1 reporter that you have not confirmed/);
  const list = mainOf((await get(`${overview}/reporters`)).html);
  assert.match(
    list,
    /stranger\.example, calls itself receiver ltd: 1 report, 2 messages, 100% pass/,
  );

  const path = `/feedback/reports/${report!.id}`;
  const fields = { reporter_id: report!.reporter_id! };
  assert.match(mainOf((await get(path)).html), /Nobody has confirmed it/);
  const status = async () =>
    (await service.call<{ status: string }>('GET', `/v1/feedback/reporters/${report!.reporter_id}`))
      .body.status;
  assert.equal((await post(`${path}/confirm`, fields)).status, 303);
  const confirmed = mainOf((await get(`${path}?done=confirmed`)).html);
  assert.match(confirmed, /Your team has confirmed it/);
  assert.equal(await status(), 'confirmed');
  assert.equal((await post(`${path}/withdraw`, fields)).status, 303);
  assert.equal(await status(), 'unconfirmed');
  const added = await post(`${overview}/reporters/confirm`, fields);
  assert.equal(added.location, `${overview}/reporters?done=confirmed`);
  assert.equal(await status(), 'confirmed');
  for (const { id } of [report!, unverified!]) {
    const deleted = await post(`/feedback/reports/${id}/delete`, {});
    assert.equal(deleted.location, '/feedback/reports?done=deleted');
  }
  assert.deepEqual(await reports(), []);
});
