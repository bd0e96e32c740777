/** `blocklist_hit`: a tier 1 or 2 blocklist lists the sender, a linked domain, or a monitor's target. */

import { LISTS } from '../../analysis/blocklists/lists.ts';
import { removalAdvice, STOP_THE_CAUSE } from '../../analysis/blocklists/outcomes.ts';
import type { CheckResult } from '../../analysis/result.ts';
import { printable } from '../../lib/log.ts';
import type { Finding } from '../../monitors/findings.ts';
import { LIST_CHECK as DOMAIN_CHECK } from '../../monitors/findings.ts';
import type { RunObservation } from '../../monitors/observe.ts';
import {
  type Condition,
  NO,
  type ObservationOf,
  type Step,
  UNKNOWN,
  type Verdict,
} from './condition.ts';
import { listingTimes } from './listing-history.ts';

/** A tier 1 or 2 list, and what it lists. */
interface Listing {
  zone: string;
  name: string;
  tier: number;
  /** Addresses and names. */
  listed: string[];
}

interface Value {
  lists: Listing[];
}

/** The blocklist answers in one result. */
interface Listings {
  listed: Listing[];
  /** Whether enough lists answered to rule out a listing of tier 1 or 2. */
  isConclusive: boolean;
  /** Whether the list of an earlier listing has now answered about the same address or name. */
  hasAnswered(previous: Listing, foundByRun: boolean): boolean;
  /** Zones of tier 1 and 2 lists that listed it before and didn't answer now. */
  unconfirmed: string[];
}

const LIST_CHECKS = ['ip_blocklists', DOMAIN_CHECK, 'link_blocklists'];

function judge(observation: ObservationOf<'test' | 'run'>): Verdict<Value> {
  const { listed, isConclusive } = listingsIn(observation);
  const byZone = new Map<string, Listing>();
  for (const { listed: names, ...listing } of listed) {
    const others = byZone.get(listing.zone)?.listed ?? [];
    byZone.set(listing.zone, { ...listing, listed: [...new Set([...others, ...names])] });
  }
  if (byZone.size > 0) return { answer: 'yes', value: { lists: [...byZone.values()] } };
  return isConclusive ? NO : UNKNOWN;
}

export const blocklistHit: Condition<'test' | 'run', Value> = {
  observes: ['test', 'run'],
  threshold: null,
  history: {
    missing: 'no test or monitor run in which blocklists answered',
    timesSince: (reading) => listingTimes(reading, (one) => judge(one).answer),
  },

  // As the checks are stored: usually, nothing is listed, and parsing them takes longer than all else about a test.
  canMeet: (observation) =>
    observation.kind === 'run' || observation.test.checks?.includes('"status":"listed"') === true,
  evaluate: judge,
  /**
   * The incident is resolved once every list that had a listing has answered about the same address or
   * name, and no list that answered lists it. Lists that never listed it may stay silent.
   *
   * - An incident from a run can be resolved by a run of any monitor of that target, or by a test whose
   *   sender domains include it.
   * - An incident from a test can be resolved by the next test of that domain. A run can resolve it only
   *   if nothing but the domain itself was listed, because a run checks nothing else.
   * - A list that is silent or wasn't queried may still have its listing. A list that is no longer in
   *   use never answers again and doesn't keep the incident open.
   */
  resolutionOf(opened, observation, { answer, blocklistsInUse }) {
    const current = listingsIn(observation);
    const isInUse = (zone: string) => blocklistsInUse.has(zone);
    if (current.unconfirmed.some(isInUse)) return null;
    const openListings = opened.value.lists.filter(({ zone }) => isInUse(zone));
    if (!openListings.every((listing) => current.hasAnswered(listing, opened.foundByRun)))
      return null;
    // If none of the lists is in use anymore, none has confirmed that the listing is gone.
    return openListings.length === 0 && answer !== 'no' ? 'no_longer_watched' : 'condition_ended';
  },

  choice: {
    text: 'A blocklist lists the sender, a linked domain or a monitored target',
    hint: 'Checked on each completed test and monitor run. Minor blocklists (tier 3) don’t count.',
  },
  alertsWhen: () => 'a blocklist lists the sender, a linked domain, or a target of a monitor',
  documentation:
    'a tier 1 or 2 blocklist lists the sender, a domain that the message links to, or a target of a monitor',
  shortText: 'listed on a blocklist',
  openedText({ subject, value: { lists }, foundByRun }) {
    const names = joinNames(lists.map(({ name }) => printable(name)));
    const lead = lists.some(({ tier }) => tier === 1)
      ? 'Large mailbox providers reject mail because of this listing.'
      : 'Spam filters count this listing against your mail.';
    if (foundByRun) return { title: `${subject} is listed by ${names}`, lead };
    const title = `Mail from ${subject} is affected by ${lists.length === 1 ? 'a blocklist' : 'blocklists'}: ${names}`;
    return {
      title,
      lead: `A test found that the sender or a linked domain is listed. ${lead}`,
    };
  },
  resolvedTitle: ({ subject, foundByRun }) =>
    foundByRun
      ? `${subject} is no longer listed`
      : `Mail from ${subject} is no longer affected by a blocklist`,
  measurements: ({ value: { lists } }, { isOver }) => [
    [isOver ? 'Was listed by' : 'Listed by', joinNames(lists.map(({ name }) => name))],
  ],
  isRelevantFix: ({ id }) => LIST_CHECKS.includes(id),
  fixesForRun: ({ subject, value: { lists } }, findings) => [
    { title: '', text: adviceOn(lists, subject, findings), record: null },
  ],
  sampleValue: () => ({
    lists: [{ zone: 'list.example', name: 'A sample list', tier: 1, listed: ['example.com'] }],
  }),
};

/** Computed once for all rules. */
const computed = new WeakMap<object, Listings>();

function listingsIn(observation: ObservationOf<'test' | 'run'>): Listings {
  const found =
    computed.get(observation) ??
    (observation.kind === 'test'
      ? listingsOfTest(observation.checks.filter(({ id }) => LIST_CHECKS.includes(id)))
      : listingsOfRun(observation));
  computed.set(observation, found);
  return found;
}

// Listings of a test.

interface StoredList {
  zone: string;
  name: string;
  tier: number;
  status: string;
  /** The addresses and names that it lists. */
  listed?: string[];
}

/** The evidence of the checks in LIST_CHECKS. */
const evidenceOf = ({ evidence }: CheckResult) =>
  evidence as unknown as { lists?: StoredList[]; domains?: { name: string }[] };

/** A list that was left out is known not to answer this server, so an incident doesn't wait for it. */
function listingsOfTest(checks: CheckResult[]): Listings {
  const lists = checks
    .flatMap((check) => evidenceOf(check).lists ?? [])
    .filter(({ tier }) => tier < 3);
  const failedLists = lists.filter(({ status }) => status === 'error');
  const zones = zonesThatAnswered(lists);
  const domainCheck = checks.find(({ id }) => id === DOMAIN_CHECK);
  const domainEvidence = domainCheck ? evidenceOf(domainCheck) : {};
  const domains = new Set((domainEvidence.domains ?? []).map(({ name }) => name));
  const domainZones = zonesThatAnswered(domainEvidence.lists ?? []);
  return {
    listed: lists
      .filter(({ status }) => status === 'listed')
      .map(({ zone, name, tier, listed = [] }) => ({ zone, name, tier, listed })),
    isConclusive: zones.size > 0 && failedLists.length === 0,
    hasAnswered({ zone, listed }, foundByRun) {
      const wereQueried = listed.length > 0 && listed.every((name) => domains.has(name));
      return wereQueried ? domainZones.has(zone) : !foundByRun && zones.has(zone);
    },
    unconfirmed: [],
  };
}

/** Zones of the lists that answered every query. */
function zonesThatAnswered(lists: StoredList[]): Set<string> {
  const answered = lists.filter(({ status }) => status === 'listed' || status === 'not_listed');
  const zones = new Set(answered.map(({ zone }) => zone));
  for (const { zone, status } of lists) if (status === 'error') zones.delete(zone);
  return zones;
}

// Listings of a monitor run, of either type.

function listingsOfRun({ findings, changes, subject }: RunObservation): Listings {
  const { unknown, targets } = changes;
  const isAnswered = (zone: string) =>
    !unknown.some(
      (part) =>
        'list' in part && part.list === zone && (part.target === null || part.target === subject),
    );
  const countedFindings = findings
    .filter((finding) => 'list' in finding)
    .filter(({ target, tier }) => target === subject && tier < 3);
  const { known = false, answered = known } =
    targets.find(({ target }) => target === subject) ?? {};
  return {
    listed: countedFindings
      .filter(({ list }) => isAnswered(list))
      .map(({ list, list_name, tier }) => ({
        zone: list,
        name: list_name,
        tier,
        listed: [subject],
      })),
    isConclusive: known,
    hasAnswered: ({ zone, listed }) =>
      answered && isAnswered(zone) && listed.length > 0 && listed.every((name) => name === subject),
    // A run keeps the earlier finding of a list that is silent now.
    unconfirmed: countedFindings.map(({ list }) => list).filter((list) => !isAnswered(list)),
  };
}

// Texts.

const LIST_FORMAT = new Intl.ListFormat('en-GB');
const MAX_NAMES = 3;

function joinNames(names: string[]): string {
  const omitted = names.length - MAX_NAMES;
  return LIST_FORMAT.format(
    omitted > 0 ? [...names.slice(0, MAX_NAMES), `${omitted} more`] : names,
  );
}

/** Removal advice for built-in lists; there is none for lists that the operator added. */
function adviceOn(listings: Listing[], subject: string, findings: Finding[]): Step['text'] {
  const builtIn = listings.flatMap(({ zone }) => {
    const list = LISTS.find((candidate) => candidate.zone === zone);
    const match = findings.find(
      (finding) => 'list' in finding && finding.list === zone && finding.target === subject,
    );
    const codes = match && 'list' in match && match.codes.length > 0 ? match.codes : [''];
    return list ? [{ list, codes }] : [];
  });
  return builtIn.length > 0 ? removalAdvice(builtIn, STOP_THE_CAUSE) : STOP_THE_CAUSE;
}
