/** What receivers report about the source that a test came from. */

import type { Envelope } from '../../analysis/check.ts';
import type { CheckResult } from '../../analysis/result.ts';
import type { SendingService } from '../../analysis/sending-services/service.ts';
import {
  serviceOfHost,
  serviceOfMailFrom,
  serviceOfSigner,
} from '../../analysis/sending-services/services.ts';
import type { App } from '../../app.ts';
import { normalizeAddress } from '../../lib/addresses.ts';
import { addressDomain } from '../../lib/domain-names.ts';
import type { ReportedSource } from '../../report/report.ts';
import type { Db } from '../../store/open.ts';
import type { DomainRow, FeedbackSourceRow, TestRow } from '../../store/tables.generated.ts';
import { lastDays, type Period, reporterCount } from '../sums.ts';
import { basisOf } from './kind.ts';
import { messagesOf } from './queries.ts';

type SentTest = Pick<TestRow, 'domain_id' | 'livemode' | 'envelope' | 'checks' | 'spf'>;

/**
 * The last 30 days of the source. They belong to the team, so do not show them to others. Only tests of a verified domain
 * have a source, and only if one matches and was reported: otherwise null.
 */
export async function reportedSourceOf(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  test: SentTest,
): Promise<ReportedSource | null> {
  const { db } = app;
  if (test.domain_id === null || test.livemode === 0) return null;
  const domain = await db
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', test.domain_id)
    .where('status', '=', 'verified')
    .executeTakeFirst();
  if (!domain) return null;
  const period = { domain, ...lastDays(app) };
  const reporters = await reporterCount(db, period);
  if (reporters === 0) return null;
  const source = await sourceOfTest(db, period, test);
  const sums = source && (await messagesOf(db, period, [source.id])).get(source.id);
  if (!source || !sums || sums.messages === 0) return null;
  return {
    ...{ id: source.id, domain_id: domain.id, domain: domain.name, ...sums, reporters },
    name: source.label ?? source.name,
    ...{ from: period.from, to: period.to },
    url: `${app.config.APP_URL}/feedback/sources/${source.id}`,
  };
}

/** What the SMTP session of the test shows about its sender. */
interface Client {
  address: string | null;
  helo: string | null;
  /** The domain of the envelope sender, if SPF passes. */
  mailFrom: string | null;
}

interface Signature {
  domain: string;
  selector: string;
}

/** The source with the same address, else the same sending service, else the same signature. */
async function sourceOfTest(
  db: Db,
  period: Period,
  test: SentTest,
): Promise<FeedbackSourceRow | null> {
  const { domain } = period;
  const client = clientOf(test);
  const service = serviceOfClient(client);
  const found =
    (await sourceOfAddress(db, domain, client)) ??
    (service ? await sourceOfService(db, domain, service) : null);
  if (found) return found;
  // The result of a test can be large, so it is only parsed if it is needed.
  const signatures = validSignatures(test);
  const signer = signatures.map((each) => serviceOfSigner(each.domain)).find(Boolean);
  return (
    (signer ? await sourceOfService(db, domain, signer) : null) ??
    (await sourceOfSignature(db, period, signatures))
  );
}

function clientOf({ envelope, spf }: SentTest): Client {
  const { client_ip, helo, mail_from }: Partial<Envelope> = JSON.parse(envelope ?? '{}');
  return {
    address: client_ip ? normalizeAddress(client_ip) : null,
    helo: helo ?? null,
    mailFrom: spf === 'pass' && mail_from ? addressDomain(mail_from) : null,
  };
}

const serviceOfClient = ({ helo, mailFrom }: Client): SendingService | undefined =>
  (helo === null ? undefined : serviceOfHost(helo)) ??
  (mailFrom === null ? undefined : serviceOfMailFrom(mailFrom));

function validSignatures({ checks }: SentTest): Signature[] {
  const results: CheckResult[] = checks === null ? [] : JSON.parse(checks);
  const signatures = results.find(({ id }) => id === 'dkim')?.evidence.signatures;
  if (!Array.isArray(signatures)) return [];
  return (signatures as unknown as (Signature & { result: string })[]).filter(
    ({ result }) => result === 'pass',
  );
}

async function sourceOfAddress(
  db: Db,
  { id }: DomainRow,
  { address }: Client,
): Promise<FeedbackSourceRow | null> {
  if (address === null) return null;
  const source = await db
    .selectFrom('feedback_addresses')
    .innerJoin('feedback_sources', 'feedback_sources.id', 'feedback_addresses.source_id')
    .selectAll('feedback_sources')
    .where('feedback_addresses.id', '=', `${id} ${address}`)
    .executeTakeFirst();
  return source ?? null;
}

async function sourceOfService(
  db: Db,
  domain: DomainRow,
  service: SendingService,
): Promise<FeedbackSourceRow | null> {
  const source = await db
    .selectFrom('feedback_sources')
    .selectAll()
    .where('domain_id', '=', domain.id)
    .where('key', '=', `service ${service.id}`)
    .executeTakeFirst();
  return source ?? null;
}

/** Only these addresses are searched for a signature, because rows have no index for it. */
const MAX_ADDRESSES = 50;
/** A signature also arrives through forwarders, so it shows its sender only if most messages with it come from there. */
const SENDER_SHARE = 0.9;

async function sourceOfSignature(
  db: Db,
  { domain, from, to }: Period,
  signatures: Signature[],
): Promise<FeedbackSourceRow | null> {
  if (signatures.length === 0) return null;
  const largest = await db
    .selectFrom('feedback_addresses')
    .select('address')
    .where('domain_id', '=', domain.id)
    .where('source_id', 'is not', null)
    .where('passed', '>', 0)
    .where('last_day', '>=', from)
    .orderBy('messages', 'desc')
    .limit(MAX_ADDRESSES)
    .execute();
  if (largest.length === 0) return null;
  const rows = await db
    .selectFrom('dmarc_rows')
    .innerJoin('feedback_addresses', (join) =>
      join
        .onRef('feedback_addresses.domain_id', '=', 'dmarc_rows.domain_id')
        .onRef('feedback_addresses.address', '=', 'dmarc_rows.address'),
    )
    .innerJoin('feedback_sources', 'feedback_sources.id', 'feedback_addresses.source_id')
    .selectAll('feedback_sources')
    .select(({ fn }) => fn.sum('dmarc_rows.count').as('messages'))
    .where('dmarc_rows.domain_id', '=', domain.id)
    .where(
      'dmarc_rows.address',
      'in',
      largest.map(({ address }) => address),
    )
    .where('dmarc_rows.counted', '=', 1)
    .where('dmarc_rows.day', '>=', from)
    .where('dmarc_rows.day', '<=', to)
    .where('dmarc_rows.dkim_result', '=', 'pass')
    .where(({ or, and, eb }) =>
      or(
        signatures.map((signature) =>
          and([
            eb('dmarc_rows.dkim_domain', '=', signature.domain),
            eb('dmarc_rows.dkim_selector', '=', signature.selector),
          ]),
        ),
      ),
    )
    .groupBy('feedback_sources.id')
    .execute();
  const total = rows.reduce((sum, { messages }) => sum + Number(messages), 0);
  const found = rows.find(({ messages }) => Number(messages) >= total * SENDER_SHARE);
  if (!found || basisOf(found.key) === 'forwarder' || found.mark === 'forwarder') return null;
  const { messages: _, ...source } = found;
  return source;
}
