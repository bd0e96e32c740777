/** The check `allowlists`: do lists of good senders know the client's address? */

import { askLists } from '../blocklists/ask.ts';
import {
  joined,
  listsEvidence,
  meaningsOf,
  namesOf,
  PUBLIC_LISTS,
  silence,
} from '../blocklists/outcomes.ts';
import { askingAboutClient } from '../blocklists/subjects.ts';
import { type Check, info, offline, rfc, skipped, unknown } from '../check.ts';

const NOT_CHECKED = 'The allowlists were not asked.';

export const allowlists: Check = {
  id: 'allowlists',
  category: 'reputation',
  points: 0,
  label: 'Allowlists',
  reference: rfc(8904),
  publicEvidence: { client_ip: 'shown', lists: PUBLIC_LISTS },
  async run(context) {
    const asking = askingAboutClient(context, 'allow');
    if (asking.address === null) return skipped(NOT_CHECKED, asking.reason);
    if (context.offline) return offline(NOT_CHECKED);
    const { address, subject, lists } = asking;
    const outcomes = await askLists(context.resolver, lists, [subject]);
    const evidence = { client_ip: address, lists: listsEvidence(outcomes) };
    const listed = outcomes.filter(({ status }) => status === 'listed');
    const words = joined([meaningsOf(listed), silence(outcomes)]);
    if (listed.length > 0)
      return info(
        `${address} is on the allowlist of ${namesOf(listed.map(({ list }) => list.name))}.`,
        joined([words, 'Some receivers treat its mail more kindly for that.']),
        evidence,
      );
    if (!outcomes.some(({ status }) => status === 'not_listed'))
      return unknown(
        `It could not be found out whether ${address} is on an allowlist.`,
        words,
        evidence,
      );
    return info(
      `${address} is on no allowlist.`,
      joined(['That is the usual case and costs nothing.', words]),
      evidence,
    );
  },
};
