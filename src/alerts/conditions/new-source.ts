/** `new_source`: someone sends with the domain in From who did not before, and the policy does not stop it. */

import { formatCount } from '../../report/summary.ts';
import { type Condition, NO } from './condition.ts';
import { findSources, sourcePage } from './of-feedback.ts';

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
    return { answer: 'yes', value: { domain, source: name, since: newSince, messages, failed } };
  },
  findWatched: findSources,

  choice: {
    text: 'A new source sends in your name',
    hint: 'DMARC reports show at least 10 messages a day of a source that was not seen for 60 days. They pass, or the policy does not stop them. Ends when you classify the source, or after 14 days.',
  },
  alertsWhen: () => 'a new source sends in your name',
  documentation:
    'a [source](feedback.md#who-sends-mail-from-your-domain) that was not seen for 60 days sends at least 10 messages a day. They pass, or the policy does not stop them. Ends when someone classifies the source, or after 14 days',
  shortText: 'a new source sends mail',
  openedText: ({ value: { domain, source, since, messages, failed } }) => ({
    title: `${source} sends mail as ${domain}, which is new`,
    lead: `Since ${since}, receivers report messages from ${source}. Of ${formatCount(messages)} on the latest day, ${failed === 0 ? 'all pass' : `${formatCount(failed)} fail`} DMARC. Is it yours?`,
  }),
  resolvedTitle: ({ value: { domain, source } }) => `${source} is no longer new for ${domain}`,
  unwatchedText: ({ value: { domain, source } }) => ({
    title: `${source} is no longer a source of ${domain}`,
    lead: 'The incident is resolved because the source or its domain was removed.',
  }),
  measurements: ({ value: { domain, since, messages, failed } }) => [
    ['Domain', domain],
    ['First day', since],
    [
      'Messages on the latest day',
      `${formatCount(messages)}, of which ${formatCount(failed)} fail`,
    ],
  ],
  isRelevantFix: () => false,
  fixes: ({ value: { source } }) => [
    {
      title: '',
      text: `Open the source and say what it is: ours, a forwarder, or not ours. If ${source} is yours and fails, set it up with DKIM for your domain.`,
      record: null,
    },
  ],
  subjectLabel: 'Source',
  subjectName: ({ value: { source } }) => source,
  page: sourcePage,
  sampleValue: () => ({
    ...{ domain: 'example.com', source: 'Mailchimp', since: '2026-11-21' },
    ...{ messages: 40, failed: 0 },
  }),
};
