/** `source_failing`: messages of an own server or a sending service fail DMARC, though they passed before. */

import { formatCount, formatPercent } from '../../report/summary.ts';
import { type Condition, NO } from './condition.ts';
import { findSources, sourcePage } from './of-feedback.ts';

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
    const value = { domain, source: name, day: day ?? failingSince, messages, failed };
    return { answer: 'yes', value };
  },
  findWatched: findSources,

  choice: {
    text: 'Own mail fails DMARC at receivers',
    hint: 'DMARC reports show that more than 5 % of the messages of a day fail, at least 10. They come from an own server or a sending service that passed before.',
  },
  alertsWhen: () => 'messages of an own source fail DMARC at receivers',
  documentation:
    'messages of an own server or a sending service [fail](feedback.md#who-sends-mail-from-your-domain) DMARC at receivers: more than 5 % of a day, and at least 10. They passed before',
  shortText: 'messages fail DMARC at receivers',
  openedText: ({ value: { domain, source, day, messages, failed } }) => ({
    title: `Mail of ${domain} from ${source} fails DMARC`,
    lead: `On ${day}, ${formatCount(failed)} of ${formatCount(messages)} messages (${formatPercent(failed / messages)}) from ${source} failed DMARC, as receivers report. They passed before.`,
  }),
  resolvedTitle: ({ value: { domain, source } }) =>
    `Mail of ${domain} from ${source} no longer fails DMARC`,
  unwatchedText: ({ value: { domain, source } }) => ({
    title: `${source} is no longer a source of ${domain}`,
    lead: 'The incident is resolved because the source or its domain was removed.',
  }),
  measurements: ({ value: { domain, day, messages, failed } }) => [
    ['Domain', domain],
    ['Failed', `${formatCount(failed)} of ${formatCount(messages)} messages on ${day}`],
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
  page: sourcePage,
  sampleValue: () => ({
    ...{ domain: 'example.com', source: 'Mailchimp', day: '2026-11-21' },
    ...{ messages: 1200, failed: 180 },
  }),
};
