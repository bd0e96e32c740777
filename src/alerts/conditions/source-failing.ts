/** `source_failing`: messages of one of the domain’s servers or sending services fail DMARC, though they passed before. */

import { FAILING_SHARE_TEXT, MIN_FAILING_MESSAGES } from '../../figures/dmarc.ts';
import { formatCount, formatPercent } from '../../lib/format/numbers.ts';
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
  /** The latest day of which reports tell, in UTC, and its messages. */
  day: string;
  messages: number;
  failed: number;
  /** How many reporters counted them. */
  reporters: number;
}

const FAILS = `${FAILING_SHARE_TEXT} of a source’s messages in a day, and at least ${MIN_FAILING_MESSAGES} of them, fail DMARC; they passed before`;

export const sourceFailing: Condition<'source', Value> = {
  observes: ['source'],
  threshold: null,
  history: countedByEvents('feedback.source_failing'),

  evaluate({ failingSince, domain, name, day, messages, failed, reporters }) {
    if (failingSince === null) return NO;
    // Silent since: nothing new to report about.
    if (day === null) return UNKNOWN;
    const value = { domain, source: name, day, messages, failed, reporters };
    return { answer: 'yes', value };
  },
  // Nobody knows whether mail of a silent source would pass, and that of others should not.
  resolutionOf(_opened, { day, isOurs }, { answer }) {
    if (answer !== 'no') return null;
    return day === null || !isOurs ? 'no_longer_watched' : 'condition_ended';
  },
  findWatched: findSources,
  movedValue: movedSource,

  choice: {
    text: 'Your mail fails DMARC at receivers',
    hint: `More than ${FAILS}. The source is one of your servers or sending services.`,
  },
  alertsWhen: () => `more than ${FAILS}`,
  documentation: `more than ${FAILS.replace('’', "'")}. The source is one of your [servers or sending services](feedback.md#who-sends-mail-from-your-domain)`,
  shortText: 'messages fail DMARC at receivers',
  openedText: ({ value: { domain, source, day, messages, failed, reporters } }) => ({
    title: `Mail from ${domain} sent through ${source} fails DMARC`,
    lead: `On ${dayInWords(day)}, ${formatCount(failed)} of ${formatCount(messages)} messages (${formatPercent(failed / messages)}) from ${source} failed DMARC${countedBy(reporters)}. Earlier messages passed. Mail that fails DMARC may still be delivered.`,
  }),
  resolvedTitle: ({ value: { domain, source } }) =>
    `Mail from ${domain} sent through ${source} no longer fails DMARC`,
  unwatchedText: sourceGone(
    'The incident is resolved: someone classified the source as not yours, it was removed, or it sent few messages for two weeks. The problem may persist.',
  ),
  measurements: ({ value: { day, messages, failed, reporters, ...value } }) => [
    ...sourceFacts(value),
    [
      'Failed',
      `${formatCount(failed)} of ${formatCount(messages)} messages on ${dayInWords(day)}${countedBy(reporters)}`,
    ],
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
    domain: 'example.com',
    source: 'Mailchimp',
    day: '2026-11-21',
    messages: 1200,
    failed: 180,
    reporters: 4,
  }),
};
