/** What DMARC reports count: messages by their result, and by what receivers did with them. */

import { rateInWords } from '../lib/format/numbers.ts';
import type { Figure } from './figure.ts';

/** Tables of sums have a column of the same name. */
const counted = <Name extends string>(name: Name, description: string, example: number) =>
  ({
    name,
    unit: 'count',
    title: name[0]!.toUpperCase() + name.slice(1),
    description,
    example,
  }) as const satisfies Figure;

const stopped = <Name extends string, Disposition extends string, Fill extends string>(
  name: Name,
  disposition: Disposition,
  fill: Fill,
  example: number,
) => ({
  ...counted(name, `Messages that receivers ${name} because of the policy`, example),
  disposition,
  fill,
});

/** What receivers do with messages that the policy stops, in a word, the disposition in reports, and the pattern in charts. */
export const STOPPED = [
  stopped('quarantined', 'quarantine', 'dotted', 2),
  stopped('rejected', 'reject', 'hollow', 0),
] as const;

type Stopped = (typeof STOPPED)[number]['name'];
export type StoppedCounts = Record<Stopped, number>;

/** How many messages the policy stopped. */
export const stoppedOf = (counts: StoppedCounts): number =>
  STOPPED.reduce((sum, { name }) => sum + counts[name], 0);

export const STOPPED_NAMES = STOPPED.map(({ name }) => name);
/** For texts. */
export const STOPPED_TEXT = STOPPED_NAMES.join(' or ');

const PASSED = counted('passed', 'Messages that pass DMARC', 40);
const FAILED = counted(
  'failed',
  `Messages that fail DMARC. They may have been delivered: see \`none\`, ${STOPPED_NAMES.map((name) => `\`${name}\``).join(' and ')}`,
  5,
);

/** The columns of tables by day and by reporter. */
export const OUTCOMES = [PASSED, FAILED, ...STOPPED];

/** By day, for each domain. */
export const DMARC_COUNTS = [
  counted('messages', 'All messages', 45),
  PASSED,
  FAILED,
  counted('none', 'Messages to which no policy was applied', 43),
  ...STOPPED,
  counted('overridden', 'Messages for which a receiver did not apply the policy', 3),
] as const;

export type DmarcCounts = Record<(typeof DMARC_COUNTS)[number]['name'], number>;

// When own mail fails.

/** A sender of own mail fails if more than this share of its messages does. */
export const FAILING_SHARE = 0.05;
/** Fewer messages say little. */
export const MIN_FAILING_MESSAGES = 10;
export const FAILING_SHARE_TEXT = rateInWords(FAILING_SHARE);

export const failedOf = ({ messages, passed }: Pick<DmarcCounts, 'messages' | 'passed'>): number =>
  messages - passed;

export const failsDmarc = (counts: Pick<DmarcCounts, 'messages' | 'passed'>): boolean =>
  failedOf(counts) > counts.messages * FAILING_SHARE;
