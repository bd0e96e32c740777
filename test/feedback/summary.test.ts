/** What receivers report in a period: the figures, and where people read them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage } from '../../src/analysis/mime/parse-message.ts';
import { daysBetween, feedbackFigures } from '../../src/feedback/summary.ts';
import type { FeedbackFigures } from '../../src/report/summary.ts';
import { newMember } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfText } from '../helpers/pdf.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { arf, BEGIN, dmarc, record, tls, tlsFailure, tlsPolicy } from './reading/builders.ts';
import { type FeedbackService, NOW, named, startFeedback } from './start.ts';
import { reportsOfDay, SENDERS, STORY_ZONE } from './story.ts';

const DAY_S = 86_400;
const HOUR_MS = 3_600_000;
const WEEK = { from: '2026-11-15', to: '2026-11-21' };

/** 17 days, the newcomer only on the last three; TLS reports and a complaint on the last. */
async function tellStory({ upload, send, clock }: FeedbackService): Promise<void> {
  for (let day = 16; day >= 0; day--)
    for (const report of reportsOfDay(BEGIN - day * DAY_S, {
      reporters: 3,
      sendgridSigns: false,
      newcomer: day < 3,
    }))
      await upload(report);
  await upload(tls({}, [tlsPolicy({}, {}, [tlsFailure()])]));
  // Complaints count on the day on which they arrive.
  clock.set(NOW - 24 * HOUR_MS);
  await send(arf('Feedback-Type: abuse\nSource-IP: 192.0.2.9\nReported-Domain: example.com\n'));
  clock.set(NOW);
}

const brief = ({ failing_sources, new_sources }: FeedbackFigures) =>
  [failing_sources, new_sources].map(({ total, sources }) => [
    total,
    ...sources.map(({ name, messages, passed }) => `${name} ${passed}/${messages}`),
  ]);

test('daysBetween returns as many days as the period has, in any time zone', () => {
  const midnight = Date.UTC(2026, 10, 15);
  const week = 7 * 24 * HOUR_MS;
  for (const offset of [-11, -5, 0, 5.75, 11])
    assert.deepEqual(
      daysBetween(midnight - offset * HOUR_MS, midnight - offset * HOUR_MS + week),
      WEEK,
      `${offset}`,
    );
  // A day that ends in the morning is mostly yesterday.
  const morning = Date.UTC(2026, 10, 22, 10);
  assert.deepEqual(daysBetween(morning - 24 * HOUR_MS, morning), {
    from: '2026-11-21',
    to: '2026-11-21',
  });
  assert.equal(daysBetween(morning - 2 * HOUR_MS, morning), null);
});

test('GET /v1/reports/summary has what receivers report, for all domains or one', async (t) => {
  const feedback = await startFeedback(t, { zone: STORY_ZONE });
  const { service, domain } = feedback;
  await tellStory(feedback);
  await named(feedback);
  const { body: other } = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'quiet.example' },
  });
  const figures = async (query: string) => {
    const { status, body } = await service.call<{ feedback: FeedbackFigures | null }>(
      'GET',
      `/v1/reports/summary?${query}`,
    );
    assert.equal(status, 200, JSON.stringify(body));
    return body.feedback;
  };
  const week = await figures('period=week');
  const source = (id: number, name: string, messages: number, passed: number) => ({
    id: week!.failing_sources.sources.concat(week!.new_sources.sources)[id]!.id,
    domain_id: domain.id,
    domain: 'example.com',
    name,
    messages,
    passed,
  });
  assert.deepEqual(week, {
    ...WEEK,
    reporters: 3,
    messages: 1879,
    passed: 1431,
    pass_rate: 0.7616,
    // The policy is p=none, so nothing is certain about what never passes.
    shares: { own: 1470, own_passed: 1260, forged: 0, suspected: 238, forwarded: 171, unjudged: 0 },
    spoofed: { messages: 238, stopped: 0 },
    failing_sources: { total: 1, sources: [source(0, 'SendGrid', 210, 0)] },
    new_sources: { total: 1, sources: [source(1, 'example.net', 108, 108)] },
    tls: { reporters: 1, sessions: 103, failed: 3 },
    complaints: { providers: 1, total: 1 },
  });
  assert.deepEqual(await figures(`period=week&domain_id=${domain.id}`), week);
  assert.equal(await figures(`period=week&domain_id=${other.id}`), null);
  // Reports begin in these 30 days, and show all other sources for the first time.
  const month = await figures('period=month');
  assert.deepEqual([month!.from, month!.messages], ['2026-10-23', 1879 + 10 * 253]);
  assert.equal(month!.new_sources.total, 1);
  const key = await service.makeKey('viewer', false);
  const inTestMode = await service.call('GET', '/v1/reports/summary', { key });
  assert.deepEqual([inTestMode.status, inTestMode.body.feedback], [200, null]);
});

test('A source is new again after 60 days; one that never passes only if nothing stops it', async (t) => {
  const feedback = await startFeedback(t, { zone: STORY_ZONE });
  const { service, upload } = feedback;
  const { db } = service.app;
  const day = (daysAgo: number, records: string) =>
    upload(
      dmarc({
        id: `r-${daysAgo}`,
        begin: String(BEGIN - daysAgo * DAY_S),
        end: String(BEGIN - daysAgo * DAY_S + DAY_S - 1),
        records,
      }),
    );
  const failing = { dkim: 'fail', spf: 'fail', results: '' };
  // Enough days with reports to know who is new.
  for (let daysAgo = 31; daysAgo < 44; daysAgo++)
    await day(daysAgo, record({ source: SENDERS.own, count: '1' }));
  await day(80, record({ source: SENDERS.newcomer, count: '5' }));
  await day(30, record({ source: SENDERS.mailchimp, count: '50', spf: 'fail' }));
  await day(
    0,
    [
      record({ source: SENDERS.newcomer, count: '4' }),
      record({ source: SENDERS.mailchimp, count: '95', spf: 'fail' }),
      record({ source: SENDERS.mailchimp, count: '5', ...failing }),
      record({ source: SENDERS.sendgrid, count: '9', ...failing }),
      record({ source: '203.0.114.90', count: '30', ...failing, disposition: 'reject' }),
      record({ source: '198.51.100.91', count: '20', ...failing }),
      record({ source: '198.18.0.9', count: '9', ...failing }),
    ].join(''),
  );
  await named(feedback);
  const read = (from: string) =>
    feedbackFigures(db, { from, to: '2026-11-21', domains: [feedback.domain.id] });
  const figures = await read('2026-11-20');
  // Exactly 5% of Mailchimp's messages fail, and SendGrid sent fewer than 10.
  assert.deepEqual(brief(figures!), [
    [0],
    [3, '198.51.100.0/24 0/20', 'SendGrid 0/9', 'example.net 4/4'],
  ]);
  assert.deepEqual(figures!.spoofed, { messages: 59, stopped: 30 });
  assert.deepEqual([figures!.tls, figures!.complaints], [null, null]);
  // 60 days before the first day of the period, the newcomer was there, but not 60 days before it sent again.
  assert.deepEqual(
    brief((await read('2026-10-31'))!)[1]!
      .slice(1)
      .map((text) => `${text}`.split(' ')[0]),
    ['198.51.100.0/24', 'SendGrid', 'example.net'],
  );
  assert.equal(await feedbackFigures(db, { ...WEEK, domains: [] }), null);
  const earlier = { from: '2026-11-01', to: '2026-11-10', domains: null };
  assert.equal(await feedbackFigures(db, earlier), null);
});

test('A scheduled report has what receivers report in HTML, text and PDF', {
  skip: skipUnlessInstalled('pdftotext'),
}, async (t) => {
  const sink = await startMailSink(t);
  const feedback = await startFeedback(t, {
    zone: STORY_ZONE,
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'reports@example.com',
    },
  });
  const { service } = feedback;
  const send = async (format: 'html' | 'pdf', sections = ['summary']) => {
    const name = `Report ${sink.taken.length}`;
    const { body } = await service.call<{ id: string }>('POST', '/v1/reports/schedules', {
      json: {
        name,
        frequency: 'weekly',
        recipients: ['ann@example.com'],
        format,
        include_sections: sections,
      },
    });
    const sent = await service.call('POST', `/v1/reports/schedules/${body.id}/send`);
    assert.equal(sent.status, 200, sent.text);
    await sink.waitFor(new RegExp(name));
    const { raw } = sink.taken.at(-1)!;
    const { html, text } = await parseMessage(raw);
    const encoded = /Content-Type: application\/pdf.*?\r\n\r\n([\w+/=\r\n]+)/s.exec(raw.toString());
    return {
      html: html!.replace(/<[^>]*>/g, ' '),
      text: text!,
      pdf: encoded ? pdfText(Buffer.from(encoded[1]!, 'base64')) : '',
    };
  };
  const title = /What receivers report/i;
  const none = await send('html');
  for (const part of [none.html, none.text]) assert.doesNotMatch(part, title);
  assert.doesNotMatch((await send('pdf')).pdf, title);

  await tellStory(feedback);
  await named(feedback);
  const { html, text } = await send('html');
  const { pdf } = await send('pdf');
  for (const [name, part] of Object.entries({ html, text, pdf })) {
    const words = part.replace(/\s+/g, ' ');
    assert.match(words, title, name);
    for (const phrase of [
      'Messages',
      '1,879',
      'Reported by 3 reporters',
      '85.7%',
      '1,260 of 1,470 messages',
      'SendGrid: 210 of 210 messages failed',
      'example.net: 108 messages, 100% passed',
      'Messages, of which 0 were quarantined or rejected',
      'Of 103 sessions, reported by 1 reporter',
      'From 1 provider',
      'Sun 15 Nov 2026 to Sat 21 Nov 2026 (UTC).',
    ])
      assert.ok(words.includes(phrase), `${phrase} in ${name}: ${words}`);
  }
  assert.doesNotMatch((await send('html', ['alerts'])).text, title);
});

test('The page of a domain’s monitor and the summary page have what receivers report', async (t) => {
  const feedback = await startFeedback(t, { zone: STORY_ZONE });
  const { service, domain } = feedback;
  const member = await newMember(service, 'member');
  const create = async (json: object) =>
    (
      await service.call<{ id: string }>('POST', '/v1/monitors', {
        json: { name: 'Ours', frequency: 'daily', ...json },
      })
    ).body.id;
  const own = await create({ type: 'domain_health', domain_id: domain.id });
  const lists = await create({ type: 'blocklist', targets: ['192.0.2.1'] });
  const pages = [`/monitors/${own}`, '/reports'];
  const read = async (path: string) => mainOf((await member.get(path)).html);
  for (const path of pages) assert.doesNotMatch(await read(path), /What receivers report/);
  await tellStory(feedback);
  await named(feedback);
  for (const path of pages) {
    const main = await read(path);
    assert.match(main, /What receivers report/, path);
    assert.match(main, /SendGrid: 210 of 210 messages failed/, path);
  }
  assert.doesNotMatch(await read(`/monitors/${lists}`), /What receivers report/);
});
