/** The check `link_blocklists`: do the links of the message lead to domains on a blocklist? */

import { normalizeAddress } from '../../lib/addresses.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { askLists, type ListOutcome, type Subject } from '../blocklists/ask.ts';
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
  addressSubject,
  domainLists,
  isAskable,
  listingsBeside,
  nameSubject,
  namesWithin,
  senderNames,
  withoutRepeats,
} from '../blocklists/subjects.ts';
import {
  type Check,
  type Context,
  type Finding,
  fail,
  offline,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { messageLinks } from '../links/links.ts';

const NOT_CHECKED = 'The blocklists were not asked about the links.';

const STOP =
  'Take these links out of the message. Where the domain is your own, first find and stop what brought it into spam: a hacked site, an open redirect, or mail to people who did not ask for it.';

/** A listing of the sender's own domain is the finding of `domain_blocklists`, not another one here. */
export const linkBlocklists: Check = {
  id: 'link_blocklists',
  category: 'reputation',
  points: 6,
  label: 'Link blocklists',
  issueTitle: 'A link leads to a domain on a blocklist',
  reference: rfc(5782, '2.3'),
  publicEvidence: { asked: 'shown', not_asked: 'shown', lists: PUBLIC_LISTS },
  async run(context) {
    const lists = domainLists(context);
    if (lists.length === 0) return skipped(NOT_CHECKED, 'No blocklists are switched on.');
    const { subjects, leftOut } = linkNames(context);
    const { limits } = context.message;
    if (subjects.length === 0 && limits.length === 0)
      return skipped(NOT_CHECKED, 'The message has no links to public places.');
    if (context.offline) return offline(NOT_CHECKED);
    const outcomes = (await askLists(context.resolver, lists, subjects)).map(withoutRepeats);
    const evidence = {
      asked: subjects.map(({ name }) => name),
      ...(leftOut > 0 ? { not_asked: leftOut } : {}),
    };
    const listed = counting(outcomes);
    if (listed.length > 0) {
      const own = new Set(context.fact(senderNames).names.map(({ name }) => name));
      return listedLinks(outcomes, listed, own, evidence);
    }
    if (limits.length > 0)
      return unknown(
        'Not all links of the message are known.',
        `Your message has ${limits.join('; ')}; further links may lie beyond that.`,
        { ...evidence, lists: listsEvidence(outcomes) },
      );
    return withoutListing(outcomes, evidence, {
      passes: (where) => `The links of the message lead to domains that are on ${where}.`,
      unknown: 'It could not be found out whether the links lead to a domain on a blocklist.',
      note:
        leftOut > 0
          ? `Only the first ${subjects.length} domains and hosts were asked about, ${leftOut} were left out.`
          : '',
    });
  },
};

function listedLinks(
  outcomes: ListOutcome[],
  listed: ListOutcome[],
  own: Set<string>,
  evidence: Finding['evidence'],
): Finding {
  const foreign = listingsBeside(own, listed);
  const blocked = strictestTier(foreign.length > 0 ? foreign : listed) === 1;
  // What warns there cannot be told as a cause; one that fails can, and gives its gain.
  if (foreign.length === 0 && !blocked)
    return skipped(
      NOT_CHECKED,
      'The links lead to a listed domain of the sender: follows from domain_blocklists.',
    );
  const told = foreign.length > 0 ? foreign : listed;
  const names = [...new Set(told.flatMap(({ listings }) => listings.map(({ name }) => name)))];
  const why = blocked
    ? 'Receivers look up where links lead, and mail with such a link is likely to be rejected or sent to spam.'
    : 'Spam filters look up where links lead and count such a listing.';
  const finding = (blocked ? fail : warn)({
    title: `Your message links to ${namesOf(names)}, listed by ${namesOf(told.map(({ list }) => list.name))}.`,
    detail: joined([meaningsOf(told), why, silence(outcomes)]),
    fix: removalAdvice(told, STOP),
    evidence: { ...evidence, lists: listsEvidence(outcomes) },
  });
  return foreign.length > 0 ? finding : { ...finding, dependsOn: ['domain_blocklists'] };
}

// Where the links of a message lead, as lists are asked about it.

/** Enough for any honest message; a hostile one must not use up the questions of other checks. */
const MAX_NAMES = 30;
const MAX_QUESTIONS = 120;

interface LinkNames {
  subjects: Subject[];
  /** How many more there are, which nobody is asked about. */
  leftOut: number;
}

/** Organizational domains first, in the order of the message, then hosts that differ from them. */
function linkNames(context: Context): LinkNames {
  const domains = new Map<string, Subject>();
  const hosts = new Map<string, Subject>();
  for (const { host, domain } of context.fact(messageLinks)) {
    if (host === null) continue;
    const address = normalizeAddress(host);
    if (address !== null) {
      // Lists of names know IPv4 addresses alone.
      if (isAskable(address) && !address.includes(':'))
        domains.set(address, addressSubject(address));
      continue;
    }
    // Without a dot, or as no name in the DNS can be: nothing public.
    const name = normalizeDomain(host);
    if (name === null || !name.includes('.')) continue;
    if (domain !== null) domains.set(domain, nameSubject(domain));
    if (name !== domain) hosts.set(name, nameSubject(name));
  }
  const subjects = [...domains.values(), ...hosts.values()];
  const most = namesWithin(domainLists(context), MAX_NAMES, MAX_QUESTIONS);
  return { subjects: subjects.slice(0, most), leftOut: Math.max(0, subjects.length - most) };
}
