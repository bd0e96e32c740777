/** The form of what Google and Microsoft publish, in summaries. */

import * as v from 'valibot';
import { valuesOf } from '../figures/figure.ts';
import { ERROR_RATES, SPAM_RATE } from '../figures/gmail.ts';
import { described, named, Time } from '../http/schemas.ts';
import { MAX_FIGURE_ADDRESSES, MAX_FIGURE_DOMAINS } from '../report/receiver-figures.ts';

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const Rate = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
const Day = v.string();

const DayRate = {
  day: Day,
  rate: described(Rate, 'The rate, from 0 to 1.', 0.0012),
};

const SpamRateDay = named('SpamRateDay', v.object(DayRate), 'The spam rate of a day.');

const DeliveryErrors = named(
  'GmailDeliveryErrors',
  v.object({
    ...DayRate,
    reason: described(
      v.nullable(v.string()),
      'The most frequent reason of the day, as Google names it. Null if none was published.',
      'low_ip_reputation',
    ),
  }),
  'Delivery errors of the day with the highest rate.',
);

const Requirements = named(
  'GmailRequirements',
  v.object({
    checked_at: described(Time, 'When the requirements were last read.'),
    needs_work: described(
      v.array(
        named(
          'RequirementToFix',
          v.object({
            requirement: described(v.string(), 'The name that Google uses.', 'DMARC_ALIGNMENT'),
            name: described(v.string(), 'The name for people.', 'DMARC alignment'),
            since: described(
              v.nullable(Time),
              'When it started. Null if the requirement was already unmet when it was first read.',
            ),
          }),
          'A requirement that the domain does not meet.',
        ),
      ),
      'The requirements that need work.',
    ),
  }),
  'Whether a domain meets Google’s requirements for senders.',
);

const GmailDomain = named(
  'GmailDomainFigures',
  v.object({
    domain_id: v.string(),
    domain: v.string(),
    [SPAM_RATE.name]: described(
      v.nullable(
        named(
          'SpamRateFigures',
          v.object({
            days: described(Count, 'The number of days with a spam rate.', 5),
            latest: described(SpamRateDay, 'The latest of these days.'),
            highest: described(SpamRateDay, 'The day with the highest rate.'),
          }),
          'The user-reported spam rate at Gmail.',
        ),
      ),
      'Messages that users reported as spam, among those that reached their inboxes. Null if Google published no rate.',
    ),
    ...valuesOf(ERROR_RATES, 'ofPeriod', ({ ofPeriod }) =>
      described(
        v.nullable(DeliveryErrors),
        `Messages that Gmail ${ofPeriod}. Null if no rate above 0 was published.`,
      ),
    ),
    requirements: described(
      v.nullable(Requirements),
      'What Google says about its requirements. Null if they were not read since the start of the period.',
    ),
  }),
  'What Google publishes about a domain.',
);

const SpamAddress = named(
  'OutlookSpamAddress',
  v.object({
    address: v.string(),
    days: described(Count, 'The number of days with data.', 5),
    red_days: described(Count, 'Of these, the days with filter result `RED`.', 2),
  }),
  'An address whose mail is over 90% spam to Outlook.',
);

const BlockedAddress = named(
  'OutlookBlockedAddress',
  v.object({
    address: described(
      v.string(),
      'The IP address, or the first and last address of a range: `192.0.2.0-192.0.2.255`.',
    ),
    since: described(Time, 'When this was first seen.'),
    details: described(
      v.string(),
      'What Microsoft says about it.',
      'Blocked due to user complaints',
    ),
  }),
  'An address that Outlook blocks.',
);

const Outlook = named(
  'OutlookFigures',
  v.object({
    days: described(Count, 'The number of days with data.', 6),
    addresses: described(Count, 'The number of addresses with data.', 4),
    spam: described(
      named(
        'OutlookSpamAddresses',
        v.object({
          total: described(Count, 'How many there are.', 1),
          addresses: described(v.array(SpamAddress), `The first ${MAX_FIGURE_ADDRESSES} of them.`),
        }),
        'Addresses with filter result `RED`.',
      ),
      'Addresses with filter result `RED` on at least one day. Those with the most such days come first.',
    ),
    blocked: described(
      v.nullable(
        named(
          'OutlookBlockedAddresses',
          v.object({
            checked_at: described(Time, 'When the state of the addresses was last read.'),
            total: described(Count, 'How many there are.', 1),
            addresses: described(
              v.array(BlockedAddress),
              `The first ${MAX_FIGURE_ADDRESSES} of them.`,
            ),
          }),
          'Blocked addresses and ranges.',
        ),
      ),
      'Addresses that Outlook blocks. Null if their state was not read since the start of the period.',
    ),
  }),
  'What Microsoft publishes about addresses.',
);

export const ReceiverFigures = named(
  'ReceiverFigures',
  v.object({
    from: described(Day, 'The first day.', '2026-11-16'),
    to: described(Day, 'The last day.', '2026-11-22'),
    gmail: described(
      named(
        'GmailFigures',
        v.object({
          total: described(Count, 'The number of domains about which Google published data.', 1),
          domains: described(v.array(GmailDomain), `The first ${MAX_FIGURE_DOMAINS} of them.`),
        }),
        'What Google publishes about the domains.',
      ),
      'What Google publishes. The domains with the worst figures come first.',
    ),
    outlook: described(
      v.nullable(Outlook),
      'What Microsoft publishes about the addresses that send for the domain, or about all addresses. Null without data.',
    ),
  }),
  'What Google and Microsoft publish about the mail of a period.',
);
