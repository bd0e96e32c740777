/** The list of sources: its filters, its pages, and its export. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedbackSource } from '../../../src/feedback/sources/schema.ts';
import { feedbackFigures } from '../../../src/feedback/summary.ts';
import { watchFeedback } from '../../../src/feedback/watch/watch-job.ts';
import { BEGIN, dmarc, record } from '../reading/builders.ts';
import { type FeedbackService, named, startFeedback } from '../start.ts';
import { reportsOfDay, SENDERS, STORY_ZONE } from '../story.ts';

const DAY_S = 86_400;

interface SourceList {
  data: FeedbackSource[];
  has_more: boolean;
}

const list = async ({ service, domain }: FeedbackService, query = '') =>
  (await service.call<SourceList>('GET', `/v1/feedback/sources?domain_id=${domain.id}${query}`))
    .body;

const namesOf = ({ data }: SourceList) => data.map(({ name }) => name);

/** A report of one day; the last day is yesterday, 1. */
const reportOf = (daysAgo: number, records: string, orgName = 'Receiver Ltd') =>
  dmarc({
    orgName,
    id: `${orgName}-${daysAgo}`,
    records,
    begin: String(BEGIN - (daysAgo - 1) * DAY_S),
    end: String(BEGIN - (daysAgo - 2) * DAY_S - 1),
  });

test('Sources are filtered by what fails and by reporter, and listed in pages', async (t) => {
  const feedback = await startFeedback(t, { zone: STORY_ZONE });
  const { service, domain } = feedback;
  for (let day = 4; day >= 0; day--)
    for (const report of reportsOfDay(BEGIN - day * DAY_S, {
      reporters: 3,
      sendgridSigns: false,
      newcomer: true,
    }))
      await feedback.upload(report);
  await named(feedback);
  const all = await list(feedback);
  assert.equal(all.data.length, 7);
  assert.deepEqual(namesOf(await list(feedback, '&failing=true')), ['SendGrid']);
  assert.deepEqual(namesOf(await list(feedback, '&failing=false')), namesOf(all));

  // Google sees one spoofer, and a third of everything else.
  const google = await list(feedback, '&reporter=Google.com');
  const countsOf = ({ data }: SourceList) =>
    data.map(({ name, kind, messages, passed }) => [name, kind, messages, passed]);
  assert.deepEqual(countsOf(google), [
    ['Mailchimp', 'service', 200, 200],
    ['mail.example.com', 'own', 100, 100],
    ['example.net', 'forwarder', 60, 60],
    ['SendGrid', 'misconfigured', 50, 0],
    ['203.0.114.0/24', 'spoof', 25, 0],
    ['Forward Email', 'forwarder', 15, 15],
  ]);
  assert.equal(google.data.at(-1)!.forwarded, 15);
  assert.deepEqual(namesOf(await list(feedback, '&reporter=nobody')), []);
  const sum = { messages: 0 };
  for (const reporter of ['google.com', 'yahoo.com', 'microsoft.com'])
    for (const { messages } of (await list(feedback, `&reporter=${reporter}`)).data)
      sum.messages += messages;
  assert.equal(
    sum.messages,
    all.data.reduce((total, { messages }) => total + messages, 0),
  );
  const tooLong = await service.call(
    'GET',
    `/v1/feedback/sources?domain_id=${domain.id}&reporter=yahoo&from=2026-10-23&to=2026-11-22`,
  );
  assert.equal(tooLong.status, 422);

  const first = await list(feedback, '&limit=3');
  assert.deepEqual([namesOf(first), first.has_more], [namesOf(all).slice(0, 3), true]);
  const rest = await list(feedback, `&limit=5&starting_after=${first.data[2]!.id}`);
  assert.deepEqual([namesOf(rest), rest.has_more], [namesOf(all).slice(3), false]);
  const back = await list(feedback, `&limit=2&ending_before=${rest.data[0]!.id}`);
  assert.deepEqual([namesOf(back), back.has_more], [namesOf(all).slice(1, 3), true]);
  const wrong = await service.call<{ code: string }>(
    'GET',
    `/v1/feedback/sources?domain_id=${domain.id}&starting_after=src_none`,
  );
  assert.deepEqual([wrong.status, wrong.body.code], [400, 'invalid_cursor']);
});

test('A source is new if it was not seen in the 60 days before', async (t) => {
  const feedback = await startFeedback(t);
  // The third number of each address, and the days on which it was seen.
  const seen: Record<string, number[]> = {
    1: [1],
    2: [30],
    3: [31],
    4: [120, 5],
    5: [66, 5],
    6: [65, 5],
    7: [120, 45, 5],
    8: [120],
    // So that it is known for all who was there before.
    9: Array.from({ length: 80 }, (_, index) => index + 14),
  };
  const days = new Set(Object.values(seen).flat());
  for (const day of [...days].sort((a, b) => b - a)) {
    const found = Object.keys(seen).filter((network) => seen[network]!.includes(day));
    const records = found.map((network) => record({ source: `198.51.${network}.9` }));
    await feedback.upload(reportOf(day, records.join('')));
  }
  await named(feedback);
  // Until 22 November, these are the days from 24 October on: 29 days before 22 November, 30 with it.
  const names = namesOf(await list(feedback, '&from=2026-06-01&new=true'));
  assert.deepEqual(
    names.map((name) => name.split('.')[2]).sort(),
    // The day 30 ago is the day before the 30 days that end today.
    ['1', '4', '5'],
  );
  const before = namesOf(await list(feedback, '&from=2026-06-01&to=2026-11-21&new=true'));
  assert.deepEqual(before.map((name) => name.split('.')[2]).sort(), ['1', '2', '4', '5']);
});

test('Whether a source is new does not depend on the order in which reports arrive', async (t) => {
  const feedback = await startFeedback(t);
  const { service } = feedback;
  const newest = async () => {
    await named(feedback);
    await watchFeedback(service.app);
    const flagged = await service.app.db
      .selectFrom('feedback_sources')
      .select('name')
      .where('new_since', 'is not', null)
      .execute();
    const figures = await feedbackFigures(service.app.db, {
      from: '2026-11-10',
      to: '2026-11-21',
      domains: null,
    });
    return {
      list: namesOf(await list(feedback, '&new=true')),
      alert: flagged.map(({ name }) => name),
      summary: figures!.new_sources.sources.map(({ name }) => name),
    };
  };
  const both = record({ source: '198.51.1.9' }) + record({ source: '198.51.2.9', count: '20' });
  await feedback.upload(reportOf(4, both));
  // With reports of a few days, nobody knows.
  for (let day = 5; day <= 17; day++)
    await feedback.upload(reportOf(day, record({ source: '198.51.1.9' })));
  assert.deepEqual(await newest(), { list: [], alert: [], summary: [] });
  await feedback.upload(reportOf(18, record({ source: '198.51.1.9' })));
  const only = ['198.51.2.0/24'];
  assert.deepEqual(await newest(), { list: only, alert: only, summary: only });
  // An older report names both.
  await feedback.upload(reportOf(64, both));
  assert.deepEqual(await newest(), { list: [], alert: [], summary: [] });
});

test('A source that was silent in the period keeps the kind that it had', async (t) => {
  const feedback = await startFeedback(t, { zone: STORY_ZONE });
  const failing = { dkim: 'fail', spf: 'fail', results: '' };
  const records = [
    record({ source: SENDERS.mailchimp, count: '90', ...failing }),
    record({ source: SENDERS.sendgrid, count: '80', spf: 'fail' }),
    record({ source: SENDERS.newcomer, count: '70', spf: 'fail' }),
    record({ source: '198.51.1.9', count: '60', ...failing }),
    record({ source: '198.51.2.9', count: '30' }),
    record({ source: '198.51.2.9', count: '20', ...failing }),
  ];
  await feedback.upload(reportOf(45, records.join('')));
  // Half a year earlier, everything was different.
  await feedback.upload(reportOf(200, record({ source: SENDERS.mailchimp, count: '9000' })));
  await named(feedback);
  const { data } = await list(feedback, '&from=2026-09-01');
  assert.deepEqual(
    data.map(({ kind }) => kind),
    ['misconfigured', 'service', 'forwarder', 'spoof', 'misconfigured'],
  );
  for (const { id, name, kind } of data) {
    const { body } = await feedback.service.call<FeedbackSource>(
      'GET',
      `/v1/feedback/sources/${id}`,
    );
    assert.deepEqual([body.messages, body.kind], [0, kind], name);
  }
});

test('Sources, days and the rows of a report are exported as CSV', async (t) => {
  const feedback = await startFeedback(t);
  const { service, domain } = feedback;
  // 60 addresses in 3 networks.
  const addresses = Array.from({ length: 600 }, (_, i) => `198.18.${i % 3}.${i % 60}`);
  const [report] = await feedback.upload(
    reportOf(
      1,
      addresses
        .map((source, index) =>
          record({
            source,
            count: String(2000 - index),
            ...(index === 0 ? { dkim: 'fail', spf: 'fail' } : {}),
          }),
        )
        .join(''),
    ),
  );
  await named(feedback);
  const [source] = (await list(feedback)).data;
  await service.call('PATCH', `/v1/feedback/sources/${source!.id}`, {
    json: { label: '=HYPERLINK("https://x.example","a, b")' },
  });
  const download = async (path: string) => {
    const { status, headers, text } = await service.call('GET', path);
    assert.equal(status, 200, path);
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8');
    const name = /filename="([^"]+)"/.exec(headers.get('content-disposition')!)![1];
    return { name, lines: text.split('\r\n') };
  };
  const query = `domain_id=${domain.id}&from=2026-11-01&to=2026-11-22`;
  const sources = await download(`/v1/feedback/sources/export?${query}`);
  assert.equal(sources.name, 'sources-example.com-2026-11-01-2026-11-22.csv');
  assert.match(sources.lines[0]!, /^id,name,label,kind,/);
  assert.equal(sources.lines.length, 2 + 3);
  assert.ok(sources.lines[1]!.includes(`"'=HYPERLINK(""https://x.example"",""a, b"")"`));
  const days = await download(`/v1/feedback/dmarc/export?${query}`);
  assert.equal(days.name, 'days-example.com-2026-11-01-2026-11-22.csv');
  const messages = (600 * (2000 + 1401)) / 2;
  assert.deepEqual(days.lines, [
    'date,messages,passed,failed,none,quarantined,rejected,overridden',
    `2026-11-21,${messages},${messages - 2000},2000,${messages},0,0,0`,
    '',
  ]);
  const rows = await download(`/v1/feedback/reports/${report!.id}/rows/export`);
  assert.equal(rows.name, `rows-${report!.id}.csv`);
  assert.equal(rows.lines.length, 600 + 2);
  assert.match(rows.lines[1]!, /^2026-11-21,198\.18\.0\.0,2000,fail,none,fail,fail,example\.com,/);
  assert.match(rows.lines[600]!, /^2026-11-21,198\.18\.2\.59,1401,pass,/);
  const failing = await download(`/v1/feedback/reports/${report!.id}/rows/export?outcome=fail`);
  assert.equal(failing.lines.length, 1 + 2);
});
