/** The form of what receivers report, in summaries. */

import * as v from 'valibot';
import { MailShares } from '../feedback/schemas/mail-shares.ts';
import { FAILING_SHARE_TEXT, MIN_FAILING_MESSAGES, STOPPED_TEXT } from '../figures/dmarc.ts';
import { described, idOf, named } from '../http/schemas.ts';
import { MAX_FIGURE_SOURCES } from '../report/feedback-figures.ts';

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const Day = v.string();
const reporters = (type: string) =>
  described(Count, `The number of reporters that sent ${type} reports.`, 5);

const FigureSource = named(
  'FeedbackFigureSource',
  v.object({
    id: idOf('src'),
    domain_id: idOf('dom', 'The ID of the domain in From.'),
    domain: v.string(),
    name: described(v.string(), 'The name of the source, or what your team calls it.', 'SendGrid'),
    messages: described(Count, 'Messages in the period.', 840),
    passed: described(Count, 'Messages that pass DMARC.', 540),
  }),
  'A source in the figures of a period.',
);

const FigureSources = named(
  'FeedbackFigureSources',
  v.object({
    total: described(Count, 'How many there are.', 1),
    sources: described(v.array(FigureSource), `The first ${MAX_FIGURE_SOURCES} of them.`),
  }),
  'Some of the sources of a period.',
);

export const FeedbackFigures = named(
  'FeedbackFigures',
  v.object({
    from: described(Day, 'The first day, in UTC.', '2026-11-16'),
    to: described(Day, 'The last day, in UTC.', '2026-11-22'),
    reporters: reporters('DMARC'),
    messages: described(Count, 'Messages that DMARC reports count.', 12_480),
    passed: described(Count, 'Messages that pass DMARC.', 12_380),
    pass_rate: described(
      v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
      'The share of `passed` in `messages`, from 0 to 1. Null without messages.',
      0.992,
    ),
    shares: described(MailShares, 'Whose mail it is.'),
    spoofed: described(
      named(
        'SpoofedMessages',
        v.object({
          messages: described(Count, 'Messages that fail.', 120),
          stopped: described(Count, `Of these, how many were ${STOPPED_TEXT}.`, 90),
        }),
        'Messages of sources that are not yours.',
      ),
      'Messages of sources of kind `spoof`.',
    ),
    failing_sources: described(
      FigureSources,
      `Your sources with at least ${MIN_FAILING_MESSAGES} messages, of which more than ${FAILING_SHARE_TEXT} fail. Those with the most failing messages come first.`,
    ),
    new_sources: described(
      FigureSources,
      'Sources that sent nothing in the 60 days before they appeared, of which at least 14 have reports. Those with the most messages come first. A source of kind `spoof` counts only if your policy does not stop it.',
    ),
    tls: described(
      v.nullable(
        named(
          'TlsFigures',
          v.object({
            reporters: reporters('TLS'),
            sessions: described(Count, 'Sessions of mail servers that deliver to you.', 1240),
            failed: described(Count, 'Sessions that failed.', 3),
          }),
          'The sessions that TLS reports count.',
        ),
      ),
      'What TLS reports count. Null without TLS reports.',
    ),
    complaints: described(
      v.nullable(
        named(
          'ComplaintFigures',
          v.object({
            providers: described(Count, 'The number of providers that sent them.', 2),
            total: described(Count, 'The number of complaints.', 4),
          }),
          'The spam complaints of a period.',
        ),
      ),
      'Recipients who marked a message as spam. Null without complaints.',
    ),
  }),
  'What receivers report about the mail of a period.',
);
