/** The check `allowlists`: is the sending IP address on an allowlist? */

import {
  joinSentences,
  listsEvidence,
  meaningsOf,
  namesOf,
  PUBLIC_LISTS,
  unansweredText,
} from '../blocklists/outcomes.ts';
import { queryLists } from '../blocklists/query.ts';
import { planClientQuery } from '../blocklists/subjects.ts';
import { type Check, info, offline, rfc, skipped, unknown } from '../check.ts';

const NOT_CHECKED = 'The allowlists were not checked.';

export const allowlists: Check = {
  id: 'allowlists',
  category: 'reputation',
  points: 0,
  label: 'Allowlists',
  reference: rfc(8904),
  publicEvidence: { client_ip: 'shown', lists: PUBLIC_LISTS },
  async run(context) {
    const query = planClientQuery(context, 'allow');
    if (query.address === null) return skipped(NOT_CHECKED, query.reason);
    if (context.offline) return offline(NOT_CHECKED);
    const { address, subject, lists } = query;
    const outcomes = await queryLists(context.resolver, lists, [subject]);
    const evidence = { client_ip: address, lists: listsEvidence(outcomes) };
    const listed = outcomes.filter(({ status }) => status === 'listed');
    const resultTexts = joinSentences([meaningsOf(listed), unansweredText(outcomes)]);
    if (listed.length > 0)
      return info(
        `${address} is on an allowlist: ${namesOf(listed.map(({ list }) => list.name))}.`,
        joinSentences([
          resultTexts,
          'Some mailbox providers filter mail from such addresses less strictly.',
        ]),
        evidence,
      );
    if (!outcomes.some(({ status }) => status === 'not_listed'))
      return unknown(
        `Could not determine whether ${address} is on an allowlist.`,
        resultTexts,
        evidence,
      );
    return info(
      `${address} is not on an allowlist.`,
      joinSentences(['Most addresses are not. This does not affect your score.', resultTexts]),
      evidence,
    );
  },
};
