/** What the last health check says about the DNS of a domain. */

import type { DomainCheck } from '../analysis/domain/health.ts';
import { storedHealth } from '../domains/health.ts';
import { latestDomainEvents } from '../domains/queries.ts';
import { verificationRecord } from '../domains/verification.ts';
import { unansweredSince } from '../domains/watched-records.ts';
import { formatUtcTime } from '../lib/clock.ts';
import { formatCount } from '../lib/format/numbers.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import type { IssueId } from './costs.ts';
import {
  type Finding,
  fine,
  notKnown,
  problem,
  reportOf,
  type SourceReport,
  sectionOf,
  shortTitle,
} from './findings.ts';
import { CURRENT_DAYS, daysAgo, type Reading } from './reading.ts';
import { topicOf } from './topics.ts';
import type { Topic } from './vocabulary.ts';

const MAX_EVENTS = 50;

export async function dnsReport(reading: Reading): Promise<SourceReport> {
  const { db, domain: row } = reading;
  const { health } = storedHealth(row);
  const path = sectionOf(row.id, 'health');
  const at = row.health_checked_at;
  const events = health.checks.some(({ severity }) => severity !== null)
    ? await latestDomainEvents(db, row.id, MAX_EVENTS)
    : [];
  const since = sinceOf(health.checks, health.status, events);
  const isOld = at !== null && at < daysAgo(reading, CURRENT_DAYS);
  const isKnown = health.status !== 'unknown' && !isOld;
  const unanswered = unansweredSince(row);
  const findings = health.checks.flatMap((check) =>
    findingOf(check, { at, path, since, isOld: isOld || unanswered !== null }),
  );
  return reportOf(
    {
      source: 'dns',
      state: isKnown ? 'pass' : 'unknown',
      at,
      path,
      text: isOld
        ? `Not checked for more than ${CURRENT_DAYS} days.`
        : unanswered
          ? `Unknown since ${formatUtcTime(Date.parse(unanswered))}: DNS lookups get no answer.`
          : health.summary,
      basis: isKnown ? formatCount(health.checks.length, 'check') : null,
    },
    [...findings, ...verification(row)],
  );
}

type Since = (check: DomainCheck) => string | null;

/**
 * Only the health of the whole domain has a history. So since when a finding exists is known if no other finding can have
 * caused the change.
 */
function sinceOf(
  checks: DomainCheck[],
  status: string,
  events: Awaited<ReturnType<typeof latestDomainEvents>>,
): Since {
  const changes = events.filter(({ type }) => type === 'domain.health_changed');
  const changedAt = changes[0]?.data.health.status === status ? changes[0].created_at : null;
  const decisive = status === 'critical' ? 'critical' : 'warning';
  const isOnly = checks.filter(({ severity }) => severity === decisive).length === 1;
  return ({ severity }) => (isOnly && severity === decisive ? changedAt : null);
}

const ORIGIN = 'Health check';

function findingOf(
  check: DomainCheck,
  { at, path, since, isOld }: { at: string | null; path: string; since: Since; isOld: boolean },
): Finding[] {
  const { id, status, severity, title, label, fix } = check;
  const topic = topicOf(id);
  const said = { source: 'dns' as const, origin: ORIGIN, topic, text: title, at, path };
  if (severity !== null) {
    const isFormer = check.former_status !== undefined;
    return [
      problem(issueOfCheck(topic, severity), {
        ...said,
        text: isFormer ? `${label} had a problem, and could not be checked again.` : title,
        title: shortTitle(title, id),
        since: since(check),
        firstStep: fix === null ? null : { text: fix.text, record: fix.record ?? null, path },
      }),
    ];
  }
  if (status === 'pass') return [isOld ? notKnown(said) : fine(said)];
  if (status === 'error') return [notKnown(said)];
  return [];
}

const AUTHENTICATION: Topic[] = ['spf', 'dkim', 'dmarc', 'dmarc_policy'];

function issueOfCheck(topic: Topic, severity: 'critical' | 'warning'): IssueId {
  if (AUTHENTICATION.includes(topic))
    return severity === 'critical' ? 'authentication_broken' : 'authentication_weak';
  if (topic === 'blocklists') return severity === 'critical' ? 'blocklisted' : 'listed_minor';
  if (topic === 'mail_servers') return severity === 'critical' ? 'cannot_receive' : 'setup_weak';
  return severity === 'critical' ? 'domain_critical' : 'record_weak';
}

const VERIFICATION = { source: 'dns', origin: 'Verification', topic: 'verification' } as const;

function verification(row: DomainRow): Finding[] {
  const said = {
    ...VERIFICATION,
    at: row.last_checked_at,
    path: sectionOf(row.id, 'verification'),
  };
  if (row.status === 'verified' && row.missing_since === null)
    return [fine({ ...said, text: 'The verification record is published.' })];
  const since = row.status === 'verified' ? row.missing_since : null;
  const title =
    row.status === 'pending'
      ? 'Your domain is not verified yet.'
      : row.status === 'failed'
        ? 'Your domain is no longer verified.'
        : 'The verification record is missing.';
  const firstStep = {
    text: 'Publish the TXT record for verification.',
    record: verificationRecord(row),
    path: said.path,
  };
  return [
    problem('not_verified', {
      ...said,
      text: title,
      since,
      firstStep,
    }),
  ];
}
