/** Tests of the team as evidence that an address is one of the domain's own senders. */

import type { Envelope } from '../../analysis/check.ts';
import type { CheckResult } from '../../analysis/result.ts';
import { findDomainsAbove } from '../../domains/queries.ts';
import type { Observation } from '../../events/observations.ts';
import { normalizeAddress } from '../../lib/addresses.ts';
import { addressDomain, normalizeDomain, ownerOf } from '../../lib/domain-names.ts';
import { type Db, type PreparedParameter, prepared, type Tx } from '../../store/open.ts';
import type { FeedbackAddressRow, TestRow } from '../../store/tables.generated.ts';
import { validSignatures } from './match-tests.ts';

type Address = Pick<FeedbackAddressRow, 'domain_id' | 'address' | 'messages' | 'passed'>;
type SentTest = Pick<TestRow, 'id' | 'envelope' | 'spf' | 'dmarc' | 'completed_at'>;

/** The newest tests, and then more: usually, a server that sends has sent lately. Older tests are not looked at. */
const PAGES = [20, 480];
/** No test has an ID after it. */
const AFTER_ALL = 'test_~';
/** Of those from one address, by DKIM alone. */
const MAX_READ = 5;

const findTests = prepared(
  (db, parameter: PreparedParameter<{ domainId: string; before: string; limit: number }>) =>
    db
      .selectFrom('tests')
      .select(['id', 'envelope', 'spf', 'dmarc', 'completed_at'])
      .where('domain_id', '=', parameter('domainId'))
      .where('livemode', '=', 1)
      .where('status', '=', 'completed')
      .where('id', '<', parameter('before'))
      .orderBy('id', 'desc')
      .limit(parameter('limit')),
);

/**
 * The day of the newest test that shows that the domain's owner sends from the address; null if there is none. Anyone who knows the
 * address of a test can send one, so its From domain must be authenticated:
 *
 * - SPF passes for the domain, which names the server.
 * - Or DMARC passes by DKIM alone. A signature survives forwarding and can be sent again, so the test must show no sign of
 *   forwarding, and most messages that receivers report from the address must pass too. A file only claims its address.
 */
export async function ownTestOf(
  db: Db,
  { domain_id, address, messages, passed }: Address,
  domain: string,
): Promise<string | null> {
  const sent: SentTest[] = [];
  let before = AFTER_ALL;
  for (const limit of PAGES) {
    const page = await findTests(db, { domainId: domain_id, before, limit });
    const own = page.filter((test) => addressOf(test) === address);
    const bySpf = own.find((test) => passesSpf(test, domain));
    if (bySpf) return dayOf(bySpf);
    sent.push(...own);
    if (page.length < limit) break;
    before = page.at(-1)!.id;
  }
  if (passed <= messages / 2) return null;
  const byDkim = sent
    .filter((test) => test.dmarc === 'pass' && !envelopeOf(test).file)
    .slice(0, MAX_READ);
  for (const test of byDkim) if (await isDirect(db, test, domain)) return dayOf(test);
  return null;
}

/**
 * The domains of the team, at or above MAIL FROM or the HELO name, of which the sending address is a server. Either a
 * person has marked it as their own, or an earlier test shows it.
 */
export async function ownSenderOf(
  db: Db,
  { client_ip, mail_from, helo }: Pick<Envelope, 'client_ip' | 'mail_from' | 'helo'>,
): Promise<string[]> {
  const address = normalizeAddress(client_ip ?? '');
  const domain = mail_from ? addressDomain(mail_from) : normalizeDomain(helo ?? '');
  if (address === null || domain === null) return [];
  const domains = await findDomainsAbove(db, domain);
  const own = await Promise.all(
    domains.map(async ({ id, name }) => {
      const isOwn =
        (await findMarkedOwn(db, { id: `${id} ${address}` })).length > 0 ||
        (await ownTestOf(db, { domain_id: id, address, ...WITHOUT_REPORTS }, name)) !== null;
      return isOwn ? name : [];
    }),
  );
  return own.flat();
}

/** No report of a receiver speaks against the address. */
const WITHOUT_REPORTS = { messages: 0, passed: 1 };

const findMarkedOwn = prepared((db, parameter: PreparedParameter<{ id: string }>) =>
  db
    .selectFrom('feedback_addresses')
    .innerJoin('feedback_sources', 'feedback_sources.id', 'feedback_addresses.source_id')
    .select('feedback_sources.id')
    .where('feedback_addresses.id', '=', parameter('id'))
    .where('feedback_sources.mark', '=', 'own'),
);

const envelopeOf = ({ envelope }: Pick<TestRow, 'envelope'>): Partial<Envelope> =>
  JSON.parse(envelope ?? '{}');

function addressOf(test: Pick<TestRow, 'envelope'>): string | null {
  const { client_ip } = envelopeOf(test);
  return client_ip ? normalizeAddress(client_ip) : null;
}

function passesSpf(test: SentTest, domain: string): boolean {
  const { mail_from } = envelopeOf(test);
  const name = test.spf === 'pass' && mail_from ? addressDomain(mail_from) : null;
  return name !== null && ownerOf(name) === ownerOf(domain);
}

const dayOf = ({ completed_at }: SentTest): string => completed_at!.slice(0, 10);

/** Under a suffix such as uk.com, a neighbour can align by DMARC. */
async function isDirect(db: Db, { id }: SentTest, domain: string): Promise<boolean> {
  const test = await db
    .selectFrom('tests')
    .select('checks')
    .where('id', '=', id)
    .executeTakeFirst();
  const checks: CheckResult[] = JSON.parse(test?.checks ?? '[]');
  return (
    checks.find((check) => check.id === 'forwarding')?.evidence.kind === 'direct' &&
    validSignatures(checks).some((signature) => ownerOf(signature.domain) === ownerOf(domain))
  );
}

/**
 * After a test, its address is looked up again soon, if receivers have reported it. So is one address of each service without a
 * claim, because a test through the service is a claim.
 */
export async function lookUpAfterTest(
  tx: Tx,
  { test, domainId }: Extract<Observation, { kind: 'test' }>,
  now: string,
): Promise<void> {
  const address = addressOf(test);
  if (domainId === null || address === null) return;
  await lookUpSoon(tx, { id: `${domainId} ${address}`, domainId, now });
}

const lookUpSoon = prepared(
  (tx, parameter: PreparedParameter<{ id: string; domainId: string; now: string }>) =>
    tx
      .updateTable('feedback_addresses')
      .set({ look_up_at: parameter('now') })
      .where(({ or, eb }) =>
        or([
          eb('id', '=', parameter('id')),
          eb(
            'id',
            'in',
            tx
              .selectFrom('feedback_sources as source')
              .innerJoin('feedback_addresses as sender', 'sender.source_id', 'source.id')
              .select(({ fn }) => fn.min('sender.id').as('id'))
              .where('source.domain_id', '=', parameter('domainId'))
              .where('source.key', 'like', 'service %')
              .where('source.claim', 'is', null)
              .groupBy('source.id'),
          ),
        ]),
      )
      .where('look_up_at', '>', parameter('now')),
);
