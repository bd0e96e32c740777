/** A refused report of a known receiver is a problem until the next report of that receiver is read. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { DmarcFeedback } from '../../src/feedback/schemas/dmarc.ts';
import { newMember } from '../dashboard/member.ts';
import { BEGIN, dmarc, gzip, mail, record, text, tls } from './reading/builders.ts';
import { type FeedbackService, startFeedback } from './start.ts';
import { EVIL, GOOGLE, MICROSOFT, mailFrom, SIGNER_ZONE } from './strangers.ts';

const DAY = 86_400;
const start = (t: TestContext) => startFeedback(t, { zone: SIGNER_ZONE });

const attached = (content: string | Uint8Array, name = 'report.xml.gz') =>
  mail([
    text('A report.'),
    {
      type: 'application/gzip',
      content: gzip(content),
      fields: `Content-Disposition: attachment; filename="${name}"\n`,
    },
  ]);

/** The report about a day, with the 21st as day 0, and with something that is refused. */
const reportOf = (day: number, id = `d${day}`) => {
  const begin = BEGIN + day * DAY;
  return dmarc({ id, orgName: 'google.com', begin: `${begin}`, end: `${begin + DAY - 1}` });
};
const refusedOf = (day: number) => reportOf(day).slice(0, -'</feedback>'.length);

async function refused({ service, domain }: FeedbackService) {
  const { body } = await service.call<DmarcFeedback>(
    'GET',
    `/v1/feedback/dmarc?domain_id=${domain.id}`,
  );
  return body.refused;
}

const textsOf = async (feedback: FeedbackService) =>
  (await refused(feedback)).map(({ text }) => text);

async function page({ service }: FeedbackService, path: string): Promise<string> {
  const member = await newMember(service, 'viewer');
  const { status, html } = await member.get(path);
  assert.equal(status, 200);
  return html;
}

const CUT = 'The XML is incomplete: <feedback> is not closed.';

test('A refused report of a known receiver is shown on the page, in the API and in the picture until the next one is read', async (t) => {
  const feedback = await start(t);
  const { service, domain, clock } = feedback;
  await mailFrom(feedback, attached(refusedOf(0)), { from: GOOGLE });
  const said = `A report from google.com for 21 Nov 2026 was refused: ${CUT}`;
  const [problem, ...others] = await refused(feedback);
  assert.deepEqual(others, []);
  assert.deepEqual(problem, {
    id: problem!.id,
    type: 'dmarc',
    reporter: 'google.com',
    date: '2026-11-21',
    detail: CUT,
    received_at: problem!.received_at,
    text: said,
  });
  const [listed] = await feedback.reports();
  assert.deepEqual(
    [listed!.id, listed!.status, listed!.reporter, listed!.verified, listed!.policy_domain],
    [problem!.id, 'refused', 'google.com', true, 'example.com'],
  );
  const { body: picture } = await service.call<{ problems: { topic: string; title: string }[] }>(
    'GET',
    `/v1/domains/${domain.id}/picture`,
  );
  assert.deepEqual(
    picture.problems.filter(({ topic }) => topic === 'reports').map(({ title }) => title),
    ['A report from google.com was refused.'],
  );
  // Another receiver, and another day of the same one that arrived before, change nothing.
  clock.advance(60_000);
  await mailFrom(feedback, attached(reportOf(0)), { from: MICROSOFT });
  await mailFrom(feedback, attached(reportOf(-3)), { from: GOOGLE });
  assert.deepEqual(await textsOf(feedback), [said]);
  await mailFrom(feedback, attached(reportOf(0)), { from: GOOGLE });
  assert.deepEqual(await textsOf(feedback), []);
});

test('A refused report is listed until a later day is reported, and the same message again changes nothing', async (t) => {
  const feedback = await start(t);
  const raw = attached(refusedOf(-1));
  await mailFrom(feedback, raw, { from: GOOGLE });
  feedback.clock.advance(60_000);
  await mailFrom(feedback, attached(reportOf(0)), { from: GOOGLE });
  assert.deepEqual(await textsOf(feedback), []);
  feedback.clock.advance(60_000);
  await mailFrom(feedback, raw, { from: GOOGLE });
  assert.deepEqual(await textsOf(feedback), []);
  // A report that is missing between two others is.
  await mailFrom(feedback, attached(refusedOf(-2)), { from: GOOGLE });
  assert.deepEqual(await textsOf(feedback), [
    `A report from google.com for 19 Nov 2026 was refused: ${CUT}`,
  ]);
});

test('A report of the day before ends nothing, also if it ends at midnight', async (t) => {
  const feedback = await start(t);
  const untilMidnight = (day: number) => {
    const begin = BEGIN + day * DAY;
    return dmarc({ id: `m${day}`, begin: `${begin}`, end: `${begin + DAY}` });
  };
  const cut = untilMidnight(0).slice(0, -'</feedback>'.length);
  await mailFrom(feedback, attached(untilMidnight(-1)), { from: MICROSOFT });
  await mailFrom(feedback, attached(cut), { from: MICROSOFT });
  const said = [`A report from microsoft.com for 21 Nov 2026 was refused: ${CUT}`];
  assert.deepEqual(await textsOf(feedback), said);
  // One that arrives late.
  feedback.clock.advance(60_000);
  await mailFrom(feedback, attached(untilMidnight(-2)), { from: MICROSOFT });
  await mailFrom(feedback, attached(untilMidnight(-1).replace('m-1', 'm-1b')), { from: MICROSOFT });
  assert.deepEqual(await textsOf(feedback), said);
  await mailFrom(feedback, attached(untilMidnight(0)), { from: MICROSOFT });
  assert.deepEqual(await textsOf(feedback), []);
});

test('The day of an unreadable report is the one in the file name, or else that of the arrival', async (t) => {
  const feedback = await start(t);
  const damaged = (name: string) =>
    mail([
      {
        type: 'application/gzip',
        content: gzip(reportOf(0)).subarray(0, 60),
        fields: `Content-Disposition: attachment; filename="${name}"\n`,
      },
    ]);
  await mailFrom(feedback, damaged(`google.com!example.com!${BEGIN}!${BEGIN + DAY - 1}.xml.gz`), {
    from: GOOGLE,
  });
  assert.deepEqual(
    (await refused(feedback)).map(({ date, type }) => [date, type]),
    [['2026-11-21', null]],
  );
  await mailFrom(feedback, damaged('report.gz'), { from: MICROSOFT });
  const [newest] = await textsOf(feedback);
  assert.match(newest!, /^A report from microsoft\.com that arrived on 22 Nov 2026 was refused: /);
  // A new kind of attachment is no report at all.
  await mailFrom(feedback, mail([{ type: 'application/x-bzip2', content: 'BZh91' }]), {
    from: GOOGLE,
  });
  assert.equal((await refused(feedback)).length, 3);
});

test('A refused TLS report is listed, too', async (t) => {
  const feedback = await start(t);
  const from = 'noreply-smtp-tls-reporting@google.com';
  await mailFrom(feedback, attached(tls().slice(0, -5), 'r.json.gz'), { from });
  assert.deepEqual(
    (await refused(feedback)).map(({ type, reporter }) => [type, reporter]),
    [['tls', 'google.com']],
  );
  // A DMARC report of the same receiver says nothing about it.
  await mailFrom(feedback, attached(reportOf(0)), { from: GOOGLE });
  assert.equal((await refused(feedback)).length, 1);
  feedback.clock.advance(60_000);
  await mailFrom(feedback, attached(tls(), 'r.json.gz'), { from });
  assert.deepEqual(await refused(feedback), []);
});

test('Strangers cannot make a report of a known receiver seem refused', async (t) => {
  const feedback = await start(t);
  const raw = attached(refusedOf(0));
  const forwarded = mail([{ type: 'message/rfc822', content: raw, plain: true }]);
  await mailFrom(feedback, raw, { from: EVIL });
  await mailFrom(feedback, raw, { from: GOOGLE, signer: null });
  await mailFrom(feedback, raw, { from: GOOGLE, signer: 'evil.example' });
  await mailFrom(feedback, raw, { from: 'someone@google.com' });
  // What a known sender attaches is of someone else.
  await mailFrom(feedback, forwarded, { from: GOOGLE });
  await mailFrom(feedback, raw, {
    from: GOOGLE,
    tamper: (signed) => signed.replace('A report.', 'A report!'),
  });
  // A reply that quotes a stranger.
  await mailFrom(feedback, mail([{ type: 'text/html', content: `<p>${refusedOf(0)}</p>` }]), {
    from: GOOGLE,
  });
  // About a domain of others.
  await mailFrom(feedback, attached(refusedOf(0).replaceAll('example.com', 'example.net')), {
    from: GOOGLE,
  });
  await feedback.upload(refusedOf(0));
  assert.deepEqual(await refused(feedback), []);
  const all = await feedback.reports();
  assert.deepEqual(
    [...new Set(all.map(({ status, reporter }) => `${status} ${reporter}`))],
    ['refused null'],
  );
  // None of them keeps the real one from being shown.
  await mailFrom(feedback, attached(refusedOf(-1)), { from: GOOGLE });
  assert.equal((await refused(feedback)).length, 1);
});

test('A refused report of a confirmed reporter is listed like that of a known one', async (t) => {
  const feedback = await start(t);
  await feedback.send(attached(refusedOf(0)));
  assert.deepEqual(
    (await refused(feedback)).map(({ reporter }) => reporter),
    ['receiver.example'],
  );
  await feedback.send(mail([text('Hello.')]));
  assert.equal((await refused(feedback)).length, 1);
});

test('The page of the domain lists refused reports', async (t) => {
  const feedback = await start(t);
  const path = `/feedback/domains/${feedback.domain.id}`;
  assert.doesNotMatch(await page(feedback, path), /was refused/);
  await mailFrom(feedback, attached(refusedOf(0)), { from: GOOGLE });
  const [missing] = await refused(feedback);
  const html = await page(feedback, path);
  assert.match(
    html,
    /A report from google\.com for 21 Nov 2026 was refused: The XML is incomplete/,
  );
  assert.ok(html.includes(`/feedback/reports/${missing!.id}`));
});

test('The page of a report shows its invalid values', async (t) => {
  const feedback = await start(t);
  const records = record({ count: '7' }) + record({ count: '-5', disposition: 'perhaps' });
  await mailFrom(feedback, attached(dmarc({ records })), { from: GOOGLE });
  const [report] = await feedback.reports();
  assert.deepEqual([report!.status, report!.messages], ['counted', 7]);
  assert.deepEqual(report!.repaired, [
    'an invalid message count, which counts as 0: “-5”',
    'an unknown disposition: “perhaps”',
  ]);
  const html = await page(feedback, `/feedback/reports/${report!.id}`);
  assert.ok(html.includes('an unknown disposition: “perhaps”'));
});
