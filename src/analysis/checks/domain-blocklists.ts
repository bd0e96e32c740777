/** The check `domain_blocklists`: is a domain of the sender on a blocklist? */

import { askLists, type ListOutcome } from '../blocklists/ask.ts';
import {
  counting,
  joined,
  listsEvidence,
  meaningsOf,
  namesOf,
  PUBLIC_LISTS,
  removalAdvice,
  silence,
  strictestTier,
  withoutListing,
} from '../blocklists/outcomes.ts';
import {
  domainLists,
  nameSubject,
  type SenderName,
  senderNames,
  withoutRepeats,
} from '../blocklists/subjects.ts';
import { type Check, fail, offline, rfc, skipped, warn } from '../check.ts';

const NOT_CHECKED = 'The blocklists of domains were not asked.';

const STOP =
  'First find and stop what brought the domain into spam: a hacked site or account, an open redirect, or mail to people who did not ask for it.';

/** A tier-1 listing of the HELO name alone fails, but the large receivers do not block on that. */
export const domainBlocklists: Check = {
  id: 'domain_blocklists',
  category: 'reputation',
  points: 10,
  label: 'Domain blocklists',
  issueTitle: 'A domain of the sender is on a blocklist',
  reference: rfc(5782, '2.3'),
  publicEvidence: {
    domains: { name: 'shown', roles: 'shown' },
    not_asked: 'shown',
    lists: PUBLIC_LISTS,
  },
  async run(context) {
    const lists = domainLists(context);
    if (lists.length === 0) return skipped(NOT_CHECKED, 'No blocklists are switched on.');
    const { names, leftOut } = context.fact(senderNames);
    if (names.length === 0) return skipped(NOT_CHECKED, 'No domain of the sender is known.');
    if (context.offline) return offline(NOT_CHECKED);
    const asked = await askLists(
      context.resolver,
      lists,
      names.map(({ name }) => nameSubject(name)),
    );
    const outcomes = asked.map(withoutRepeats);
    const evidence = {
      domains: names.map(({ name, roles }) => ({ name, roles })),
      ...(leftOut > 0 ? { not_asked: leftOut } : {}),
    };
    const listed = counting(outcomes);
    if (listed.length === 0)
      return withoutListing(outcomes, evidence, {
        passes: (where) => `The domains of the sender are on ${where}.`,
        unknown: 'It could not be found out whether a domain of the sender is on a blocklist.',
        note: leftOut > 0 ? `${leftOut} more domains were not asked about.` : '',
      });
    const blocked = strictestTier(listed) === 1;
    const strict = listed.filter(({ list }) => list.tier === 1);
    const uncapped = blocked && onlyHelo(strict, names);
    const finding = (blocked ? fail : warn)({
      title: `${whatIsListed(listed, names)} listed by ${namesOf(listed.map(({ list }) => list.name))}.`,
      detail: joined([meaningsOf(listed), whyOf(blocked, uncapped), silence(outcomes)]),
      fix: `${removalAdvice(listed, STOP)}${heloAdvice(listed, names)}`,
      evidence: { ...evidence, lists: listsEvidence(outcomes) },
    });
    return uncapped ? { ...finding, uncapped } : finding;
  },
};

function whyOf(blocked: boolean, uncapped: boolean): string {
  if (!blocked) return 'Spam filters count such a listing.';
  return uncapped
    ? 'Some receivers refuse a server that gives such a name, whatever it sends.'
    : 'The large receivers reject mail of such domains or send it to spam.';
}

const listedNames = (outcomes: ListOutcome[]): string[] => [
  ...new Set(outcomes.flatMap(({ listings }) => listings.map(({ name }) => name))),
];

function whatIsListed(listed: ListOutcome[], names: SenderName[]): string {
  const found = listedNames(listed);
  const helo = onlyHelo(listed, names) ? 'The HELO name, ' : '';
  return `${helo}${namesOf(found)}${helo === '' ? '' : ','} ${found.length === 1 ? 'is' : 'are'}`;
}

function onlyHelo(listed: ListOutcome[], names: SenderName[]): boolean {
  const roles = new Map(names.map((sender) => [sender.name, sender.roles]));
  return listedNames(listed).every((name) => roles.get(name)?.join() === 'helo');
}

function heloAdvice(listed: ListOutcome[], names: SenderName[]): string {
  return onlyHelo(listed, names)
    ? ' Where the name belongs to your provider, have the server say a name of your own in HELO.'
    : '';
}
