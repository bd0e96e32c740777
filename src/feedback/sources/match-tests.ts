/** Which source a test came from: one rule for the report of a test and for the page of a source. */

import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Envelope } from '../../analysis/check.ts';
import type { CheckResult } from '../../analysis/result.ts';
import {
  serviceOfHost,
  serviceOfMailFrom,
  serviceOfSigner,
} from '../../analysis/sending-services/services.ts';
import { normalizeAddress } from '../../lib/addresses.ts';
import { addressDomain, organizationalDomain, ownerOf } from '../../lib/domain-names.ts';
import type { Db } from '../../store/open.ts';
import type { DmarcRowRow, FeedbackSourceRow, TestRow } from '../../store/tables.generated.ts';
import type { Period } from '../sums.ts';
import { basisOf } from './kind.ts';

/** A completed test of the domain. */
export type SentTest = Pick<TestRow, 'id' | 'envelope' | 'spf'>;

interface Options {
  /** Looks for tests of this source alone, which costs less. */
  only?: FeedbackSourceRow;
}

/**
 * The source of each test, by its ID. Tests that match none are missing. A test matches by the first of these:
 *
 * - its address
 * - the sending service or organization of its host name or MAIL FROM domain
 * - the sending service of its signature
 * - a MAIL FROM domain, else a signature, that almost only this source uses in the period
 *
 * Signatures are read of the first `MAX_READ` tests that match by nothing before.
 */
export async function matchTests(
  db: Db,
  period: Period,
  tests: SentTest[],
  { only }: Options = {},
): Promise<Map<string, FeedbackSourceRow>> {
  const clients = tests.map(clientOf);
  const addresses = clients.flatMap(({ address }) => address ?? []);
  const byAddress = await sourcesOfAddresses(db, period.domain.id, addresses);
  const byKey = await sourcesOfKeys(db, period.domain.id, clients.flatMap(keysOfClient));
  const found = new Map<string, FeedbackSourceRow>();
  for (const client of clients) {
    const source = byAddress.get(client.address ?? '') ?? firstOf(keysOfClient(client), byKey);
    if (source) found.set(client.id, source);
  }
  const rest = clients.filter(({ id }) => !found.has(id)).slice(0, MAX_READ);
  for (const [id, source] of await matchSignatures(db, period, rest, only)) found.set(id, source);
  return found;
}

/** The checks of a test are large. */
const MAX_READ = 20;

/** What the SMTP session of a test shows about its sender. */
interface Client {
  /** Of the test. */
  id: string;
  address: string | null;
  helo: string | null;
  /** The domain of the envelope sender, if SPF passes. */
  mailFrom: string | null;
}

function clientOf({ id, envelope, spf }: SentTest): Client {
  const { client_ip, helo, mail_from }: Partial<Envelope> = JSON.parse(envelope ?? '{}');
  return {
    id,
    address: client_ip ? normalizeAddress(client_ip) : null,
    helo: helo ?? null,
    mailFrom: spf === 'pass' && mail_from ? addressDomain(mail_from) : null,
  };
}

/** The keys of sources that the client shows, the most telling first. */
function keysOfClient({ helo, mailFrom }: Client): string[] {
  const services = [
    helo === null ? undefined : serviceOfHost(helo),
    mailFrom === null ? undefined : serviceOfMailFrom(mailFrom),
  ];
  const organization = mailFrom === null ? null : organizationalDomain(mailFrom);
  return [
    ...services.flatMap((service) => (service ? [`service ${service.id}`] : [])),
    ...(mailFrom === null ? [] : [`spf ${ownerOf(mailFrom)}`]),
    ...(organization === null ? [] : [`host ${organization}`]),
  ];
}

const firstOf = (keys: string[], sources: Map<string, FeedbackSourceRow>) =>
  keys.map((key) => sources.get(key)).find((source) => source !== undefined);

async function sourcesOfAddresses(
  db: Db,
  domain: string,
  addresses: string[],
): Promise<Map<string, FeedbackSourceRow>> {
  if (addresses.length === 0) return new Map();
  const rows = await db
    .selectFrom('feedback_addresses')
    .innerJoin('feedback_sources', 'feedback_sources.id', 'feedback_addresses.source_id')
    .selectAll('feedback_sources')
    .select('feedback_addresses.address')
    .where(
      'feedback_addresses.id',
      'in',
      addresses.map((address) => `${domain} ${address}`),
    )
    .execute();
  return new Map(rows.map(({ address, ...source }) => [address, source]));
}

async function sourcesOfKeys(
  db: Db,
  domain: string,
  keys: string[],
): Promise<Map<string, FeedbackSourceRow>> {
  if (keys.length === 0) return new Map();
  const rows = await db
    .selectFrom('feedback_sources')
    .selectAll()
    .where('domain_id', '=', domain)
    .where('key', 'in', [...new Set(keys)])
    .execute();
  return new Map(rows.map((source) => [source.key, source]));
}

// By what messages of the source have in common with the test.

interface Signature {
  domain: string;
  selector: string;
}

interface Traces {
  mailFrom: string | null;
  signatures: Signature[];
}

async function matchSignatures(
  db: Db,
  period: Period,
  clients: Client[],
  only: FeedbackSourceRow | undefined,
): Promise<Map<string, FeedbackSourceRow>> {
  const found = new Map<string, FeedbackSourceRow>();
  if (clients.length === 0) return found;
  const signed = await signaturesOfTests(
    db,
    clients.map(({ id }) => id),
  );
  const signers = [...signed.values()].flat().map(({ domain }) => domain);
  const byKey = await sourcesOfKeys(db, period.domain.id, signers.flatMap(keyOfSigner));
  // Tests of one sender leave the same traces.
  const known = new Map<string, FeedbackSourceRow | null>();
  for (const { id, mailFrom } of clients) {
    const signatures = (signed.get(id) ?? []).map(({ domain, selector }) => ({ domain, selector }));
    const traces = { mailFrom, signatures };
    const trace = JSON.stringify(traces);
    if (!known.has(trace)) {
      const keys = signatures.flatMap(({ domain }) => keyOfSigner(domain));
      known.set(trace, firstOf(keys, byKey) ?? (await sourceOfTraces(db, period, traces, only)));
    }
    const source = known.get(trace);
    if (source) found.set(id, source);
  }
  return found;
}

function keyOfSigner(domain: string): string[] {
  const service = serviceOfSigner(domain);
  return service ? [`service ${service.id}`] : [];
}

async function signaturesOfTests(db: Db, ids: string[]): Promise<Map<string, Signature[]>> {
  const tests = await db
    .selectFrom('tests')
    .select(['id', 'checks'])
    .where('id', 'in', ids)
    .execute();
  return new Map(tests.map(({ id, checks }) => [id, validSignatures(JSON.parse(checks ?? '[]'))]));
}

export function validSignatures(checks: CheckResult[]): Signature[] {
  const signatures = checks.find(({ id }) => id === 'dkim')?.evidence.signatures;
  if (!Array.isArray(signatures)) return [];
  return (signatures as unknown as (Signature & { result: string })[]).filter(
    ({ result }) => result === 'pass',
  );
}

/** Only these addresses are searched, because rows have no index for signatures and MAIL FROM domains. */
const MAX_ADDRESSES = 50;
/** Forwarding keeps a signature, and several senders may share it, so it shows a sender only if most messages with it come from there. */
const SENDER_SHARE = 0.9;

async function sourceOfTraces(
  db: Db,
  period: Period,
  { mailFrom, signatures }: Traces,
  only: FeedbackSourceRow | undefined,
): Promise<FeedbackSourceRow | null> {
  // Servers of any kind use the domain itself as MAIL FROM.
  const ofMailFrom = mailFrom === null || mailFrom === period.domain.name ? null : mailFrom;
  const conditions = [
    ...(ofMailFrom === null ? [] : [withMailFrom(ofMailFrom)]),
    ...(signatures.length === 0 ? [] : [withSignature(signatures)]),
  ];
  for (const condition of conditions) {
    if (only && !(await hasRow(db, period, only, condition))) continue;
    const source = await mainSource(db, period, condition);
    if (source) return source;
  }
  return null;
}

type RowExpressions = ExpressionBuilder<{ dmarc_rows: DmarcRowRow }, 'dmarc_rows'>;
type RowCondition = (eb: RowExpressions) => Expression<SqlBool>;

const withMailFrom =
  (domain: string): RowCondition =>
  ({ and, eb }) =>
    and([eb('dmarc_rows.spf_domain', '=', domain), eb('dmarc_rows.spf_result', '=', 'pass')]);

const withSignature =
  (signatures: Signature[]): RowCondition =>
  ({ and, or, eb }) =>
    and([
      eb('dmarc_rows.dkim_result', '=', 'pass'),
      or(
        signatures.map(({ domain, selector }) =>
          and([
            eb('dmarc_rows.dkim_domain', '=', domain),
            eb('dmarc_rows.dkim_selector', '=', selector),
          ]),
        ),
      ),
    ]);

const rowsWith = (db: Db, { domain, from, to }: Period, condition: RowCondition) =>
  db
    .selectFrom('dmarc_rows')
    .innerJoin('feedback_addresses', (join) =>
      join
        .onRef('feedback_addresses.domain_id', '=', 'dmarc_rows.domain_id')
        .onRef('feedback_addresses.address', '=', 'dmarc_rows.address'),
    )
    .where('dmarc_rows.domain_id', '=', domain.id)
    .where('dmarc_rows.counted', '=', 1)
    .where('dmarc_rows.day', '>=', from)
    .where('dmarc_rows.day', '<=', to)
    .where((eb) => condition(eb as unknown as RowExpressions));

async function hasRow(
  db: Db,
  period: Period,
  { id }: FeedbackSourceRow,
  condition: RowCondition,
): Promise<boolean> {
  const row = await rowsWith(db, period, condition)
    .select('dmarc_rows.report_id')
    .where('feedback_addresses.source_id', '=', id)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The source from which most messages come that meet the condition; null if it is a forwarder, or there is none. */
async function mainSource(
  db: Db,
  period: Period,
  condition: RowCondition,
): Promise<FeedbackSourceRow | null> {
  const largest = await db
    .selectFrom('feedback_addresses')
    .select('address')
    .where('domain_id', '=', period.domain.id)
    .where('source_id', 'is not', null)
    .where('passed', '>', 0)
    .where('last_day', '>=', period.from)
    .orderBy('messages', 'desc')
    .limit(MAX_ADDRESSES)
    .execute();
  if (largest.length === 0) return null;
  const rows = await rowsWith(db, period, condition)
    .innerJoin('feedback_sources', 'feedback_sources.id', 'feedback_addresses.source_id')
    .selectAll('feedback_sources')
    .select(({ fn }) => fn.sum('dmarc_rows.count').as('messages'))
    .where(
      'dmarc_rows.address',
      'in',
      largest.map(({ address }) => address),
    )
    .groupBy('feedback_sources.id')
    .execute();
  const total = rows.reduce((sum, { messages }) => sum + Number(messages), 0);
  const found = rows.find(({ messages }) => Number(messages) >= total * SENDER_SHARE);
  if (!found || basisOf(found.key) === 'forwarder' || found.mark === 'forwarder') return null;
  const { messages: _, ...source } = found;
  return source;
}
