/** `new_source`: someone sends with the domain in From who did not before, and the policy does not stop it. */

import { formatCount } from '../../report/summary.ts';
import { dayInWords } from '../../report/times.ts';
import { type Condition, NO, UNKNOWN } from './condition.ts';
import { findSources, sourcePage, sourceRemoved } from './of-feedback.ts';

interface Value {
  /** The name of the domain. */
  domain: string;
  /** The name of the source. */
  source: string;
  /** The first day with at least 10 messages, in UTC. */
  since: string;
  /** Of the latest day of which reports tell. */
  messages: number;
  failed: number;
}

export const newSource: Condition<'source', Value> = {
  observes: ['source'],
  threshold: null,

  evaluate({ newSince, domain, name, messages, failed }) {
    if (newSince === null) return NO;
    if (messages === 0) return UNKNOWN;
    return { answer: 'yes', value: { domain, source: name, since: newSince, messages, failed } };
  },
  findWatched: findSources,

  choice: {
    text: 'A new source sends mail as your domain',
    hint: 'A source not seen for 60 days sends at least 10 messages in one day that are not quarantined or rejected. Resolved when you classify the source, or after 14 days.',
  },
  alertsWhen: () => 'a new source sends mail as your domain',
  documentation:
    'a [source](feedback.md#who-sends-mail-from-your-domain) not seen for 60 days sends at least 10 messages in one day that are not quarantined or rejected',
  shortText: 'a new source sends mail',
  openedText: ({ value: { domain, source, messages, failed } }) => ({
    title: `New source sends mail as ${domain}: ${source}`,
    lead: `On the latest day, ${formatCount(failed)} of ${formatCount(messages)} messages failed DMARC. Check whether this source is yours.`,
  }),
  resolvedTitle: ({ value: { domain, source } }) => `${source} is no longer new for ${domain}`,
  unwatchedText: sourceRemoved,
  measurements: ({ value: { domain, since, messages, failed } }) => [
    ['Domain', domain],
    ['Sending since', dayInWords(since)],
    [
      'Messages on the latest day with reports',
      `${formatCount(messages)}, of which ${formatCount(failed)} fail`,
    ],
  ],
  isRelevantFix: () => false,
  fixes: ({ value: { source } }) => [
    {
      title: '',
      text: `Open the source and classify it as ours, a forwarder, or not ours. If ${source} is yours and fails, set it up with DKIM for your domain.`,
      record: null,
    },
  ],
  subjectLabel: 'Source',
  subjectName: ({ value: { source } }) => source,
  domainName: ({ value: { domain } }) => domain,
  page: sourcePage,
  sampleValue: () => ({
    ...{ domain: 'example.com', source: 'Mailchimp', since: '2026-11-21' },
    ...{ messages: 40, failed: 0 },
  }),
};
