/** `new_source`: someone sends with the domain in From who did not before, and the policy does not stop it. */

import { MIN_FAILING_MESSAGES, STOPPED_TEXT } from '../../figures/dmarc.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { type Condition, NO, UNKNOWN } from './condition.ts';
import {
  countedBy,
  countedByEvents,
  findSources,
  movedSource,
  type SourceValue,
  sourceFacts,
  sourceGone,
  sourcePage,
} from './of-feedback.ts';

interface Value extends SourceValue {
  /** The first day with at least 10 messages, in UTC. */
  since: string;
  /** The latest day of which reports tell, in UTC, its messages, and how many reporters counted them. */
  day: string;
  messages: number;
  failed: number;
  reporters: number;
}

export const newSource: Condition<'source', Value> = {
  observes: ['source'],
  threshold: null,
  history: countedByEvents('feedback.new_source'),

  evaluate({ newSince, domain, name, day, messages, failed, reporters }) {
    if (newSince === null) return NO;
    if (day === null) return UNKNOWN;
    const value = { domain, source: name, since: newSince, day, messages, failed, reporters };
    return { answer: 'yes', value };
  },
  findWatched: findSources,
  movedValue: movedSource,

  choice: {
    text: 'A new source sends mail as your domain',
    hint: `A source not seen for 60 days sends at least ${MIN_FAILING_MESSAGES} messages in one day that are not ${STOPPED_TEXT}. At least 14 of the 60 days must have reports. Resolved when you classify the source, or after 14 days.`,
  },
  alertsWhen: () => 'a new source sends mail as your domain',
  documentation: `a [new](feedback.md#who-sends-mail-from-your-domain) source that nobody has classified sends at least ${MIN_FAILING_MESSAGES} messages in one day that are not ${STOPPED_TEXT}`,
  shortText: 'a new source sends mail',
  openedText: ({ value: { domain, source, day, messages, failed, reporters } }) => ({
    title: `New source sends mail as ${domain}: ${source}`,
    lead: `On ${dayInWords(day)}, ${formatCount(failed)} of ${formatCount(messages)} messages failed DMARC${countedBy(reporters)}. Check whether this source is yours.`,
  }),
  resolvedTitle: ({ value: { domain, source } }) => `${source} is no longer new for ${domain}`,
  unwatchedText: sourceGone(
    'The incident is resolved because the source or its domain was removed.',
  ),
  measurements: ({ value: { since, day, messages, failed, reporters, ...value } }) => [
    ...sourceFacts(value),
    ['Sending since', dayInWords(since)],
    [
      `Messages on ${dayInWords(day)}`,
      `${formatCount(messages)}, of which ${formatCount(failed)} fail${countedBy(reporters)}`,
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
    domain: 'example.com',
    source: 'Mailchimp',
    since: '2026-11-21',
    day: '2026-11-21',
    messages: 40,
    failed: 0,
    reporters: 3,
  }),
};
