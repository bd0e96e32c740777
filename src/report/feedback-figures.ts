/** What receivers report about the mail of a period, or about the sender of one test: the figures and their sentences. */

import { failedOf, MIN_FAILING_MESSAGES, STOPPED_TEXT } from '../figures/dmarc.ts';
import { formatShare, othersInWords } from '../figures/mail-shares.ts';
import { formatCount } from '../lib/format/numbers.ts';
import { truncate } from '../lib/format/plain-text.ts';
import { dateIn } from '../lib/format/times.ts';
import type { State } from '../ui/components.tsx';
import type { ReportedSource } from './report.ts';
import type { FeedbackFigures, FigureSource, FigureSources } from './summary.ts';

/** How many sources of each list are in the figures. */
export const MAX_FIGURE_SOURCES = 10;

export const RECEIVERS_TITLE = 'What receivers report';

/** One figure with its basis. */
export interface FigureRow {
  name: string;
  basis: string;
  value: string;
  /** null for a figure that is neither good nor bad. */
  state: State | null;
}

/** The rows that all media show. Spoofing is a number, and what is not known has no row. */
export const figureRows = (figures: FeedbackFigures): FigureRow[] => [
  ...messageRows(figures),
  ...tlsRow(figures),
  ...complaintRow(figures),
];

function messageRows(figures: FeedbackFigures): FigureRow[] {
  const { messages, passed, reporters, failing_sources, new_sources, spoofed, shares } = figures;
  if (messages === 0) return [];
  return [
    row('Messages', formatCount(messages), `Reported by ${formatCount(reporters, 'reporter')}`),
    shares.own === 0
      ? row(
          'Passed DMARC',
          formatShare(passed, messages),
          othersInWords(shares) ?? partInWords(passed, messages),
        )
      : row(
          'Your own mail',
          formatShare(shares.own_passed, shares.own),
          [`${partInWords(shares.own_passed, shares.own)} passed DMARC`, othersInWords(shares)]
            .filter((part) => part !== null)
            .join('; '),
        ),
    failing_sources.total === 0
      ? row(
          'Failing sources',
          'None',
          `Among your servers and services with at least ${MIN_FAILING_MESSAGES} messages`,
        )
      : {
          ...row(
            'Failing sources',
            formatCount(failing_sources.total),
            listOf(
              failing_sources,
              (each) =>
                `${formatCount(failedOf(each))} of ${formatCount(each.messages, 'message')} failed`,
            ),
          ),
          state: 'warn',
        },
    ...(new_sources.total === 0
      ? []
      : [
          row(
            'New sources',
            formatCount(new_sources.total),
            listOf(
              new_sources,
              ({ messages: count, passed: good }) =>
                `${formatCount(count, 'message')}, ${formatShare(good, count)} passed`,
            ),
          ),
        ]),
    ...(spoofed.messages === 0
      ? []
      : [
          row(
            'Not yours',
            formatCount(spoofed.messages),
            `Messages, of which ${formatCount(spoofed.stopped)} were ${STOPPED_TEXT}`,
          ),
        ]),
  ];
}

const row = (name: string, value: string, basis: string): FigureRow => ({
  name,
  value,
  basis,
  state: null,
});

function tlsRow({ tls }: FeedbackFigures): FigureRow[] {
  if (tls === null) return [];
  const { failed, sessions, reporters } = tls;
  const basis = `Of ${formatCount(sessions, 'session')}, reported by ${formatCount(reporters, 'reporter')}`;
  return [row('TLS failures', failed === 0 ? 'None' : formatCount(failed), basis)];
}

function complaintRow({ complaints }: FeedbackFigures): FigureRow[] {
  if (complaints === null) return [];
  const { total, providers } = complaints;
  return [row('Spam complaints', formatCount(total), `From ${formatCount(providers, 'provider')}`)];
}

const MAX_NAMED = 3;
const MAX_NAME_LENGTH = 60;

/** `SendGrid: 300 of 840 messages failed; 2 more`. The domain is named if there are several. */
function listOf(
  { total, sources }: FigureSources,
  inWords: (source: FigureSource) => string,
): string {
  const named = sources.slice(0, MAX_NAMED);
  const hasDomains = new Set(named.map(({ domain_id }) => domain_id)).size > 1;
  const parts = named.map((source) => {
    const domain = hasDomains ? ` (${truncate(source.domain, MAX_NAME_LENGTH)})` : '';
    return `${truncate(source.name, MAX_NAME_LENGTH)}${domain}: ${inWords(source)}`;
  });
  const rest = total - named.length;
  return [...parts, ...(rest > 0 ? [`${formatCount(rest)} more`] : [])].join('; ');
}

const partInWords = (part: number, whole: number): string =>
  `${formatCount(part)} of ${formatCount(whole, 'message')}`;

/** `Mon 16 Nov 2026 to Sun 22 Nov 2026 (UTC)`. */
export function figureDays({ from, to }: Pick<FeedbackFigures, 'from' | 'to'>): string {
  const days = [...new Set([from, to])].map((day) => dateIn(`${day}T00:00:00.000Z`, 'UTC'));
  return `${days.join(' to ')} (UTC)`;
}

/** Follows the rows. */
export const figuresNote = (figures: FeedbackFigures): string =>
  `${figureDays(figures)}. Receivers report a day or two later, so the last days may be incomplete.`;

/** `Receivers reported 12,480 messages from Mailchimp in the last 30 days; 99.2% passed DMARC.` */
export const reportedSourceSentence = ({ name, messages, passed }: ReportedSource): string =>
  `Receivers reported ${formatCount(messages, 'message')} from ${truncate(name, MAX_NAME_LENGTH)} in the last 30 days; ${formatShare(passed, messages)} passed DMARC.`;

/** `Reports from 5 reporters about example.com, …`. */
export const reportedSourceBasis = (source: ReportedSource): string =>
  `Reports from ${formatCount(source.reporters, 'reporter')} about ${truncate(source.domain, 255)}, ${figureDays(source)}. Shared links do not show this.`;
