/** What makes two reports the same, and their figures the same. */

import { sha256 } from '../../lib/crypto.ts';
import type { Report } from './report.ts';

/** What carried the report. */
export interface Carrier {
  messageId: string | null;
  date: number | null;
  /** A hash of the message or file. */
  content: string;
}

/** A hash: two reports with the same one are copies, if their figures are the same too. */
export const identityOf = (report: Report, carrier: Carrier): string =>
  sha256(JSON.stringify([report.type, ...identifiers(report, carrier)]));

function identifiers(report: Report, { messageId, date, content }: Carrier): unknown[] {
  switch (report.type) {
    case 'dmarc':
      return [report.reporter, report.reportId, report.domain, report.begin, report.end];
    case 'tls':
      return [
        report.reporter,
        report.reportId,
        report.begin,
        report.end,
        // A report is split by policy domain.
        report.policies[0]?.policyDomain ?? null,
      ];
    case 'dmarc_failure':
    case 'complaint':
      return messageId === null ? [content] : [messageId, date];
    case 'bounce':
      return [
        report.envelopeId ?? report.message.messageId ?? messageId ?? content,
        ...report.recipients.map(({ key, status, action }) => `${key} ${status} ${action}`).sort(),
      ];
  }
}

/** A hash of the counts: a copy with other ones is a conflict. */
export const figuresOf = (report: Report): string => sha256(JSON.stringify(figures(report)));

function figures(report: Report): unknown {
  switch (report.type) {
    case 'dmarc':
      return report.rows
        .map((row) =>
          JSON.stringify([
            row.address,
            row.count,
            row.disposition,
            row.dkim,
            row.spf,
            row.headerFrom,
          ]),
        )
        .sort();
    case 'tls':
      return report.policies.map(({ policyType, succeeded, failed }) => [
        policyType,
        succeeded,
        failed,
      ]);
    case 'dmarc_failure':
    case 'complaint':
      return [report.incidents, report.message.messageId];
    case 'bounce':
      return null;
  }
}
