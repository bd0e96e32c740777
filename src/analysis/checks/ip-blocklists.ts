/** The check `ip_blocklists`: is the client's address on a blocklist? */

import { askLists } from '../blocklists/ask.ts';
import {
  counting,
  joined,
  listsEvidence,
  meaningsOf,
  namesOf,
  PUBLIC_LISTS,
  removalAdvice,
  STOP_THE_CAUSE,
  silence,
  strictestTier,
  withoutListing,
} from '../blocklists/outcomes.ts';
import { askingAboutClient } from '../blocklists/subjects.ts';
import { type Check, fail, offline, rfc, skipped, warn } from '../check.ts';

const NOT_CHECKED = 'The blocklists of addresses were not asked.';

export const ipBlocklists: Check = {
  id: 'ip_blocklists',
  category: 'reputation',
  points: 14,
  label: 'Address blocklists',
  issueTitle: 'The sending address is on a blocklist',
  reference: rfc(5782),
  publicEvidence: { client_ip: 'shown', lists: PUBLIC_LISTS },
  async run(context) {
    const asking = askingAboutClient(context, 'ip');
    if (asking.address === null) return skipped(NOT_CHECKED, asking.reason);
    if (context.offline) return offline(NOT_CHECKED);
    const { address, subject, lists } = asking;
    const outcomes = await askLists(context.resolver, lists, [subject]);
    const evidence = { client_ip: address };
    const listed = counting(outcomes);
    if (listed.length === 0)
      return withoutListing(outcomes, evidence, {
        passes: (where) => `${address} is on ${where}.`,
        unknown: `It could not be found out whether ${address} is on a blocklist.`,
      });
    const blocked = strictestTier(listed) === 1;
    const why = blocked
      ? 'The large receivers reject mail from addresses on such a list or send it to spam.'
      : 'Spam filters count such a listing.';
    return (blocked ? fail : warn)({
      title: `${address} is listed by ${namesOf(listed.map(({ list }) => list.name))}.`,
      detail: joined([meaningsOf(listed), why, silence(outcomes)]),
      fix: removalAdvice(listed, STOP_THE_CAUSE),
      evidence: { ...evidence, lists: listsEvidence(outcomes) },
    });
  },
};
