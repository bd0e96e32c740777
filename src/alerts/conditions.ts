/** Whether a result meets the condition of a rule: yes, no, or it does not say. */

import type { Result } from '../events/events.ts';
import type { Changes, Finding } from '../monitors/findings.ts';
import type { Tx } from '../store/open.ts';
import type {
  AlertIncidentRow,
  AlertRow,
  MonitorRow,
  MonitorRunRow,
  TestRow,
} from '../store/tables.ts';

/** A list that counts (tier 1 or 2), and what it lists. */
export interface Listing {
  zone: string;
  name: string;
  tier: number;
  /** Addresses and names; missing in what was found before it was kept. */
  listed?: string[];
}

/** What the blocklists said. */
interface Listings {
  listed: Listing[];
  /** Whether so much was heard that nothing is known to list it. */
  known: boolean;
  /** Whether the list of a former listing, found by a run or a test, has answered now about the same thing. */
  hears(former: Listing, foundByRun: boolean): boolean;
  /** Lists that count, have listed it before, and are silent now. */
  standing: string[];
}

/** What a result says of its subject; null is "not known", which opens and closes nothing. */
export interface Facts {
  score: number | null;
  /** Words of RFC 8601 §2.7. */
  auth: { spf: string | null; dkim: string | null; dmarc: string | null } | null;
  lists: Listings | null;
}

/** What an incident keeps of it; plain JSON. */
export type Value = Record<string, unknown>;
type Verdict = { answer: 'yes'; value: Value } | { answer: 'no' } | { answer: 'unknown' };

type Rule = Pick<AlertRow, 'condition' | 'threshold'>;

export const DEFAULT_THRESHOLD = 70;

const NO: Verdict = { answer: 'no' };
const UNKNOWN: Verdict = { answer: 'unknown' };

export function judge({ condition, threshold }: Rule, facts: Facts): Verdict {
  if (condition === 'score_below') return judgeScore(facts, threshold ?? DEFAULT_THRESHOLD);
  return condition === 'auth_fail' ? judgeAuthentication(facts) : judgeLists(facts);
}

function judgeScore({ score }: Facts, threshold: number): Verdict {
  if (score === null) return UNKNOWN;
  return score < threshold ? { answer: 'yes', value: { score, threshold } } : NO;
}

const isKnown = (result: string | null): boolean => result !== null && result !== 'temperror';

function judgeAuthentication({ auth }: Facts): Verdict {
  if (auth === null) return UNKNOWN;
  const { spf, dkim, dmarc } = auth;
  const results = [spf, dkim, dmarc];
  if (results.some((result) => isKnown(result) && result !== 'pass'))
    return { answer: 'yes', value: { spf, dkim, dmarc } };
  return results.every(isKnown) ? NO : UNKNOWN;
}

function judgeLists({ lists }: Facts): Verdict {
  if (lists === null) return UNKNOWN;
  const named = new Map<string, Listing>();
  for (const { listed = [], ...listing } of lists.listed) {
    const before = named.get(listing.zone)?.listed ?? [];
    named.set(listing.zone, { ...listing, listed: [...new Set([...before, ...listed])] });
  }
  if (named.size > 0) return { answer: 'yes', value: { lists: [...named.values()] } };
  return lists.known ? NO : UNKNOWN;
}

/**
 * How a result that is no `yes` ends an incident; null where it does not. Scores and authentication
 * are those of tests alone, and each test of the subject that knows them looks at them anew.
 * Listings are over once each list that listed has answered about the same thing, and no list that
 * has answered lists it, however silent others are: what a run found about an address or a name, a
 * run of any monitor of it may end, and a test whose sender's domains include it; what a test found,
 * the next test of the same domain may end, and a run only where nothing but the domain itself was
 * listed, for a run looks at nothing else. A list that listed and is silent, or was not asked, may
 * still list, also one that came later; one that is no longer in use never answers again, and keeps
 * nothing open.
 */
export function endOf(
  incident: Pick<AlertIncidentRow, 'condition' | 'run_id'>,
  opened: Value,
  { answer, facts }: { answer: Verdict['answer']; facts: Facts },
  isInUse: (zone: string) => boolean,
): 'condition_ended' | 'no_longer_watched' | null {
  if (incident.condition !== 'blocklist_hit') return answer === 'no' ? 'condition_ended' : null;
  const { lists } = facts;
  if (lists === null || lists.standing.some(isInUse)) return null;
  const waitedFor = (opened.lists as Listing[]).filter(({ zone }) => isInUse(zone));
  if (!waitedFor.every((one) => lists.hears(one, incident.run_id !== null))) return null;
  // Nobody says that it is listed no more.
  return waitedFor.length === 0 && answer !== 'no' ? 'no_longer_watched' : 'condition_ended';
}

// What a result says, and of whom: of a test its From domain, of a run each thing that its monitor looks at.

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
