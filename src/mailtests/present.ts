/** Turns rows into tests as the API returns them and as events contain them. */

import type { Classification } from '../analysis/kind.ts';
import type { Alternative, CategoryScore, Grade } from '../analysis/result.ts';
import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { storedJson } from '../http/response.ts';
import { AppError } from '../lib/errors.ts';
import type { StoredReport } from '../report/report.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { placementSummary, presentPlacement, reportedPlacement } from './placement.ts';
import type { ListedTest, Test } from './schema.ts';

export type ListedRow = Omit<
  TestRow,
  | 'checks'
  | 'envelope'
  | 'search'
  | 'providers'
  | 'public_hash'
  | 'public_client'
  | 'placement'
  | 'placement_counts'
  | 'limited_to'
>;

/** What the full form of a test shows. */
export type PresentedRow = ListedRow &
  Pick<TestRow, 'envelope' | 'placement'> &
  Record<'checks' | 'providers', string | Uint8Array | null>;

const parse = <T>(json: string | null, otherwise: T): T =>
  json === null ? otherwise : JSON.parse(json);

/** The part of the configuration that a test in a response depends on. */
export type TestConfig = Pick<Config, 'INBOX_DOMAIN' | 'APP_URL'>;

/** The page of a test, which becomes its report, on the address that people use. */
export const reportUrl = (id: string, { APP_URL }: Pick<Config, 'APP_URL'>): string =>
  `${APP_URL}/tests/${id}`;

/** What the column `judged_kind` holds. */
export type StoredKind = Classification & { alternative: Alternative | null };

function storedKind({ judged_kind }: Pick<TestRow, 'judged_kind'>): StoredKind | null {
  return judged_kind === null ? null : JSON.parse(judged_kind);
}

/** The list form: without checks, providers, placement and envelope (contract §4). */
export function presentListed(row: ListedRow, config: TestConfig, tags: string[]): ListedTest {
  const kind = storedKind(row);
  const placement = placementSummary(row);
  return {
    id: row.id,
    object: 'test',
    status: row.status,
    failure_reason: row.failure_reason,
    report_url: reportUrl(row.id, config),
    name: row.name,
    kind: row.kind,
    kind_confidence: kind?.confidence ?? null,
    alternative: kind?.alternative ?? null,
    metadata: parse(row.metadata, {}),
    tags,
    livemode: row.livemode === 1,
    address: `${row.token}@${config.INBOX_DOMAIN}`,
    token: row.token,
    seed_addresses: placement.seed_addresses,
    domain_id: row.domain_id,
    monitor_id: row.monitor_id,
    inbox_id: row.inbox_id,
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
    placement_status: row.placement_status,
    inbox_placement: placement.inbox_placement,
    categories: parse(row.categories, []),
    ruleset: row.ruleset,
    previous: parse(row.previous, null),
  };
}

/** The full form: with the checks, the cap and the envelope. */
export function presentTest(row: PresentedRow, config: TestConfig, tags: string[]): Test {
  return {
    ...presentListed(row, config, tags),
    envelope:
      row.envelope === null ? null : { reported_by: null, file: null, ...JSON.parse(row.envelope) },
    cap: parse(row.cap, null),
    // By far the largest part. It is stored as it is returned and never parsed.
    checks: row.checks === null ? [] : storedJson(row.checks),
    judged_kind: storedKind(row),
    providers: row.providers === null ? [] : storedJson(row.providers),
    placement: presentPlacement(row),
  };
}

// Turns the row of a test into a report for the render thread.

/** Throws `conflict` for a test without a result. */
export function storedReport(row: TestRow, { config }: Pick<App, 'config'>): StoredReport {
  if (row.checks === null) throw new AppError('conflict', missingResult(row));
  const { id, name, received_at, completed_at, subject, from_address, ...test } = presentTest(
    row,
    config,
    // Reports show no tags: they sort the lists of the team.
    [],
  );
  return {
    id,
    name,
    completed_at,
    subject,
    from_address,
    received_at: test.envelope?.file ? test.envelope.file.at : received_at,
    score: test.score,
    grade: test.grade as Grade | null,
    cap: test.cap,
    coverage: test.coverage ?? 1,
    summary: test.summary ?? '',
    message_size: test.message_size ?? 0,
    auth_results: test.auth_results,
    categories: test.categories as CategoryScore[],
    ruleset: test.ruleset ?? '',
    envelope: test.envelope,
    judged_kind: test.judged_kind!,
    alternative: test.alternative as Alternative | null,
    placement: reportedPlacement(row),
    placement_status: row.placement_status,
    checks: row.checks,
    providers: row.providers ?? '[]',
  };
}

function missingResult({ status, failure_reason }: TestRow): string {
  if (status === 'waiting') return 'No report yet: the message has not arrived.';
  if (status === 'processing') return 'No report yet: the message is being analyzed.';
  return failure_reason === 'not_received'
    ? 'No report: the message did not arrive in time.'
    : 'No report: the message could not be analyzed.';
}
