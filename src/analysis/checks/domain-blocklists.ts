/** The check `domain_blocklists`: is a sender domain on a blocklist? */

import {
  countedListings,
  findingWithoutListing,
  joinSentences,
  listsEvidence,
  meaningsOf,
  namesOf,
  PUBLIC_LISTS,
  removalAdvice,
  strictestTier,
  unansweredText,
} from '../blocklists/outcomes.ts';
import { type ListOutcome, queryLists } from '../blocklists/query.ts';
import {
  domainLists,
  nameSubject,
  type SenderName,
  senderNames,
  withoutRedundantListings,
} from '../blocklists/subjects.ts';
import { type Check, fail, offline, rfc, skipped, warn } from '../check.ts';
import { foreignOwner } from '../sending-services/ownership.ts';

const NOT_CHECKED = 'The domain blocklists were not checked.';

const STOP =
  'First find and stop the cause: a compromised website or account, an open redirect, or mail that recipients did not ask for.';

/** If only the HELO name is on a tier-1 list, no cap applies: large providers do not block for it. */
export const domainBlocklists: Check = {
  id: 'domain_blocklists',
  category: 'reputation',
  points: 10,
  label: 'Domain blocklists',
  issueTitle: 'A sender domain is on a blocklist',
  reference: rfc(5782, '2.3'),
  publicEvidence: {
    domains: { name: 'shown', roles: 'shown' },
    not_asked: 'shown',
    lists: PUBLIC_LISTS,
  },
  async run(context) {
    const lists = domainLists(context);
    if (lists.length === 0) return skipped(NOT_CHECKED, 'No blocklists are enabled.');
    const { names, leftOut } = context.fact(senderNames);
    if (names.length === 0) return skipped(NOT_CHECKED, 'The message has no sender domain.');
    if (context.offline) return offline(NOT_CHECKED);
    const answers = await queryLists(
      context.resolver,
      lists,
      names.map(({ name }) => nameSubject(name)),
    );
    const outcomes = answers.map(withoutRedundantListings);
    const evidence = {
      domains: names.map(({ name, roles }) => ({ name, roles })),
      ...(leftOut > 0 ? { not_asked: leftOut } : {}),
    };
    const listed = countedListings(outcomes);
    if (listed.length === 0)
      return findingWithoutListing(outcomes, evidence, {
        passes: (where) => `The sender domains are not on ${where}.`,
        unknown: 'Could not determine whether a sender domain is on a blocklist.',
        note: leftOut > 0 ? `${leftOut} more domains were not checked.` : '',
      });
    const blocked = strictestTier(listed) === 1;
    const tier1 = listed.filter(({ list }) => list.tier === 1);
    const uncapped = blocked && onlyHelo(tier1, names);
    const finding = (blocked ? fail : warn)({
      title: `${subjectOf(listed, names)} listed by ${namesOf(listed.map(({ list }) => list.name))}.`,
      detail: joinSentences([
        meaningsOf(listed),
        consequenceOf(blocked, uncapped),
        unansweredText(outcomes),
      ]),
      fix: `${removalAdvice(listed, STOP)}${heloAdvice(listed, names)}`,
      evidence: { ...evidence, lists: listsEvidence(outcomes) },
    });
    const owned = listedNames(listed).filter((name) => foreignOwner(name) === null);
    return owned.length > 0 ? finding : { ...finding, about: listedNames(listed)[0] };
  },
};

function consequenceOf(blocked: boolean, uncapped: boolean): string {
  if (!blocked) return 'Spam filters raise the spam score for such a listing.';
  return uncapped
    ? 'Some mail servers reject every message from a server with such a HELO name.'
    : 'Large mailbox providers reject mail from such domains or send it to spam.';
}

const listedNames = (outcomes: ListOutcome[]): string[] => [
  ...new Set(outcomes.flatMap(({ listings }) => listings.map(({ name }) => name))),
];

/** The listed names with their verb: "shop.example is". */
function subjectOf(listed: ListOutcome[], names: SenderName[]): string {
  const listedDomains = listedNames(listed);
  const helo = onlyHelo(listed, names) ? 'The HELO name, ' : '';
  return `${helo}${namesOf(listedDomains)}${helo === '' ? '' : ','} ${listedDomains.length === 1 ? 'is' : 'are'}`;
}

function onlyHelo(listed: ListOutcome[], names: SenderName[]): boolean {
  const roles = new Map(names.map((sender) => [sender.name, sender.roles]));
  return listedNames(listed).every((name) => roles.get(name)?.join() === 'helo');
}

function heloAdvice(listed: ListOutcome[], names: SenderName[]): string {
  return onlyHelo(listed, names)
    ? ' If the name belongs to your provider, configure the server to use a HELO name in your own domain.'
    : '';
}
