/** What makes two reports the same, and their figures the same. */

import { sha256 } from '../../lib/crypto.ts';
import { LIMITS } from './limits.ts';
import type { DmarcReport, DmarcRow, Report } from './report.ts';

interface Identity {
  /** A hash: two reports of one reporter with the same one are copies, if their figures are the same too. */
  identity: string;
  /** The same with the name that the report gives its reporter. Anyone can write that name. */
  fileIdentity: string;
}

/** `body`: what a signature covers of the message that carried the report. */
export function identityOf(report: Report, body: Uint8Array): Identity {
  const { type, reporter } = report;
  const identifiers = identifiersOf(report, body);
  const identity = hashOf([type, ...identifiers]);
  return {
    identity,
    fileIdentity: isPeriodic(type) ? hashOf([type, reporter, ...identifiers]) : identity,
  };
}

const hashOf = (values: unknown[]): string => sha256(JSON.stringify(values));

/** Other reports are about one message. */
export const isPeriodic = (type: string | null): boolean => type === 'dmarc' || type === 'tls';

/** The identity of a report among all reporters; `reporter` is null if nobody is authenticated. */
export const ofReporter = (reporter: string | null, identity: string): string =>
  hashOf([reporter, identity]);

interface Period {
  type: string;
  reportId: string;
  domain: string | null;
  begin: number;
  end: number;
  /** False if the period follows from the arrival, which differs between copies. */
  isDated?: boolean;
}

/** The `identity` of a stored report of a period. */
export const periodIdentity = (period: Period): string =>
  hashOf([period.type, ...periodIdentifiers(period)]);

function periodIdentifiers({ type, reportId, domain, isDated = true, ...period }: Period) {
  const [begin, end] = isDated ? [period.begin, period.end] : [null, null];
  return type === 'dmarc' ? [reportId, domain, begin, end] : [reportId, begin, end, domain];
}

/**
 * A hash of what every signature of a body covers, whatever its canonicalization (RFC 6376 §3.4.4). The header does not
 * count: fields that are not signed can be changed, and the message sent again.
 */
export function signedContent(body: Uint8Array): string {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  return sha256(
    text
      .replace(/[ \t]+/g, ' ')
      .replace(/ ?\r?\n/g, '\n')
      .trimEnd(),
  );
}

function identifiersOf(report: Report, body: Uint8Array): unknown[] {
  switch (report.type) {
    case 'dmarc':
      return periodIdentifiers(report);
    case 'tls':
      // A report is split by policy domain.
      return periodIdentifiers({ ...report, domain: report.policies[0]?.policyDomain ?? null });
    case 'dmarc_failure':
    case 'complaint':
      return [signedContent(body)];
    case 'bounce':
      return [
        report.envelopeId ?? report.message.messageId ?? signedContent(body),
        ...report.recipients.map(({ key, status, action }) => `${key} ${status} ${action}`).sort(),
      ];
  }
}

/** A hash of the counts: a copy with other ones is a conflict. */
export const figuresOf = (report: Report): string => sha256(JSON.stringify(figures(report)));

/** Sums count by result alone, so that the figures stay the same if rows are summed up in another way. */
function dmarcFigures({ rows, foldedRows }: DmarcReport): string[] {
  const kept = foldedRows > 0 ? LIMITS.rows : rows.length;
  const sums = new Map<string, DmarcRow>();
  for (const row of rows.slice(kept)) {
    const key = `${row.dkim} ${row.spf} ${row.disposition}`;
    const count = (sums.get(key)?.count ?? 0) + row.count;
    sums.set(key, { ...row, address: null, count });
  }
  return [...rows.slice(0, kept), ...sums.values()]
    .map(({ address, count, disposition, dkim, spf, headerFrom }) =>
      JSON.stringify([address, count, disposition, dkim, spf, headerFrom]),
    )
    .sort();
}

function figures(report: Report): unknown {
  switch (report.type) {
    case 'dmarc':
      return dmarcFigures(report);
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
