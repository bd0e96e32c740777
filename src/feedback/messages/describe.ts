/** Complaints and bounces as lists show them: with the reporter, the source, and what explains a bounce. */

import type { Db } from '../../store/open.ts';
import type { BounceRow, ComplaintRow } from '../../store/tables.generated.ts';
import { explainBounce } from '../bounces/explain.ts';
import { readFindings } from '../bounces/findings.ts';
import { presentBounce, presentComplaint } from '../present.ts';
import { reporterTitle } from '../record/reporters.ts';
import type { ListedBounce, ListedComplaint } from '../schemas/message.ts';
import { readSources, type SenderEvidence } from './sources.ts';

export async function describeComplaints(db: Db, rows: ComplaintRow[]): Promise<ListedComplaint[]> {
  const [reporters, finders] = await Promise.all([
    reportersOf(db, rows),
    perDomain(rows, (domain, its) => readSources(db, domain, its.map(complaintEvidence))),
  ]);
  return rows.map((row) => ({
    ...presentComplaint(row),
    reporter: reporters.get(row.report_id) ?? null,
    source: finders.get(row.domain_id!)?.(complaintEvidence(row)) ?? null,
  }));
}

export const complaintEvidence = ({
  address,
  dkim_domain,
}: Pick<ComplaintRow, 'address' | 'dkim_domain'>): SenderEvidence => ({
  address,
  signers: dkim_domain === null ? [] : [dkim_domain],
});

export async function describeBounces(db: Db, rows: BounceRow[]): Promise<ListedBounce[]> {
  const [reporters, messages] = await Promise.all([
    reportersOf(db, rows),
    messagesOf(
      db,
      rows.map(({ report_id }) => report_id),
    ),
  ]);
  const evidenceOf = (row: BounceRow) =>
    bounceEvidence(row.reporting_server, messages.get(row.report_id));
  const explained = rows.map((row) => ({ row, explanation: explainBounce(row) }));
  const rejected = explained.filter(({ explanation }) => (explanation?.checks.length ?? 0) > 0);
  const [sources, findings] = await Promise.all([
    perDomain(rows, (domain, its) => readSources(db, domain, its.map(evidenceOf))),
    perDomain(
      rejected.map(({ row }) => row),
      (domain) => readFindings(db, domain),
    ),
  ]);
  return explained.map(({ row, explanation }) => ({
    ...presentBounce(row),
    subject: messages.get(row.report_id)?.subject ?? null,
    reporter: reporters.get(row.report_id) ?? null,
    source: sources.get(row.domain_id!)?.(evidenceOf(row)) ?? null,
    finding: explanation ? (findings.get(row.domain_id!)?.(explanation.checks) ?? null) : null,
  }));
}

/** What is kept of a message that bounced. */
interface KeptMessage {
  subject?: string | null;
  receivedHosts?: string[];
  dkim?: { domain: string }[];
}

/** The server that reports a bounce is often the one that sent it; else the message names it. */
export const bounceEvidence = (
  reportingServer: string | null,
  { receivedHosts = [], dkim = [] }: KeptMessage = {},
): SenderEvidence => ({
  hosts: [...(reportingServer === null ? [] : [reportingServer.toLowerCase()]), ...receivedHosts],
  signers: dkim.map(({ domain }) => domain),
});

/** The messages of bounces, by the ID of the report. */
export async function messagesOf(db: Db, reports: string[]): Promise<Map<string, KeptMessage>> {
  if (reports.length === 0) return new Map();
  const rows = await db
    .selectFrom('feedback_reports')
    .select(['id', 'content'])
    .where('id', 'in', [...new Set(reports)])
    .execute();
  return new Map(
    rows.map(({ id, content }) => [
      id,
      (JSON.parse(content) as { message?: KeptMessage }).message ?? {},
    ]),
  );
}

/** The names of the reporters, by the ID of the report. */
async function reportersOf(db: Db, rows: { report_id: string }[]): Promise<Map<string, string>> {
  if (rows.length === 0) return new Map();
  const found = await db
    .selectFrom('feedback_reports')
    .innerJoin('feedback_reporters', 'feedback_reporters.id', 'feedback_reports.reporter_id')
    .select(['feedback_reports.id', reporterTitle.as('name')])
    .where(
      'feedback_reports.id',
      'in',
      rows.map(({ report_id }) => report_id),
    )
    .execute();
  return new Map(found.map(({ id, name }) => [id, name]));
}

async function perDomain<Row extends { domain_id: string | null }, Result>(
  rows: Row[],
  read: (domain: string, rows: Row[]) => Promise<Result>,
): Promise<Map<string, Result>> {
  const groups = Map.groupBy(rows, ({ domain_id }) => domain_id!);
  const results = new Map<string, Result>();
  for (const [domain, its] of groups) results.set(domain, await read(domain, its));
  return results;
}
