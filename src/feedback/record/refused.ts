/** Who sent a refused report. Only a message that a known or confirmed reporter signed shows that a report is missing. */

import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import type { Tx } from '../../store/open.ts';
import type { FeedbackMailRow, FeedbackReportRow } from '../../store/tables.generated.ts';
import type { Refusal, ReportType } from '../reading/report.ts';
import { type ReporterIdentity, type Signer, signedReporter } from '../senders/reporter.ts';
import { findDomains } from './domains.ts';
import { sightingOf, trustedReporters, upsertReporter } from './reporters.ts';

/** The types that reporters send regularly, so that a refused one is missing. */
const PERIODIC: ReportType[] = ['dmarc', 'tls'];

type Signed = Pick<
  FeedbackReportRow,
  | 'reporter_id'
  | 'verified'
  | 'domain_id'
  | 'policy_domain'
  | 'period_from'
  | 'period_to'
  | 'figures'
>;

/** The columns that identify the missing report. Null if anyone could have sent it, or if it is a copy. */
export async function signedRefusal(
  tx: Tx,
  app: Pick<App, 'newId'>,
  { mail, signer }: { mail: FeedbackMailRow; signer: Signer | null },
  { type, reason, about = {}, attached = false, hasFile = false, digest = '' }: Refusal,
): Promise<Signed | null> {
  const isReport = reason !== 'not_a_report';
  // Known senders also reply to strangers, and quote them.
  if (!isReport && !hasFile) return null;
  if (reason === 'foreign_domain' || (type !== null && !PERIODIC.includes(type))) return null;
  const sender = await trustedSender(tx, signer, {
    types: type === null ? PERIODIC : [type],
    attached,
    isReport,
  });
  if (sender === null) return null;
  const domains = about.domain ? [about.domain] : [];
  const [domain_id] = await findDomains(tx, [{ domains, addressed: mail.domain_id }]);
  if (!domain_id) return null;
  const earlier = await tx
    .selectFrom('feedback_reports')
    .innerJoin('feedback_reporters', 'feedback_reporters.id', 'feedback_reports.reporter_id')
    .select('feedback_reports.id')
    .where('feedback_reporters.name', '=', sender.name)
    .where('status', '=', 'refused')
    .where('figures', '=', digest)
    .executeTakeFirst();
  // Anyone can send a signed message again.
  if (earlier) return null;
  const sighting = sightingOf(sender.title, mail.received_at);
  const { id } = await upsertReporter(tx, app, sender, sighting);
  const timeOf = (ms: number | undefined) => (ms === undefined ? null : isoTime(ms));
  return {
    reporter_id: id,
    verified: 1,
    domain_id,
    policy_domain: about.domain ?? null,
    period_from: timeOf(about.begin),
    period_to: timeOf(about.end),
    figures: digest,
  };
}

/** Mail of a confirmed reporter counts only if it is a report, because people may write from the same domain. */
async function trustedSender(
  tx: Tx,
  signer: Signer | null,
  { types, attached, isReport }: { types: ReportType[]; attached: boolean; isReport: boolean },
): Promise<ReporterIdentity | null> {
  for (const type of types) {
    const sender = signedReporter(signer, { type, attached });
    if (sender?.kind === 'known') return sender;
    if (sender === null || !isReport) continue;
    const confirmed = await trustedReporters(tx).where('name', '=', sender.name).executeTakeFirst();
    if (confirmed) return sender;
  }
  return null;
}
