/** `record_changed`: a watched record of a verified domain has changed. */

import { goneRecord } from '../../domains/gone-records.ts';
import type { RecordAuthor, RecordObservation } from '../../domains/observe.ts';
import { truncate } from '../../lib/format/plain-text.ts';
import { type Condition, NO, type OpenedIncident } from './condition.ts';
import { findVerified, healthPage } from './of-domains.ts';

interface Value {
  domain: string;
  /** Such as "SPF record". */
  label: string;
  name: string;
  type: string;
  /** Before the change, and now. */
  was: string[];
  is: string[];
  changed_by: RecordAuthor | null;
  domain_id: string;
}

export const recordChanged: Condition<'record', Value> = {
  observes: ['record'],
  threshold: null,

  evaluate({ state, domain, label, name, type, was, is, changedBy, domainId }) {
    if (state !== 'changed') return NO;
    const value = { domain, label, name, type, was, is };
    return { answer: 'yes', value: { ...value, changed_by: changedBy, domain_id: domainId } };
  },
  isSignificantChange: (before, { is }) => listed(before.is) !== listed(is),
  /** An incident ends once the change is undone, or after a day without another change. */
  resolutionOf: (_, { state }) => (state === 'restored' ? 'condition_ended' : 'no_longer_watched'),
  findWatched: findVerified,

  choice: {
    text: 'A DNS record of your domain changes',
    hint: 'The SPF, DMARC, DKIM, MX, MTA-STS, TLS-RPT, BIMI, NS and DS records of verified domains are checked every hour. Resolved when the record is restored, or after a day without another change.',
  },
  alertsWhen: () => 'a record of a verified domain changes',
  documentation:
    'an [hourly record check](#watching-records) finds that an SPF, DMARC, DKIM, MX, MTA-STS, TLS-RPT, BIMI, NS or DS record of a verified domain has changed',
  shortText: 'a record changed',
  openedText: (opened) => ({ title: titleOf(opened.value), lead: leadOf(opened.value) }),
  resolvedTitle: ({ value: { domain, label } }) =>
    `The ${label} of ${domain} ${verb(label)} restored`,
  unwatchedText: ({ value: { domain, label } }) => ({
    title: `The ${label} of ${domain} did not change again`,
    lead: 'The incident is resolved because nothing has changed for a day, or because the domain is no longer watched.',
  }),
  measurements: ({ value: { name, was, is, changed_by } }) => [
    ['Name', name],
    ['Before', inFull(was)],
    ['Now', inFull(is)],
    ['Changed with this service', changed_by === null ? 'No' : `Yes, by ${authorOf(changed_by)}`],
  ],
  isRelevantFix: () => false,
  fixes: ({ value: { name, type, was, is, changed_by } }) => [
    {
      title: '',
      text:
        changed_by === null
          ? 'If your team did not make this change, restore the old record at your DNS provider, and change your password there.'
          : 'If this was a mistake, open “Name servers” in this service, and undo the change there.',
      record: goneRecord({ name, type }, { was, is }),
    },
  ],
  subjectLabel: 'Record',
  domainName: ({ value: { domain } }) => domain,
  page: healthPage,
  sampleValue: () => ({
    domain: 'example.com',
    label: 'SPF record',
    name: 'example.com',
    type: 'TXT',
    was: ['v=spf1 mx -all'],
    is: [],
    changed_by: null,
    domain_id: 'dom_sample',
  }),
};

const listed = (values: RecordObservation['is']): string => values.join('\n');

const verb = (label: string): string => (label.endsWith('records') ? 'were' : 'was');

function titleOf({ domain, label, was, is }: OpenedIncident<Value>['value']): string {
  if (is.length === 0) return `The ${label} of ${domain} ${verb(label)} removed`;
  if (was.length === 0) return `The ${label} of ${domain} ${verb(label)} added`;
  return `The ${label} of ${domain} changed`;
}

const MAX_LENGTH = 200;
const MAX_FULL_LENGTH = 450;

const quoted = (values: string[]): string =>
  values.length === 0 ? 'no record' : `“${truncate(values.join(', '), MAX_LENGTH)}”`;

const inFull = (values: string[]): string =>
  values.length === 0 ? 'No record' : truncate(values.join(', '), MAX_FULL_LENGTH);

const authorOf = ({ email }: RecordAuthor): string => email ?? 'a command on the server';

function leadOf({ was, is, changed_by }: Value): string {
  const author =
    changed_by === null
      ? 'The change was not made with this service.'
      : `It was changed with this service by ${authorOf(changed_by)}.`;
  return `Before: ${quoted(was)}. Now: ${quoted(is)}. ${author}`;
}
