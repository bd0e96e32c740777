/** From a row to the test that the API answers and that events embed. */

import type { Config } from '../config.ts';
import { storedJson } from '../http/stored-json.ts';
import type { TestRow } from '../store/tables.ts';
import type { ListedTest, Test } from './schema.ts';

export type ListedRow = Omit<
  TestRow,
  'checks' | 'envelope' | 'search' | 'judged_kind' | 'providers'
>;

const parse = <T>(json: string | null, otherwise: T): T =>
  json === null ? otherwise : JSON.parse(json);

/** The list form: without checks, providers, placement and envelope (contract §4). */
export function presentListed(row: ListedRow, config: Pick<Config, 'INBOX_DOMAIN'>): ListedTest {
  return {
    id: row.id,
    object: 'test',
    status: row.status,
    failure_reason: row.failure_reason,
    name: row.name,
    kind: row.kind,
    metadata: parse(row.metadata, {}),
    livemode: row.livemode === 1,
    address: `${row.token}@${config.INBOX_DOMAIN}`,
    token: row.token,
    seed_addresses: [],
    domain_id: row.domain_id,
    created_at: row.created_at,
    expires_at: row.expires_at,
    received_at: row.received_at,
    completed_at: row.completed_at,
    score: row.score,
    grade: row.grade as ListedTest['grade'],
    summary: row.summary,
    coverage: row.coverage,
    from_address: row.from_address,
    subject: row.subject,
    message_size: row.message_size,
    line_ends_converted: row.line_ends_converted === 1,
    auth_results: { spf: row.spf, dkim: row.dkim, dmarc: row.dmarc } as ListedTest['auth_results'],
    inbox_placement: {},
    categories: parse(row.categories, []),
    ruleset: row.ruleset,
    previous: parse(row.previous, null),
  };
}

/** The full form: with the checks, the cap and the envelope. */
export function presentTest(row: TestRow, config: Pick<Config, 'INBOX_DOMAIN'>): Test {
  return {
    ...presentListed(row, config),
    envelope: parse(row.envelope, null),
    cap: parse(row.cap, null),
    // By far the largest part, kept as it is answered: it is not read, only passed on.
    checks: row.checks === null ? [] : storedJson(row.checks),
    judged_kind: parse(row.judged_kind, null),
    providers: row.providers === null ? [] : storedJson(row.providers),
    placement: [],
  };
}
