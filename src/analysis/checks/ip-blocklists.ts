/** The check `ip_blocklists`: is the sending IP address on a blocklist? */

import {
  countedListings,
  findingWithoutListing,
  joinSentences,
  listsEvidence,
  meaningsOf,
  namesOf,
  PUBLIC_LISTS,
  removalAdvice,
  STOP_THE_CAUSE,
  strictestTier,
  unansweredText,
} from '../blocklists/outcomes.ts';
import { queryLists } from '../blocklists/query.ts';
import { planClientQuery } from '../blocklists/subjects.ts';
import { type Check, fail, offline, rfc, skipped, warn } from '../check.ts';

const NOT_CHECKED = 'The IP blocklists were not checked.';

export const ipBlocklists: Check = {
  id: 'ip_blocklists',
  category: 'reputation',
  points: 14,
  label: 'IP blocklists',
  issueTitle: 'The sending IP address is on a blocklist',
  reference: rfc(5782),
  publicEvidence: { client_ip: 'shown', lists: PUBLIC_LISTS },
  async run(context) {
    const query = planClientQuery(context, 'ip');
    if (query.address === null) return skipped(NOT_CHECKED, query.reason);
    if (context.offline) return offline(NOT_CHECKED);
    const { address, subject, lists } = query;
    const outcomes = await queryLists(context.resolver, lists, [subject]);
    const evidence = { client_ip: address };
    const listed = countedListings(outcomes);
    if (listed.length === 0)
      return findingWithoutListing(outcomes, evidence, {
        passes: (where) => `${address} is not on ${where}.`,
        unknown: `Could not determine whether ${address} is on a blocklist.`,
      });
    const blocked = strictestTier(listed) === 1;
    const consequence = blocked
      ? 'Large mailbox providers reject mail from listed addresses or send it to spam.'
      : 'Spam filters raise the spam score for such a listing.';
    return (blocked ? fail : warn)({
      title: `${address} is listed by ${namesOf(listed.map(({ list }) => list.name))}.`,
      detail: joinSentences([meaningsOf(listed), consequence, unansweredText(outcomes)]),
      fix: removalAdvice(listed, STOP_THE_CAUSE),
      evidence: { ...evidence, lists: listsEvidence(outcomes) },
    });
  },
};
