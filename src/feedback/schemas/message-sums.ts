/** API schemas of the sums of complaints and bounces. */

import * as v from 'valibot';
import { Count, described, exampleId, named, Text, typeField } from '../../http/schemas.ts';
import { byClass } from '../reading/report.ts';
import { DAYS } from './period.ts';

/** A count for each value of a column. */
const countBy = <Column extends string>(
  name: string,
  column: Column,
  text: string,
  example: string,
) =>
  named(
    name,
    v.object({
      [column]: described(Text, text, example),
      count: described(Count, 'How many.', 2),
    } as Record<Column, v.GenericSchema<string | null>> & { count: v.GenericSchema<number> }),
    `A count by ${column.replace('_', ' ')}.`,
  );

const CountByDay = named(
  'CountByDay',
  v.object({
    date: v.string(),
    count: described(Count, 'How many.', 2),
  }),
  'A count by day.',
);

const BounceDay = named(
  'BounceDay',
  v.object({
    date: v.string(),
    count: described(Count, 'All bounces of the day.', 2),
    ...byClass((one) =>
      described(Count, `Those of the class \`${one}\`.`, one === 'policy' ? 2 : 0),
    ),
  }),
  'The bounces of a day, by class.',
);

const CountBySource = named(
  'CountBySource',
  v.object({
    source_id: described(
      Text,
      'The ID of the source; null if it is unknown, or no DMARC report has named it yet.',
    ),
    name: described(Text, 'Its name; null for all unknown sources.', 'Mailchimp'),
    count: described(Count, 'How many.', 2),
    messages: described(
      v.nullable(Count),
      'Messages of the source that DMARC reports count in the period.',
      1200,
    ),
  }),
  'A count by source.',
);

const REPORTED_MESSAGES = described(
  Count,
  'Messages of the domain that DMARC reports count in the period, to compare with.',
  1200,
);

const BY_SOURCE = [{ source_id: exampleId('src'), name: 'Mailchimp', count: 2, messages: 1200 }];

const CountByKind = countBy('CountByKind', 'kind', 'The kind.', 'abuse');

const CountByProvider = countBy('CountByProvider', 'provider', 'The provider.', 'example.net');

const CountByAddress = countBy('CountByAddress', 'address', 'The IP address.', '192.0.2.1');

const CountByClass = countBy('CountByClass', 'class', 'The class.', 'policy');

const CountByCode = countBy('CountByCode', 'status_code', 'The enhanced status code.', '5.7.26');

export const ComplaintSummary = named(
  'ComplaintSummary',
  v.object({
    object: typeField('complaint_summary'),
    ...DAYS,
    total: described(Count, 'Complaints of the kind `abuse`.', 2),
    messages: REPORTED_MESSAGES,
    days: described(v.array(CountByDay), 'Complaints by day.', [{ date: '2026-11-21', count: 2 }]),
    kinds: described(v.array(CountByKind), 'All kinds, such as `not-spam`.', [
      { kind: 'abuse', count: 2 },
    ]),
    providers: described(v.array(CountByProvider), 'Complaints by provider.', [
      { provider: 'example.net', count: 2 },
    ]),
    addresses: described(v.array(CountByAddress), 'Complaints by sending address.', [
      { address: '192.0.2.1', count: 2 },
    ]),
    sources: described(v.array(CountBySource), 'Complaints by source.', BY_SOURCE),
  }),
  'The complaints about a domain.',
);

export const BounceSummary = named(
  'BounceSummary',
  v.object({
    object: typeField('bounce_summary'),
    ...DAYS,
    total: described(Count, 'All bounces.', 2),
    messages: REPORTED_MESSAGES,
    days: described(v.array(BounceDay), 'Bounces by day.', [
      { date: '2026-11-21', count: 2, ...byClass((one) => (one === 'policy' ? 2 : 0)) },
    ]),
    classes: described(v.array(CountByClass), 'Bounces by class.', [{ class: 'policy', count: 2 }]),
    providers: described(v.array(CountByProvider), 'Bounces by provider.', [
      { provider: 'example.net', count: 2 },
    ]),
    codes: described(v.array(CountByCode), 'Bounces by code.', [
      { status_code: '5.7.26', count: 2 },
    ]),
    sources: described(
      v.array(CountBySource),
      'Bounces by source, identified by the reporting server or, for the newest 500 of the others, by the returned message.',
      BY_SOURCE,
    ),
    sources_unread: described(
      Count,
      'Bounces that `sources` leaves out: their reporting server is not a source of the domain, and their returned message was not read.',
      0,
    ),
  }),
  'The bounces of a domain.',
);
