/** What a result says, and of whom: of a test its From domain, of a run each thing that its monitor looks at. */

import type { Result } from '../events/results.ts';
import type { Changes } from '../monitors/changes.ts';
import type { BlocklistFinding, DomainFinding } from '../monitors/findings.ts';
import type { Tx } from '../store/open.ts';
import type { TestRow } from '../store/tables.ts';
import type { MonitorRow, MonitorRunRow } from '../store/watching-tables.ts';
import type { Facts, Listings } from './conditions.ts';

export interface SubjectFacts {
  subject: string;
  facts: Facts;
}

/** Empty for what has no subject, such as a message without a From field. */
export async function factsOf(tx: Tx, result: Result): Promise<SubjectFacts[]> {
  if (result.kind === 'test') return factsOfTest(result.test);
  const { run, monitor } = result;
  if (monitor.type === 'blocklist') return factsOfTargets(run, await targetsOf(tx, monitor));
  return monitor.type === 'domain_health' ? factsOfDomain(tx, run, monitor) : [];
}

/** Of a check, as it is stored. */
interface StoredCheck {
  id: string;
  evidence: { lists?: { zone: string; name: string; tier: number; status: string }[] };
}

const LIST_CHECKS = ['ip_blocklists', 'domain_blocklists', 'link_blocklists'];

export function factsOfTest(
  test: Pick<TestRow, 'from_domain' | 'score' | 'spf' | 'dkim' | 'dmarc' | 'checks'>,
): SubjectFacts[] {
  const { from_domain, score, spf, dkim, dmarc } = test;
  if (from_domain === null) return [];
  const checks: StoredCheck[] = test.checks === null ? [] : JSON.parse(test.checks);
  const lists = listingsOf(checks.filter(({ id }) => LIST_CHECKS.includes(id)));
  return [{ subject: from_domain, facts: { score, auth: { spf, dkim, dmarc }, lists } }];
}

/** One that is left out is known not to answer us: it was not asked, and is not waited for. */
function listingsOf(checks: StoredCheck[]): Listings {
  const all = checks.flatMap(({ evidence }) => evidence.lists ?? []).filter(({ tier }) => tier < 3);
  const answered = all.filter(({ status }) => status === 'listed' || status === 'not_listed');
  const silent = all.filter(({ status }) => status === 'error');
  const zones = new Set(answered.map(({ zone }) => zone));
  for (const { zone } of silent) zones.delete(zone);
  return {
    listed: all
      .filter(({ status }) => status === 'listed')
      .map(({ zone, name, tier }) => ({ zone, name, tier })),
    known: answered.length > 0 && silent.length === 0,
    heard: (zone) => zones.has(zone),
  };
}

const NOT_LOOKED_AT = { score: null, auth: null };

/** Those that were given, or the domain that it looks at. */
async function targetsOf(tx: Tx, { targets, domain_id }: MonitorRow): Promise<string[]> {
  if (targets !== null) return JSON.parse(targets);
  const domain = await tx
    .selectFrom('domains')
    .select('name')
    .where('id', '=', domain_id)
    .executeTakeFirst();
  return domain ? [domain.name] : [];
}

function factsOfTargets(run: MonitorRunRow, targets: string[]): SubjectFacts[] {
  const findings: BlocklistFinding[] = JSON.parse(run.findings);
  const { unknown }: Changes = JSON.parse(run.changes);
  return targets.map((subject) => {
    const silent = new Set(
      unknown.flatMap((part) =>
        'list' in part && (part.target === null || part.target === subject) ? [part.list] : [],
      ),
    );
    const heard = (zone: string) => !silent.has(zone);
    const listed = findings
      // A former finding of a list that is silent now still stands there, and is no news.
      .filter(({ target, list, tier }) => target === subject && tier < 3 && heard(list))
      .map(({ list, list_name, tier }) => ({ zone: list, name: list_name, tier }));
    const known = run.status !== 'unknown';
    return { subject, facts: { ...NOT_LOOKED_AT, lists: { listed, known, heard } } };
  });
}

const DOMAIN_CHECK = 'domain_blocklists';

/** The check names the lists in its title alone. */
async function factsOfDomain(
  tx: Tx,
  run: MonitorRunRow,
  monitor: MonitorRow,
): Promise<SubjectFacts[]> {
  const [subject] = await targetsOf(tx, monitor);
  if (subject === undefined) return [];
  const findings: DomainFinding[] = JSON.parse(run.findings);
  const { unknown }: Changes = JSON.parse(run.changes);
  const isSilent = unknown.some((part) => 'id' in part && part.id === DOMAIN_CHECK);
  const listed = findings
    .filter(({ id, status }) => id === DOMAIN_CHECK && (status === 'fail' || status === 'warn'))
    .map(({ title, status }) => ({ zone: DOMAIN_CHECK, name: title, tier: tierOf(status) }));
  const lists = isSilent ? null : { listed, known: run.status !== 'unknown', heard: () => true };
  return [{ subject, facts: { ...NOT_LOOKED_AT, lists } }];
}

const tierOf = (status: string): number => (status === 'fail' ? 1 : 2);
