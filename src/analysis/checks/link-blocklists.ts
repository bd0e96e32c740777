/** The check `link_blocklists`: do links in the message lead to domains on a blocklist? */

import { normalizeAddress } from '../../lib/addresses.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
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
import { type ListOutcome, queryLists, type Subject } from '../blocklists/query.ts';
import {
  addressSubject,
  domainLists,
  isQueryable,
  listingsOfOthers,
  maxQueryableNames,
  nameSubject,
  senderNames,
  withoutRedundantListings,
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
import { allLinks } from '../links/links.ts';

const NOT_CHECKED = 'The links were not checked against blocklists.';

const STOP =
  'Remove these links from the message. If you own the domain, first stop the cause: a compromised website, an open redirect, or mail that recipients did not ask for.';

/** `domain_blocklists` reports a listing of the sender's own domain; this check does not repeat it. */
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
    if (lists.length === 0) return skipped(NOT_CHECKED, 'No blocklists are enabled.');
    const { subjects, leftOut } = linkNames(context);
    const { exceededLimits } = context.message;
    if (subjects.length === 0 && exceededLimits.length === 0)
      return skipped(NOT_CHECKED, 'The message has no links to public hosts.');
    if (context.offline) return offline(NOT_CHECKED);
    const outcomes = (await queryLists(context.resolver, lists, subjects)).map(
      withoutRedundantListings,
    );
    const evidence = {
      asked: subjects.map(({ name }) => name),
      ...(leftOut > 0 ? { not_asked: leftOut } : {}),
    };
    const listed = countedListings(outcomes);
    if (listed.length > 0) {
      const senderDomains = new Set(context.fact(senderNames).names.map(({ name }) => name));
      return listedLinks(outcomes, listed, senderDomains, evidence);
    }
    if (exceededLimits.length > 0)
      return unknown(
        'Could not check all links against blocklists.',
        `Your message has ${exceededLimits.join('; ')}. The rest may contain more links.`,
        { ...evidence, lists: listsEvidence(outcomes) },
      );
    return findingWithoutListing(outcomes, evidence, {
      passes: (where) => `No link in your message leads to a domain on ${where}.`,
      unknown: 'Could not determine whether links in your message lead to a domain on a blocklist.',
      note:
        leftOut > 0
          ? `Only the first ${subjects.length} domains and hosts were checked; ${leftOut} were left out.`
          : '',
    });
  },
};

function listedLinks(
  outcomes: ListOutcome[],
  listed: ListOutcome[],
  senderDomains: Set<string>,
  evidence: Finding['evidence'],
): Finding {
  const otherListings = listingsOfOthers(senderDomains, listed);
  const reported = otherListings.length > 0 ? otherListings : listed;
  const blocked = strictestTier(reported) === 1;
  // A warning of `domain_blocklists` cannot be a cause. A failure can, and its gain then includes the
  // points of this check.
  if (otherListings.length === 0 && !blocked)
    return skipped(
      NOT_CHECKED,
      'All listed links lead to a sender domain. See the finding "Domain blocklists".',
    );
  const names = [...new Set(reported.flatMap(({ listings }) => listings.map(({ name }) => name)))];
  const consequence = blocked
    ? 'Mailbox providers look up where links lead. They often reject mail with such a link or send it to spam.'
    : 'Spam filters look up where links lead, and raise the spam score for such a listing.';
  const finding = (blocked ? fail : warn)({
    title: `Your message links to ${namesOf(names)}, listed by ${namesOf(reported.map(({ list }) => list.name))}.`,
    detail: joinSentences([meaningsOf(reported), consequence, unansweredText(outcomes)]),
    fix: removalAdvice(reported, STOP),
    evidence: { ...evidence, lists: listsEvidence(outcomes) },
  });
  return otherListings.length > 0 ? finding : { ...finding, dependsOn: ['domain_blocklists'] };
}

// The link targets that blocklists are queried about.

/** Enough for any legitimate message; a hostile one must not use up the DNS queries of other checks. */
const MAX_NAMES = 30;
const MAX_QUERIES = 120;

interface LinkNames {
  subjects: Subject[];
  /** The number of further names, which are not queried. */
  leftOut: number;
}

/** Organizational domains in the order of the message, then hosts that differ from them. */
function linkNames(context: Context): LinkNames {
  const domains = new Map<string, Subject>();
  const hosts = new Map<string, Subject>();
  for (const { host, domain } of context.fact(allLinks)) {
    if (host === null) continue;
    const address = normalizeAddress(host);
    if (address !== null) {
      // Domain lists contain no IPv6 addresses.
      if (isQueryable(address) && !address.includes(':'))
        domains.set(address, addressSubject(address));
      continue;
    }
    // A name without a dot, or one that is invalid in DNS, is not public.
    const name = normalizeDomain(host);
    if (name === null || !name.includes('.')) continue;
    if (domain !== null) domains.set(domain, nameSubject(domain));
    if (name !== domain) hosts.set(name, nameSubject(name));
  }
  const subjects = [...domains.values(), ...hosts.values()];
  const limit = maxQueryableNames(domainLists(context), MAX_NAMES, MAX_QUERIES);
  return { subjects: subjects.slice(0, limit), leftOut: Math.max(0, subjects.length - limit) };
}
