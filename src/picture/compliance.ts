/** Google’s requirements for a domain, each beside what our own checks say about the same thing. */

import type { CheckStatus, Fix } from '../analysis/check.ts';
import type { DomainCheck } from '../analysis/domain/health.ts';
import type { App } from '../app.ts';
import { type NoData, noDataReason } from '../receivers/no-data.ts';
import { checksOfRequirement, requirementName } from '../receivers/requirements.ts';
import { type Db, inSnapshot, type Tx } from '../store/open.ts';
import type { DomainRow, ReceiverRequirementRow } from '../store/tables.generated.ts';
import { sectionOf } from './findings.ts';
import { daysAgo, RECENT_DAYS } from './reading.ts';
import { orderedRequirements } from './requirements.ts';
import type { ComplianceFinding, ComplianceRequirement } from './schema.ts';
import { latestTests, type ReadTest, senderOf } from './tests.ts';

type Verdict = ComplianceFinding['status'];

/** What one of our checks found, and what it says about fixing it. */
export type OwnFinding = ComplianceFinding & { fix: Fix | null };

/** If there are no requirements, `no_data` says why. */
export async function complianceOf(
  { db, clock, config }: Pick<App, 'db' | 'clock' | 'config'>,
  domain: DomainRow,
): Promise<{ requirements: ComplianceRequirement[]; no_data: NoData | null }> {
  return inSnapshot(db, async (tx) => {
    const rows = await orderedRequirements({ db: tx, config }, domain.name);
    if (rows.length === 0)
      return {
        requirements: [],
        no_data: await noDataReason({ db: tx, clock, config }, domain.name),
      };
    const findings = await ownFindings(tx, domain, daysAgo({ clock }, RECENT_DAYS));
    return {
      requirements: rows.map((row) => compared(row, findings)),
      no_data: null,
    };
  });
}

const isVerdict = (status: CheckStatus): status is Verdict =>
  status === 'pass' || status === 'warn' || status === 'fail';

/** The latest result of each check, in the health of the domain and in tests; of several senders, the worst. */
async function ownFindings(db: Db | Tx, domain: DomainRow, from: string): Promise<OwnFinding[]> {
  const tests = await latestTests(db, domain.id, { from });
  const findingsOf = ({ id: test_id, completed_at: at, checks }: ReadTest): OwnFinding[] =>
    checks.flatMap(({ id, label, status, title, fix }) =>
      isVerdict(status)
        ? [
            {
              source: 'tests' as const,
              check: id,
              label,
              status,
              title,
              at,
              test_id,
              path: `/tests/${test_id}`,
              fix,
            },
          ]
        : [],
    );
  const series = [...Map.groupBy(tests, senderOf).values()];
  const ofSenders = series.flatMap((ofOne) => newestByCheck(ofOne.flatMap(findingsOf)));
  return [...worstByCheck(ofSenders), ...healthFindings(domain)];
}

/** Of findings with the newest first. */
const newestByCheck = (findings: OwnFinding[]): OwnFinding[] =>
  [...Map.groupBy(findings, ({ check }) => check).values()].map(([first]) => first!);

const worstByCheck = (findings: OwnFinding[]): OwnFinding[] =>
  newestByCheck(findings.toSorted((a, b) => RANK[a.status] - RANK[b.status]));

const RANK = { fail: 0, warn: 1, pass: 2 };

/** Of several selectors, the worst. */
function healthFindings({ id: domainId, health_checks, health_checked_at: at }: DomainRow) {
  if (at === null) return [];
  const checks: DomainCheck[] = JSON.parse(health_checks);
  const findings = checks.flatMap(({ id, label, status, title, fix }): OwnFinding[] =>
    isVerdict(status)
      ? [
          {
            source: 'dns',
            check: id,
            label,
            status,
            title,
            at,
            test_id: null,
            path: sectionOf(domainId, 'health'),
            fix,
          },
        ]
      : [],
  );
  return worstByCheck(findings);
}

/** Exported for tests. */
export function compared(
  { name: _domain, receiver_id: _account, ...row }: ReceiverRequirementRow,
  findings: OwnFinding[],
): ComplianceRequirement {
  const checks = checksOfRequirement(row.requirement);
  const own = findings
    .filter(({ check }) => checks.includes(check))
    .toSorted((a, b) => checks.indexOf(a.check) - checks.indexOf(b.check));
  const fixes = own.filter(({ status }) => status !== 'pass').flatMap(({ fix }) => fix ?? []);
  return {
    ...row,
    name: requirementName(row.requirement),
    own: own.map(({ fix: _fix, ...finding }) => finding),
    agrees: agreement(row.status, own),
    fix: fixes[0] ?? null,
  };
}

/**
 * Whether we found the same; null if one of the two does not know. A warning is no reason to doubt a met requirement, and one
 * to believe an unmet one.
 */
function agreement(status: string, own: OwnFinding[]): boolean | null {
  if (own.length === 0) return null;
  if (status === 'COMPLIANT') return own.every((one) => one.status !== 'fail');
  if (status === 'NEEDS_WORK') return own.some((one) => one.status !== 'pass');
  return null;
}
