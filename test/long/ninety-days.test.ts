/** The story of 90 days: the advice on the policy on each day, the kinds of all sources, and the alerts. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type * as v from 'valibot';
import type { AlertIncident } from '../../src/alerts/schema.ts';
import type { DmarcAdvice, FeedbackSource } from '../../src/feedback/sources/schema.ts';
import { DAYS, DOMAINS, isSilent, within } from '../feedback/ninety-days/domains.ts';
import { dateOf, mailsAfter, mailsDuring } from '../feedback/ninety-days/mails.ts';
import { SEED, type Story, startStory } from '../feedback/ninety-days/play.ts';

type Advice = v.InferOutput<typeof DmarcAdvice>;
type Source = v.InferOutput<typeof FeedbackSource>;

/** From this day of the story to the one before the next row. */
interface AdviceFrom {
  day: number;
  state: Advice['state'];
  next: Advice['next'];
  /** Senders that have to be repaired first. */
  first?: string[];
  /** Senders of which a stricter policy would affect messages. */
  lost: string[];
}

/** Judged from the rules: 14 days of reports, and each sender of the domain passes DMARC. The last day that it fails is one of the 14. */
const EXPECTED: Record<string, AdviceFrom[]> = {
  'example.com': [
    {
      day: 0,
      state: 'not_enough_data',
      next: 'quarantine',
      lost: ['Mailchimp', 'university.example'],
    },
    {
      day: 10,
      state: 'not_enough_data',
      next: 'quarantine',
      first: ['SendGrid'],
      lost: ['Mailchimp', 'SendGrid', 'university.example'],
    },
    // SendGrid failed until day 12.
    {
      day: 13,
      state: 'not_ready',
      next: 'quarantine',
      first: ['SendGrid'],
      lost: ['Mailchimp', 'SendGrid', 'university.example'],
    },
    {
      day: 26,
      state: 'ready',
      next: 'quarantine',
      lost: ['Mailchimp', 'university.example'],
    },
    { day: 70, state: 'ready', next: 'reject', lost: ['Mailchimp', 'university.example'] },
  ],
  'shop.example': [
    {
      day: 0,
      state: 'not_enough_data',
      next: 'reject',
      first: ['Postmark'],
      lost: ['Postmark'],
    },
    // Postmark failed until day 44.
    { day: 13, state: 'not_ready', next: 'reject', first: ['Postmark'], lost: ['Postmark'] },
    { day: 58, state: 'ready', next: 'reject', lost: [] },
    { day: 75, state: 'done', next: null, lost: [] },
  ],
  'bank.example': [{ day: 0, state: 'done', next: null, lost: [] }],
};

const domainOf = (name: string) => DOMAINS.find((domain) => domain.name === name)!;

/** Bank.example gets its last reports before the silent week on the morning of day 40; three days later they have stopped. */
const isStopped = (name: string, day: number): boolean =>
  name === 'bank.example' && day >= 43 && day < 47;

/** While more than 5 % of their messages of 30 days fail. At all other times, senders have the kind that `domains.ts` names. */
const MISCONFIGURED: Record<string, { from: number; to: number }> = {
  SendGrid: { from: 10, to: 39 },
  Postmark: { from: 0, to: 71 },
};

const adviceOf = async ({ service, domains }: Story, name: string): Promise<Advice> =>
  (await service.call<Advice>('GET', `/v1/feedback/advice?domain_id=${domains[name]!.id}`)).body;

const sourcesOf = async (
  { service, domains }: Story,
  name: string,
  query = '',
): Promise<Source[]> => {
  const path = `/v1/feedback/sources?domain_id=${domains[name]!.id}${query}`;
  return (await service.call<{ data: Source[] }>('GET', path)).body.data;
};

/** The domain on the morning after a day, in the form of the table. */
async function observed(story: Story, name: string) {
  const { state, next, ready, missing, would_be_rejected, covered_days, reporters, record } =
    await adviceOf(story, name);
  const { body } = await story.service.call<{ feedback: { state: string } }>(
    'GET',
    `/v1/domains/${story.domains[name]!.id}`,
  );
  return {
    state,
    next,
    ready,
    covered_days,
    reporters,
    feedback: body.feedback.state,
    record: record === null ? null : /p=\w+/.exec(record.value)![0],
    first: missing.flatMap((sentence) => /^(.+): .* fail DMARC\./.exec(sentence)?.[1] ?? []),
    lost: would_be_rejected.map((source) => source.name).sort(),
    kinds: await kindsOf(story, name),
  };
}

/** The kinds of all sources but the spoofers, whose names must be those of their networks. */
async function kindsOf(story: Story, name: string): Promise<Record<string, string>> {
  const networks = Object.keys(domainOf(name).spoofers).map((network) => `${network}.0/24`);
  const sources = await sourcesOf(story, name);
  return Object.fromEntries(
    sources
      .filter((source) => !(source.kind === 'spoof' && networks.includes(source.name)))
      .map((source) => [source.name, source.kind]),
  );
}

function expected(name: string, day: number) {
  const { state, next, first = [], lost } = EXPECTED[name]!.findLast((row) => row.day <= day)!;
  return {
    state,
    next,
    ready: state === 'ready',
    covered_days: daysWithReports(name, day),
    // The one that sends each two days begins on the second morning.
    reporters: day === 0 ? 5 : 6,
    feedback: isStopped(name, day) ? 'stopped' : 'receiving',
    record: next === null ? null : `p=${next}`,
    first,
    lost: lost.toSorted(),
    kinds: expectedKinds(name, day),
  };
}

function expectedKinds(name: string, day: number): Record<string, string> {
  const senders = domainOf(name).senders.filter(({ since = 0 }) => since <= day);
  return Object.fromEntries(
    senders.map((sender) => {
      const period = MISCONFIGURED[sender.name];
      return [sender.name, period && within(day, period) ? 'misconfigured' : sender.kind];
    }),
  );
}

/** Of the 30 days up to the current one, which is not over. The last report before the silent week reaches into it. */
function daysWithReports(name: string, day: number): number {
  let count = 0;
  for (let one = Math.max(0, day - 28); one <= day; one++)
    if (!isSilent(domainOf(name), one) || one === 40) count += 1;
  return count;
}

test('The advice is right on each of 90 days, and each source gets its kind', async (t) => {
  const story = await startStory(t);
  await makeRules(story);
  let compared = 0;
  const different: unknown[] = [];
  await story.play(async (day) => {
    for (const { name } of DOMAINS) {
      const [found, right] = [await observed(story, name), expected(name, day)];
      if (!isDeepStrictEqual(found, right)) different.push({ day, name, found, right });
      compared += 1;
    }
  });
  assert.deepEqual(different, []);
  assert.equal(compared, DAYS * DOMAINS.length);

  await t.test('Each report counts, once', async () => {
    let sent = 0;
    for (let day = 0; day < DAYS; day++)
      sent += [...mailsDuring(day, String), ...mailsAfter(SEED, day, String)].length;
    const statuses = await story.service.app.db
      .selectFrom('feedback_reports')
      .select('status')
      .select(({ fn }) => fn.countAll<number | string>().as('reports'))
      .groupBy('status')
      .execute();
    assert.deepEqual(
      statuses.map(({ status, reports }) => [status, Number(reports)]),
      [['counted', sent]],
    );
  });

  await t.test('Each alert opens and resolves once, and spoofing opens none', async () => {
    const { body } = await story.service.call<{ data: AlertIncident[] }>(
      'GET',
      '/v1/alert_incidents?limit=100',
    );
    const found = body.data.toReversed().map((incident) => ({
      condition: incident.condition,
      about: incident.value.source ?? incident.subject,
      opened: dayOf(incident.opened_at),
      resolved: incident.resolved_at === null ? null : dayOf(incident.resolved_at),
    }));
    assert.deepEqual(found, INCIDENTS);
  });

  await t.test('Each event about a source, or about silence, comes once', async () => {
    const { body } = await story.service.call<{ data: { type: string; data: { name: string } }[] }>(
      'GET',
      '/v1/events?limit=100',
    );
    const events = body.data.filter(({ type }) => type.startsWith('feedback.')).toReversed();
    assert.deepEqual(
      events.map(({ type, data }) => `${type} ${data.name}`),
      [
        'feedback.source_failing SendGrid',
        'feedback.source_recovered SendGrid',
        'feedback.stopped bank.example',
        'feedback.new_source Brevo',
      ],
    );
  });
});

/** Days of the story: an incident is opened or resolved on the morning after the day, when all reports about the day before have arrived. */
const INCIDENTS = [
  { condition: 'source_failing', about: 'SendGrid', opened: 11, resolved: 14 },
  { condition: 'feedback_stopped', about: 'bank.example', opened: 43, resolved: 47 },
  { condition: 'tls_failing', about: 'example.com', opened: 51, resolved: 52 },
  { condition: 'new_source', about: 'Brevo', opened: 61, resolved: 73 },
  { condition: 'complaint_rate', about: 'shop.example', opened: 67, resolved: 68 },
];

const dayOf = (time: string): number =>
  Math.floor((Date.parse(time) - Date.parse(dateOf(0))) / 86_400_000) - 1;

async function makeRules({ service }: Story): Promise<void> {
  for (const { condition } of INCIDENTS) {
    const json = { name: condition, condition, channels: ['email'] };
    const { status } = await service.call('POST', '/v1/alerts', { json });
    assert.equal(status, 201);
  }
}
