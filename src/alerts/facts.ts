/** What a result says, and of whom: of a test its From domain, of a run each thing that its monitor looks at. */

import type { Result } from '../events/results.ts';
import type { Changes } from '../monitors/changes.ts';
import type { Finding } from '../monitors/findings.ts';
import type { Tx } from '../store/open.ts';
import type { TestRow } from '../store/tables.ts';
import type { MonitorRow, MonitorRunRow } from '../store/watching-tables.ts';
import type { Facts, Listing, Listings } from './conditions.ts';

export interface SubjectFacts {
  subject: string;
  facts: Facts;
}

/** Empty for what has no subject, such as a message without a From field. */
export async function factsOf(tx: Tx, result: Result): Promise<SubjectFacts[]> {
  if (result.kind === 'test') return factsOfTest(result.test);
  const { run, monitor } = result;
  return monitor.type === 'placement' ? [] : factsOfRun(run, await targetsOf(tx, monitor));
}

interface StoredList {
  zone: string;
  name: string;
  tier: number;
  status: string;
  /** What it lists. */
  listed?: string[];
}

/** Of a check, as it is stored. */
interface StoredCheck {
  id: string;
  evidence: { lists?: StoredList[]; domains?: { name: string }[] };
}

export const DOMAIN_CHECK = 'domain_blocklists';
export const LIST_CHECKS = ['ip_blocklists', DOMAIN_CHECK, 'link_blocklists'];

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
  const silent = all.filter(({ status }) => status === 'error');
  const zones = zonesHeard(all);
  const aboutDomains = checks.find(({ id }) => id === DOMAIN_CHECK)?.evidence;
  const domains = new Set((aboutDomains?.domains ?? []).map(({ name }) => name));
  const zonesOfDomains = zonesHeard(aboutDomains?.lists ?? []);
  return {
    listed: all
      .filter(({ status }) => status === 'listed')
      .map(({ zone, name, tier, listed = [] }) => ({ zone, name, tier, listed })),
    known: zones.size > 0 && silent.length === 0,
    hears: ({ zone, listed = [] }, foundByRun) => {
      const asked = listed.length > 0 && listed.every((name) => domains.has(name));
      return asked ? zonesOfDomains.has(zone) : !foundByRun && zones.has(zone);
    },
    standing: [],
  };
}

/** Of the lists that answered all that they were asked. */
function zonesHeard(lists: StoredList[]): Set<string> {
  const heard = lists.filter(({ status }) => status === 'listed' || status === 'not_listed');
  const zones = new Set(heard.map(({ zone }) => zone));
  for (const { zone, status } of lists) if (status === 'error') zones.delete(zone);
  return zones;
}

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

/** Of both types of monitors: what of the domain's health is no listing is no question of a rule. */
export function factsOfRun(
  run: Pick<MonitorRunRow, 'findings' | 'changes'>,
  targets: string[],
): SubjectFacts[] {
  const findings: Finding[] = JSON.parse(run.findings);
  const { unknown, targets: lookedAt = [] }: Changes = JSON.parse(run.changes);
  return targets.map((subject) => {
    const isHeard = (zone: string) =>
      !unknown.some(
        (part) =>
          'list' in part && part.list === zone && (part.target === null || part.target === subject),
      );
    const counting = findings
      .filter((one) => 'list' in one)
      .filter(({ target, tier }) => target === subject && tier < 3);
    // A former finding of a list that is silent now still stands there, and is no news.
    const standing = counting.map(({ list }) => list).filter((list) => !isHeard(list));
    const listed = counting
      .filter(({ list }) => isHeard(list))
      .map(({ list, list_name, tier }) => ({
        ...{ zone: list, name: list_name, tier },
        listed: [subject],
      }));
    const { known = false, answered = known } =
      lookedAt.find(({ target }) => target === subject) ?? {};
    const hears = ({ zone, listed: names = [] }: Listing) =>
      // Of what was told for the check as a whole, all that matter are to have answered.
      (zone === DOMAIN_CHECK ? known : answered && isHeard(zone)) &&
      names.length > 0 &&
      names.every((name) => name === subject);
    const lists = { listed, known, hears, standing };
    return { subject, facts: { score: null, auth: null, lists } };
  });
}
