/** `source_failing`: messages of one of the domain’s servers or sending services fail DMARC, though they passed before. */

import { formatCount, formatPercent } from '../../report/summary.ts';
import { dayInWords } from '../../report/times.ts';
import { type Condition, NO, UNKNOWN } from './condition.ts';
import { findSources, sourcePage, sourceRemoved } from './of-feedback.ts';

interface Value {
  /** The name of the domain. */
  domain: string;
  /** The name of the source. */
  source: string;
  /** The latest day of which reports tell, in UTC, and its messages. */
  day: string;
  messages: number;
  failed: number;
}

export const sourceFailing: Condition<'source', Value> = {
  observes: ['source'],
  threshold: null,

  evaluate({ failingSince, domain, name, day, messages, failed }) {
    if (failingSince === null) return NO;
    // Silent since: nothing new to report about.
    if (day === null) return UNKNOWN;
    const value = { domain, source: name, day, messages, failed };
    return { answer: 'yes', value };
  },
  findWatched: findSources,

  choice: {
    text: 'Your mail fails DMARC at receivers',
    hint: 'More than 5% of a source’s messages in a day, and at least 10 of them, fail DMARC; they passed before. The source is one of your servers or sending services.',
  },
  alertsWhen: () =>
    'more than 5% of a source’s messages in a day, and at least 10 of them, fail DMARC; they passed before',
  documentation:
    "more than 5% of a source's messages in a day, and at least 10 of them, fail DMARC; they passed before. The source is one of your [servers or sending services](feedback.md#who-sends-mail-from-your-domain)",
  shortText: 'messages fail DMARC at receivers',
  openedText: ({ value: { domain, source, day, messages, failed } }) => ({
    title: `Mail from ${domain} sent through ${source} fails DMARC`,
    lead: `On ${dayInWords(day)}, ${formatCount(failed)} of ${formatCount(messages)} messages (${formatPercent(failed / messages)}) from ${source} failed DMARC, according to DMARC reports. Earlier messages passed.`,
  }),
  resolvedTitle: ({ value: { domain, source } }) =>
    `Mail from ${domain} sent through ${source} no longer fails DMARC`,
  unwatchedText: sourceRemoved,
  measurements: ({ value: { domain, day, messages, failed } }) => [
    ['Domain', domain],
    ['Failed', `${formatCount(failed)} of ${formatCount(messages)} messages on ${dayInWords(day)}`],
  ],
  isRelevantFix: () => false,
  fixes: ({ value: { source } }) => [
    {
      title: `Messages from ${source} fail DMARC.`,
      text: 'Open the source: it shows whether the signature or SPF fails, and the finding of the last test that explains it. Look for a change of DNS records or of the service on that day.',
      record: null,
    },
  ],
  subjectLabel: 'Source',
  subjectName: ({ value: { source } }) => source,
  domainName: ({ value: { domain } }) => domain,
  page: sourcePage,
  sampleValue: () => ({
    ...{ domain: 'example.com', source: 'Mailchimp', day: '2026-11-21' },
    ...{ messages: 1200, failed: 180 },
  }),
};
