/** What changed since yesterday: one line for each kind of event, with what it was about. */

import { recordLabel } from '../../domain-table/digest.ts';
import type { EventType } from '../../events/events.ts';
import { asText, type EventData, field } from '../../events/line.ts';
import { type RecentEvent, recentEvents } from '../../events/recent.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { StateMark } from '../../ui/components.tsx';
import type { PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { Ago } from '../frame/times.tsx';

interface Subject {
  text: string;
  href: string;
  detail?: string | null;
}

interface Kind {
  state: 'fail' | 'warn' | 'info' | 'pass';
  title: string;
  subject(data: EventData): Subject;
  all: string;
}

const nameOf = (value: unknown): string => readableDomain(asText(value) ?? '');
const domain = ({ id, name }: EventData): Subject => ({
  text: nameOf(name),
  href: `/domains/${asText(id)}`,
});
const source = (data: EventData): Subject => ({
  text: asText(data.name) ?? '',
  href: `/feedback/sources/${asText(data.id)}`,
  detail: nameOf(data.domain),
});
const incident = (data: EventData): Subject => ({
  text: asText(field(data.alert, 'name')) ?? '',
  href: `/incidents/${asText(data.id)}`,
  detail: asText(data.subject),
});

const changedRecords = ({ changes }: EventData): string =>
  [
    ...new Set(
      (Array.isArray(changes) ? changes : []).map((one) =>
        recordLabel({ name: String(field(one, 'name')), type: String(field(one, 'type')) }),
      ),
    ),
  ].join(', ');

const CHANGED = '/domains?sort=last_change';

const KINDS: Partial<Record<EventType, Kind>> = {
  'alert.triggered': {
    state: 'fail',
    title: 'Incidents opened',
    subject: incident,
    all: '/alerts',
  },
  'monitor.alert': {
    state: 'fail',
    title: 'Monitors found problems',
    subject: ({ monitor }) => ({
      text: asText(field(monitor, 'name')) ?? '',
      href: `/monitors/${asText(field(monitor, 'id'))}`,
    }),
    all: '/monitors',
  },
  'domain.verification_failed': {
    state: 'fail',
    title: 'Verification failed',
    subject: domain,
    all: '/domains?state=failed',
  },
  'feedback.source_failing': {
    state: 'fail',
    title: 'Senders began to fail DMARC',
    subject: source,
    all: '/feedback',
  },
  'feedback.stopped': {
    state: 'warn',
    title: 'Reports stopped',
    subject: ({ domain_id, name }) => ({
      text: nameOf(name),
      href: `/feedback/domains/${asText(domain_id)}`,
    }),
    all: '/feedback',
  },
  'receiver.status_changed': {
    state: 'info',
    title: 'Receivers changed their verdict',
    subject: ({ domain: name, domain_id, address, requirement, receiver_id, status }) => ({
      text: name ? nameOf(name) : (asText(address ?? receiver_id) ?? ''),
      href: domain_id ? `/domains/${asText(domain_id)}` : '/receivers',
      detail: [requirement, status].flatMap((part) => asText(part) ?? []).join(': '),
    }),
    all: '/receivers',
  },
  'domain.health_changed': {
    state: 'info',
    title: 'Health changed',
    subject: (data) => ({
      ...domain(data),
      detail: `${asText(data.previous_health)} → ${asText(field(data.health, 'status'))}`,
    }),
    all: '/domains',
  },
  'domain.records_changed': {
    state: 'info',
    title: 'DNS records changed',
    subject: (data) => ({ ...domain(data), detail: changedRecords(data) }),
    all: CHANGED,
  },
  'feedback.new_source': { state: 'info', title: 'New senders', subject: source, all: '/feedback' },
  'feedback.source_recovered': {
    state: 'pass',
    title: 'Senders no longer fail',
    subject: source,
    all: '/feedback',
  },
  'domain.verified': { state: 'pass', title: 'Verified', subject: domain, all: '/domains' },
  'alert.resolved': {
    state: 'pass',
    title: 'Incidents resolved',
    subject: incident,
    all: '/alerts',
  },
};

const TYPES = Object.keys(KINDS) as EventType[];

const MAX_LINES = 10;
const MAX_SUBJECTS = 3;
/** More events in a day are not read. */
const MAX_EVENTS = 500;

export interface ChangeLine extends Omit<Kind, 'subject'> {
  subjects: Subject[];
  more: number;
  at: string;
}

/** The changes of the last 24 hours, the worst kind first. */
export async function findChanges({ app }: PageCall): Promise<ChangeLine[]> {
  const since = app.clock.now() - DAY_MS;
  const events = await recentEvents(app.db, TYPES, { since, limit: MAX_EVENTS });
  const byType = Map.groupBy(events, ({ type }) => type);
  return TYPES.flatMap((type) => lineOf(KINDS[type]!, byType.get(type) ?? [])).slice(0, MAX_LINES);
}

function lineOf({ subject, ...kind }: Kind, events: RecentEvent[]): ChangeLine[] {
  const [latest] = events;
  if (!latest) return [];
  const subjects = new Map<string, Subject>();
  for (const { data } of events) {
    const found = subject(data);
    if (!subjects.has(found.href)) subjects.set(found.href, found);
  }
  const shown = [...subjects.values()].slice(0, MAX_SUBJECTS);
  return [{ ...kind, subjects: shown, more: subjects.size - shown.length, at: latest.created_at }];
}

export function Changes({ lines }: { lines: ChangeLine[] }) {
  if (lines.length === 0) return null;
  return (
    <Card title="What changed since yesterday" id="changes">
      <ul class="problems changes">
        {lines.map(({ state, title, subjects, more, all, at }) => (
          <li key={title}>
            <StateMark state={state} word={title} />
            <div>
              {subjects.map(({ text, href, detail }, index) => (
                <span key={href}>
                  {index > 0 && ', '}
                  <a href={href}>
                    <bdi>{text}</bdi>
                  </a>
                  {detail && (
                    <span class="small muted">
                      {' '}
                      <bdi>{detail}</bdi>
                    </span>
                  )}
                </span>
              ))}
              {more > 0 && (
                <>
                  {' '}
                  <a href={all} class="small">
                    and {formatCount(more)} more
                  </a>
                </>
              )}
            </div>
            <span class="small muted">
              <Ago at={at} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
