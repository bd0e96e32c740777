/** The check `mta_sts`: does the From domain announce an MTA-STS policy for the mail it receives? */

import { isoTime } from '../../lib/clock.ts';
import { parseTagList } from '../authentication/tag-list.ts';
import { type Check, type Finding, info, rfc, skipped } from '../check.ts';
import { notAnswered, offline } from './asking.ts';
import { fromDomain } from './sender-domains.ts';

const NOT_CHECKED = 'MTA-STS was not looked up.';

/** The policy itself is not fetched: only its announcement in the DNS is looked at. */
export const mtaSts: Check = {
  id: 'mta_sts',
  category: 'infrastructure',
  points: 0,
  label: 'MTA-STS',
  reference: rfc(8461, '3.1'),
  async run(context) {
    const domain = fromDomain(context);
    if (domain === null) return skipped(NOT_CHECKED, 'The From field holds no domain.');
    if (context.offline) return offline(NOT_CHECKED);
    const name = `_mta-sts.${domain}`;
    const answer = await context.resolver(name, 'TXT');
    if (answer.status === 'error')
      return notAnswered('MTA-STS could not be looked up.', [
        { name, type: 'TXT', reason: answer.reason },
      ]);
    const records = answer.status === 'found' ? answer.records : [];
    return judgeRecords(domain, name, records, context.receivedAt);
  },
};

function judgeRecords(domain: string, name: string, all: string[], now: number): Finding {
  // Other TXT records do not count, several that do count as none (RFC 8461 §3.1).
  const records = all.filter((text) => /^v=STSv1\s*;/.test(text));
  const policyUrl = `https://mta-sts.${domain}/.well-known/mta-sts.txt`;
  const evidence = { name, records: all.slice(0, 10).map((text) => text.slice(0, 500)) };
  const id = isoTime(now).slice(0, 19).replace(/\D/g, '');
  const fix = {
    text: `Serve a policy at ${policyUrl}, then publish this record alone at its name; change its id whenever the policy changes.`,
    record: { type: 'TXT', name, value: `v=STSv1; id=${id}` },
  };
  if (all.length === 0)
    return {
      ...info(
        `${domain} does not use MTA-STS.`,
        'MTA-STS lets a domain ask that mail to it is only delivered over verified TLS. It protects the mail you receive and has no bearing on the mail you send.',
        evidence,
      ),
      fix,
    };
  const usable = records.length === 1 && hasId(records[0]!);
  if (!usable)
    return {
      ...info(
        `The MTA-STS record of ${domain} is not valid.`,
        records.length > 1
          ? 'There are several, and senders then pass over all of them.'
          : 'It needs to begin with v=STSv1; and to hold an id of 1 to 32 letters and digits.',
        evidence,
      ),
      fix,
    };
  return info(
    `${domain} announces an MTA-STS policy.`,
    `The policy itself, at ${policyUrl}, was not fetched.`,
    { ...evidence, policy_url: policyUrl, policy: 'not fetched' },
  );
}

function hasId(record: string): boolean {
  return /^[a-z0-9]{1,32}$/i.test(parseTagList(record).get('id') ?? '');
}
