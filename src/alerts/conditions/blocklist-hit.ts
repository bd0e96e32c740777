/** `blocklist_hit`: a blocklist that counts lists the sender, a linked domain, or a monitor's target. */

import { LISTS } from '../../analysis/blocklists/lists.ts';
import { removalAdvice, STOP_THE_CAUSE } from '../../analysis/blocklists/outcomes.ts';
import type { CheckResult } from '../../analysis/result.ts';
import { printable } from '../../lib/log.ts';
import { LIST_CHECK as DOMAIN_CHECK } from '../../monitors/findings.ts';
import {
  type Condition,
  NO,
  type ObservedRun,
  type OpenedIncident,
  type Step,
  UNKNOWN,
} from './condition.ts';

/** A list that counts (tier 1 or 2), and what it lists. */
interface Listing {
  zone: string;
  name: string;
  tier: number;
  /** Addresses and names; missing in incidents that were stored before it was kept. */
  listed?: string[];
}

interface Value {
  lists: Listing[];
}

/** What the blocklists said in one result. */
interface Listings {
  listed: Listing[];
  /** Whether enough lists answered to know that none that counts lists it. */
  known: boolean;
  /** Whether the list of an earlier listing has answered now about the same thing. */
  hasAnswered(former: Listing, foundByRun: boolean): boolean;
  /** Lists that count, have listed it before, and did not answer now. */
  standing: string[];
}

const LIST_CHECKS = ['ip_blocklists', DOMAIN_CHECK, 'link_blocklists'];

export const blocklistHit: Condition<Listings, Value> = {
  id: 'blocklist_hit',
  threshold: null,

  factsOfTest: ({ checks }) => listingsOfTest(checks.filter(({ id }) => LIST_CHECKS.includes(id))),
  factsOfRun: listingsOfRun,
  judge({ listed, known }) {
    const byZone = new Map<string, Listing>();
    for (const { listed: things = [], ...listing } of listed) {
      const before = byZone.get(listing.zone)?.listed ?? [];
      byZone.set(listing.zone, { ...listing, listed: [...new Set([...before, ...things])] });
    }
    if (byZone.size > 0) return { answer: 'yes', value: { lists: [...byZone.values()] } };
    return known ? NO : UNKNOWN;
  },
  /**
   * It is over once each list that listed has answered about the same thing, and no list that has
   * answered lists it, however silent others are. What a run found about an address or a name, a run
   * of any monitor of it may end, and a test whose sender's domains include it. What a test found,
   * the next test of the same domain may end, and a run only where nothing but the domain itself was
   * listed, because a run looks at nothing else. A list that listed and is silent, or was not asked,
   * may still list, also one that came later; one that is no longer in use never answers again, and
   * keeps nothing open.
   */
  endOf(opened, facts, { answer, blocklistsInUse }) {
    // What was said for the check as a whole counts as a list for as long as there is any.
    const isInUse = (zone: string) =>
      blocklistsInUse.has(zone) || (zone === DOMAIN_CHECK && blocklistsInUse.size > 0);
    if (facts.standing.some(isInUse)) return null;
    const waitedFor = listingsOf(opened).filter(({ zone }) => isInUse(zone));
    if (!waitedFor.every((one) => facts.hasAnswered(one, opened.foundByRun))) return null;
    // No list has said that it is no longer listed.
    return waitedFor.length === 0 && answer !== 'no' ? 'no_longer_watched' : 'condition_ended';
  },

  alertsWhen: () => 'a blocklist lists the sender, a linked domain, or what a monitor looks at',
  documentation:
    'a list of tier 1 or 2 lists the sender, a domain that the mail links to, or what a monitor looks at',
  shortText: 'it is on a blocklist',
  openedText({ subject, value: { lists }, foundByRun }) {
    const [first] = lists;
    const names = few(lists.map(({ name }) => printable(name)));
    const lead = lists.some(({ tier }) => tier === 1)
      ? 'Large receivers refuse mail because of such a listing.'
      : 'Spam filters count such a listing against mail.';
    // Older runs of domain health kept the sentence of the check in place of its lists.
    if (first?.zone === DOMAIN_CHECK) return { title: first.name.replace(/\.$/, ''), lead };
    if (foundByRun) return { title: `${subject} is listed by ${names}`, lead };
    const title = `Mail from ${subject} is affected by ${lists.length === 1 ? 'a blocklist' : 'blocklists'}: ${names}`;
    return {
      title,
      lead: `A test found its sender, or a domain that it links to, listed. ${lead}`,
    };
  },
  endedTitle: ({ subject, foundByRun }) =>
    foundByRun
      ? `${subject} is no longer listed`
      : `No blocklist affects mail from ${subject} any more`,
  measurements({ value: { lists } }, { isOver }) {
    if (lists[0]?.zone === DOMAIN_CHECK) return [];
    return [[isOver ? 'Was listed by' : 'Listed by', few(lists.map(({ name }) => name))]];
  },
  isRemedy: ({ id }) => LIST_CHECKS.includes(id),
  remediesOfRun: ({ subject, value: { lists } }, findings) => [
    { title: '', text: adviceOn(lists, subject, findings), record: null },
  ],
  sampleValue: () => ({
    lists: [{ zone: 'list.example', name: 'A sample list', tier: 1, listed: ['example.com'] }],
  }),
};

// Listings of a test.

interface StoredList {
  zone: string;
  name: string;
  tier: number;
  status: string;
  /** What it lists. */
  listed?: string[];
}

/** As the checks of LIST_CHECKS store it. */
const evidenceOf = ({ evidence }: CheckResult) =>
  evidence as unknown as { lists?: StoredList[]; domains?: { name: string }[] };

/** A list that is left out is known not to answer this server: it was not asked, and is not waited for. */
function listingsOfTest(checks: CheckResult[]): Listings {
  const all = checks
    .flatMap((check) => evidenceOf(check).lists ?? [])
    .filter(({ tier }) => tier < 3);
  const silent = all.filter(({ status }) => status === 'error');
  const zones = zonesThatAnswered(all);
  const domainCheck = checks.find(({ id }) => id === DOMAIN_CHECK);
  const aboutDomains = domainCheck ? evidenceOf(domainCheck) : {};
  const domains = new Set((aboutDomains.domains ?? []).map(({ name }) => name));
  const zonesOfDomains = zonesThatAnswered(aboutDomains.lists ?? []);
  return {
    listed: all
      .filter(({ status }) => status === 'listed')
      .map(({ zone, name, tier, listed = [] }) => ({ zone, name, tier, listed })),
    known: zones.size > 0 && silent.length === 0,
    hasAnswered({ zone, listed = [] }, foundByRun) {
      const asked = listed.length > 0 && listed.every((name) => domains.has(name));
      return asked ? zonesOfDomains.has(zone) : !foundByRun && zones.has(zone);
    },
    standing: [],
  };
}

/** Of the lists that answered everything that they were asked. */
function zonesThatAnswered(lists: StoredList[]): Set<string> {
  const answered = lists.filter(({ status }) => status === 'listed' || status === 'not_listed');
  const zones = new Set(answered.map(({ zone }) => zone));
  for (const { zone, status } of lists) if (status === 'error') zones.delete(zone);
  return zones;
}

// Listings of a monitor run, of either type.

function listingsOfRun({ findings, changes }: ObservedRun, subject: string): Listings {
  const { unknown, targets = [] } = changes;
  const isHeard = (zone: string) =>
    !unknown.some(
      (part) =>
        'list' in part && part.list === zone && (part.target === null || part.target === subject),
    );
  const counting = findings
    .filter((one) => 'list' in one)
    .filter(({ target, tier }) => target === subject && tier < 3);
  const { known = false, answered = known } =
    targets.find(({ target }) => target === subject) ?? {};
  return {
    listed: counting
      .filter(({ list }) => isHeard(list))
      .map(({ list, list_name, tier }) => ({
        ...{ zone: list, name: list_name, tier },
        listed: [subject],
      })),
    known,
    hasAnswered: ({ zone, listed = [] }) =>
      // For what was said for the check as a whole, all lists that matter have to have answered.
      (zone === DOMAIN_CHECK ? known : answered && isHeard(zone)) &&
      listed.length > 0 &&
      listed.every((name) => name === subject),
    // An earlier finding of a list that is silent now still stands in the run.
    standing: counting.map(({ list }) => list).filter((list) => !isHeard(list)),
  };
}

/** What a run listed was its subject, also before that was stored. */
function listingsOf({ subject, value: { lists }, foundByRun }: OpenedIncident<Value>): Listing[] {
  return foundByRun ? lists.map((one) => ({ ...one, listed: one.listed ?? [subject] })) : lists;
}

// Texts.

const LIST = new Intl.ListFormat('en-GB');
const MAX_NAMES = 3;

function few(names: string[]): string {
  const rest = names.length - MAX_NAMES;
  return LIST.format(rest > 0 ? [...names.slice(0, MAX_NAMES), `${rest} more`] : names);
}

/** Of the lists that the program knows; an operator's own are looked up by their names. */
function adviceOn(
  listings: Listing[],
  subject: string,
  findings: ObservedRun['findings'],
): Step['text'] {
  if (listings.some(({ zone }) => zone === DOMAIN_CHECK))
    return `${STOP_THE_CAUSE} The checks of the domain say where.`;
  const known = listings.flatMap(({ zone }) => {
    const list = LISTS.find((one) => one.zone === zone);
    const found = findings.find(
      (one) => 'list' in one && one.list === zone && one.target === subject,
    );
    const codes = found && 'list' in found && found.codes.length > 0 ? found.codes : [''];
    return list ? [{ list, codes }] : [];
  });
  return known.length > 0 ? removalAdvice(known, STOP_THE_CAUSE) : STOP_THE_CAUSE;
}
