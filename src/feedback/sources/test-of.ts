/** The newest test of the team that came from a source, and the finding that explains why its messages fail. */

import type { CheckResult } from '../../analysis/result.ts';
import { serviceOfHost } from '../../analysis/sending-services/services.ts';
import type { Db } from '../../store/open.ts';
import type { FeedbackSourceRow } from '../../store/tables.generated.ts';
import { basisOf, subjectOf } from './kind.ts';

/** In the order in which they explain a failure of DMARC. */
const EXPLAINING = [
  'dkim',
  'dkim_alignment',
  'dkim_key',
  'spf',
  'spf_alignment',
  'spf_record',
  'dmarc',
];
const MAX_TESTS = 100;

export interface TestOfSource {
  id: string;
  completed_at: string;
  score: number | null;
  grade: string | null;
  finding: string | null;
  fix: string | null;
}

/** Tests match by the address that sent them, or by the sending service that its host name shows. */
export async function testOfSource(
  db: Db,
  source: FeedbackSourceRow,
): Promise<TestOfSource | null> {
  const tests = await db
    .selectFrom('tests')
    .select(['id', 'envelope'])
    .where('domain_id', '=', source.domain_id)
    .where('livemode', '=', 1)
    .where('status', '=', 'completed')
    .orderBy('id', 'desc')
    .limit(MAX_TESTS)
    .execute();
  const clients = tests.flatMap(({ id, envelope }) => {
    const { client_ip = null, helo = null } = JSON.parse(envelope ?? '{}') as Client;
    return client_ip === null ? [] : [{ id, address: client_ip, helo }];
  });
  if (clients.length === 0) return null;
  const known = await db
    .selectFrom('feedback_addresses')
    .select('address')
    .where('source_id', '=', source.id)
    .where(
      'address',
      'in',
      clients.map(({ address }) => address),
    )
    .execute();
  const addresses = new Set(known.map(({ address }) => address));
  const found = clients.find(
    ({ address, helo }) => addresses.has(address) || isOfService(source, helo),
  );
  return found ? readTest(db, found.id) : null;
}

interface Client {
  client_ip?: string | null;
  helo?: string | null;
}

const isOfService = ({ key }: FeedbackSourceRow, helo: string | null): boolean =>
  basisOf(key) === 'service' && helo !== null && serviceOfHost(helo)?.id === subjectOf(key);

async function readTest(db: Db, id: string): Promise<TestOfSource | null> {
  const test = await db
    .selectFrom('tests')
    .select(['id', 'completed_at', 'score', 'grade', 'checks'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!test) return null;
  const { checks, completed_at, ...rest } = test;
  const results: CheckResult[] = checks === null ? [] : JSON.parse(checks);
  const bad = results.filter(({ status }) => status === 'fail' || status === 'warn');
  const found = EXPLAINING.map((id) => bad.find((check) => check.id === id)).find(Boolean);
  return {
    ...rest,
    completed_at: completed_at!,
    finding: found?.title ?? null,
    fix: found?.fix?.text ?? null,
  };
}
