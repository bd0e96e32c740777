/** A report as a person reads it. */

import { outcomeOf } from '../../feedback/reading/dmarc-rows.ts';
import type { ReadItem, Report } from '../../feedback/reading/report.ts';
import { explainTlsFailure } from '../../feedback/tls/explain.ts';
import { isoTime } from '../../lib/clock.ts';
import { printable } from '../../lib/log.ts';
import { type Segment, wrapStyled } from '../../report/text.ts';

interface Options {
  width: number;
  color: boolean;
}

const MAX_ROWS = 20;

/** Ends with an empty line. */
export function itemText(name: string, item: ReadItem, options: Options): string {
  const line = (segments: Segment[], indent = '  ') => wrapStyled(segments, options, indent);
  const plain = (text: string) => line([{ text: printable(text) }]);
  const title: Segment = { text: printable(name), style: 'dim' };
  if (!item.ok)
    return `${[wrapStyled([title], options), line([{ text: '✗ ', style: 'red' }, { text: printable(item.detail) }])].join('\n')}\n\n`;
  const lines = [
    wrapStyled([title], options),
    line([{ text: printable(headingOf(item.report)), style: 'bold' }]),
    ...detailsOf(item.report).map(plain),
    ...(item.repaired.length > 0 ? [plain(`Repaired: ${item.repaired.join('; ')}.`)] : []),
  ];
  return `${lines.join('\n')}\n\n`;
}

function headingOf(report: Report): string {
  const { reporter } = report;
  switch (report.type) {
    case 'dmarc':
      return `DMARC report by ${reporter} about ${report.domain ?? 'an unknown domain'}, ${period(report)}`;
    case 'tls':
      return `TLS report by ${reporter} about ${report.policies[0]?.policyDomain ?? 'an unknown domain'}, ${period(report)}`;
    case 'dmarc_failure':
      return `Failure report by ${reporter} about ${report.domain ?? 'an unknown domain'}`;
    case 'complaint':
      return `Complaint (${report.kind}) by ${reporter} about ${report.domain ?? 'an unknown domain'}`;
    case 'bounce':
      return `Bounce, reported by ${report.reportingServer ?? reporter}`;
  }
}

/** "21 Nov 2026" or "21 Nov 2026 to 23 Nov 2026", as days in UTC. */
function period({ begin, end }: { begin: number; end: number }): string {
  const [first, last] = [begin, Math.max(begin, end - 1)].map((ms) => isoTime(ms).slice(0, 10));
  return first === last ? first! : `${first} to ${last}`;
}

const messages = (count: number): string => (count === 1 ? '1 message' : `${count} messages`);

function detailsOf(report: Report): string[] {
  switch (report.type) {
    case 'dmarc': {
      const sum = (outcome: 'pass' | 'fail') =>
        report.totals
          .filter((total) => total.outcome === outcome)
          .reduce((all, { count }) => all + count, 0);
      const rows = report.rows
        .slice(0, MAX_ROWS)
        .map(
          (row) =>
            `${row.address ?? 'no address'}: ${messages(row.count)}, ${outcomeOf(row)} (DKIM ${row.dkim}, SPF ${row.spf}), ${row.disposition}${row.headerFrom && row.headerFrom !== report.domain ? `, From ${row.headerFrom}` : ''}`,
        );
      const more = report.rows.length - rows.length;
      return [
        `${messages(sum('pass') + sum('fail'))}: ${sum('pass')} passed, ${sum('fail')} failed. Policy: ${report.policy.p ?? 'unknown'}.`,
        ...rows,
        ...(more > 0 ? [`and ${more} more rows; --json shows all`] : []),
      ];
    }
    case 'tls':
      return report.policies.flatMap(
        ({ policyType, succeeded, failed, failures, policyDomain }) => [
          `${policyType}: ${succeeded} sessions succeeded, ${failed} failed`,
          ...failures.slice(0, MAX_ROWS).map(({ resultType, receivingMx, sessions }) => {
            const { meaning } = explainTlsFailure(resultType, policyDomain ?? '');
            return `${receivingMx ?? 'unknown server'}: ${sessions} × ${resultType}. ${meaning}`;
          }),
        ],
      );
    case 'dmarc_failure':
      return [
        `From ${report.message.from ?? 'unknown'}, sent by ${report.sourceAddress ?? 'an unknown address'}: ${report.authFailure.length > 0 ? `${report.authFailure.join(', ')} failed` : 'failed'}`,
        ...(report.deliveryResult ? [`Delivery: ${report.deliveryResult}`] : []),
        ...(report.message.subject ? [`Subject: ${report.message.subject}`] : []),
      ];
    case 'complaint':
      return [
        `From ${report.message.from ?? 'unknown'}, sent by ${report.sourceAddress ?? 'an unknown address'}`,
        ...(report.message.subject ? [`Subject: ${report.message.subject}`] : []),
        ...(report.derived.length > 0
          ? [`Taken from the attached message: ${report.derived.join(', ')}`]
          : []),
      ];
    case 'bounce':
      return [
        `From ${report.message.from ?? 'unknown'}`,
        ...report.recipients
          .slice(0, MAX_ROWS)
          .map(
            (recipient) =>
              `a recipient at ${recipient.domain ?? 'an unknown domain'}: ${recipient.action}, ${recipient.class}, ${recipient.status ?? 'no code'}${recipient.diagnostic ? `: ${recipient.diagnostic}` : ''}`,
          ),
      ];
  }
}
