/** The sources of a report with thousands of senders add up to all of its messages. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LIMITS } from '../../src/feedback/reading/limits.ts';
import { followTrust } from '../../src/feedback/record/trust.ts';
import type { DmarcFeedback } from '../../src/feedback/schemas/dmarc.ts';
import type { FeedbackReport, FeedbackRow } from '../../src/feedback/schemas/report.ts';
import type { FeedbackSource } from '../../src/feedback/sources/schema.ts';
import { newMember } from '../dashboard/member.ts';
import { BEGIN, dmarc, gzip, mail, record, text } from './reading/builders.ts';
import { type ReportedSender, senders } from './reading/large.ts';
import { type FeedbackService, named, startFeedback } from './start.ts';
import { EVIL, mailFrom, SIGNER_ZONE } from './strangers.ts';

const sum = (rows: { count: number }[]) => rows.reduce((all, { count }) => all + count, 0);

/** In several rows each: addresses are looked up a few a second. */
const FEW = { networks: 4, hosts: 8 };

/** No host names, so that only what reports say names a source. */
const start = (t: TestContext) => startFeedback(t, { zone: SIGNER_ZONE });

const get = async <Body>({ service }: FeedbackService, path: string) =>
  (await service.call<Body>('GET', path)).body;

const sourcesOf = async (feedback: FeedbackService) =>
  (
    await get<{ data: FeedbackSource[] }>(
      feedback,
      `/v1/feedback/sources?domain_id=${feedback.domain.id}`,
    )
  ).data;

const dmarcOf = (feedback: FeedbackService) =>
  get<DmarcFeedback>(feedback, `/v1/feedback/dmarc?domain_id=${feedback.domain.id}`);

/** What a person adds up by hand: the messages of each service and network. */
function byHand(sent: ReportedSender[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { source, count } of sent) {
    const name = source.startsWith('others') ? 'SendGrid' : source.split(' ')[0]!;
    sums.set(name, (sums.get(name) ?? 0) + count);
  }
  return sums;
}

test('The sources of a report with 6,000 senders add up to its messages, and page and API say what was summed up', async (t) => {
  const feedback = await start(t);
  const sent = senders(6000, FEW);
  const records = sent.map(({ xml }) => xml).join('') + record({ source: 'unknown', count: '11' });
  const [report] = await feedback.upload(gzip(dmarc({ records })));
  const messages = sum(sent) + 11;
  assert.equal(report!.messages, messages);
  await named(feedback);

  const sources = await sourcesOf(feedback);
  assert.equal(
    sources.reduce((all, source) => all + source.messages, 0),
    messages,
  );
  const expected = byHand(sent).set('Senders of few messages', 11);
  assert.deepEqual(
    sources.map(({ name, messages }) => [name, messages]).sort(),
    [...expected].sort(),
  );
  // What passes stays what passes.
  const { totals, folded } = await dmarcOf(feedback);
  assert.equal(totals.messages, messages);
  assert.equal(
    sources.reduce((all, { passed }) => all + passed, 0),
    totals.passed,
  );

  // The rows with 1 to 1,000 messages, and one more with 11.
  const smallest = sent.toSorted((a, b) => b.count - a.count).slice(LIMITS.rows);
  assert.deepEqual(folded, { reports: 1, rows: 1001, messages: sum(smallest) + 11 });
  const details = await get<FeedbackReport>(feedback, `/v1/feedback/reports/${report!.id}`);
  assert.equal(details.details.folded_rows, 1001);
  assert.equal(details.details.folded_messages, folded.messages);
  const { body } = await feedback.service.call<{ data: FeedbackRow[] }>(
    'GET',
    `/v1/feedback/reports/${report!.id}/rows?limit=100&ending_before=${report!.id}.${details.row_count - 1}`,
  );
  // Of 4 networks, those that sign and those that do not, and SendGrid.
  assert.equal(body.data.filter(({ folded }) => folded).length, 4 + 4 + 1);

  const member = await newMember(feedback.service, 'viewer');
  const domainPage = (await member.get(`/feedback/domains/${feedback.domain.id}`)).html;
  assert.match(domainPage, /messages in the smallest rows of 1 large report are summed up/);
  const reportPage = (await member.get(`/feedback/reports/${report!.id}`)).html;
  assert.match(reportPage, /1,001 more rows with [\d,]+ messages are summed up/);
  const network = sources.find(({ name }) => name.startsWith('198.51.0.0/24'))!;
  const sourcePage = (await member.get(`/feedback/sources/${network.id}`)).html;
  assert.match(sourcePage, /Several addresses/);

  // Once it is deleted, nothing of it is left.
  await feedback.service.call('DELETE', `/v1/feedback/reports/${report!.id}`);
  assert.deepEqual(await sourcesOf(feedback), []);
});

test('A report that counts after its reporter is confirmed is summed up by source, too', async (t) => {
  const feedback = await start(t);
  const sent = senders(2000, { ...FEW, countOf: (index) => 1 + (index % 9) });
  const records = sent.map(({ xml }) => xml).join('');
  await mailFrom(
    feedback,
    mail([text('A report.'), { type: 'application/gzip', content: gzip(dmarc({ records })) }]),
    { from: EVIL },
  );
  const [report] = await feedback.reports();
  assert.equal(report!.status, 'unconfirmed');
  const { id } = await feedback.service.app.db
    .selectFrom('feedback_reporters')
    .select('id')
    .where('title', '=', 'evil.example')
    .executeTakeFirstOrThrow();
  await feedback.service.call('PATCH', `/v1/feedback/reporters/${id}`, {
    json: { confirmed: true },
  });
  await followTrust(feedback.service.app);
  await named(feedback);
  const sources = await sourcesOf(feedback);
  assert.deepEqual(
    sources.map(({ name, messages }) => [name, messages]).sort(),
    [...byHand(sent)].sort(),
  );
  const { folded, totals } = await dmarcOf(feedback);
  assert.equal(totals.messages, sum(sent));
  assert.equal(folded.reports, 1);
  const details = await get<FeedbackReport>(feedback, `/v1/feedback/reports/${report!.id}`);
  assert.equal(folded.rows, 2000 - 375);
  assert.ok(details.row_count > 375 && details.row_count <= 500);
});

test('A source that sums up many senders is never new, failing or your own', async (t) => {
  const feedback = await start(t);
  // Most pass SPF for the domain, as own servers do, and some fail.
  const records = Array.from({ length: 30 }, (_, index) =>
    record({
      source: 'unknown',
      count: '10',
      dkim: 'fail',
      spf: index % 3 === 0 ? 'fail' : 'pass',
    }),
  ).join('');
  for (let day = 20; day >= 0; day--) {
    const begin = BEGIN - day * 86_400;
    await feedback.upload(
      dmarc({
        id: `r${day}`,
        begin: `${begin}`,
        end: `${begin + 86_399}`,
        records: day > 2 ? record() : records,
      }),
    );
  }
  await named(feedback);
  const rest = (await sourcesOf(feedback)).find(({ name }) => name === 'Senders of few messages')!;
  assert.deepEqual([rest.kind, rest.messages], ['unknown', 900]);
  const { data: fresh } = await get<{ data: FeedbackSource[] }>(
    feedback,
    `/v1/feedback/sources?domain_id=${feedback.domain.id}&new=true`,
  );
  assert.deepEqual(fresh, []);
});
