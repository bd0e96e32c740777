/** The check `mta_sts`: does the From domain ask for verified TLS, and does its policy hold? */

import { parseTagList } from '../authentication/tag-list.ts';
import { type Check, type Context, type Finding, rfc, skipped, unknown } from '../check.ts';
import { notAnswered, offline } from './asking.ts';
import { mailHosts } from './mail-hosts.ts';
import { fetchStsPolicy, stsPolicyUrl } from './mta-sts-fetch.ts';
import {
  badRecord,
  broken,
  type Evidence,
  noRecord,
  recordFix,
  sound,
  uncovered,
} from './mta-sts-findings.ts';
import { matchesMx, parseStsPolicy, type StsPolicy } from './mta-sts-policy.ts';
import { fromDomain } from './sender-domains.ts';

const NOT_CHECKED = 'MTA-STS was not looked up.';

export const mtaSts: Check = {
  id: 'mta_sts',
  category: 'infrastructure',
  points: 0,
  label: 'MTA-STS',
  reference: rfc(8461, '3'),
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
    // Other TXT records do not count, several that do count as none (RFC 8461 §3.1).
    const all = (answer.status === 'found' ? answer.records : []).filter(resemblesRecord);
    const evidence = { name, records: all.slice(0, 10).map((text) => text.slice(0, 500)) };
    const fix = recordFix(domain, name, context.receivedAt);
    if (all.length === 0) return { ...noRecord(domain, evidence), fix };
    const records = all.filter((text) => /^v=STSv1\s*;/.test(text));
    if (records.length !== 1 || !hasId(records[0]!))
      return { ...badRecord(domain, records.length, evidence), fix };
    return judgePolicy(context, domain, evidence);
  },
};

/** A text of another kind, as a wildcard brings it to every name, says nothing of MTA-STS. */
function resemblesRecord(text: string): boolean {
  return /^[\s"']*v\s*=\s*sts/i.test(text);
}

function hasId(record: string): boolean {
  return /^[a-z0-9]{1,32}$/i.test(parseTagList(record).get('id') ?? '');
}

async function judgePolicy(context: Context, domain: string, told: Evidence): Promise<Finding> {
  const fetched = await fetchStsPolicy(context, domain);
  const evidence = { ...told, policy_url: stsPolicyUrl(domain) };
  if (fetched.open !== undefined)
    return unknown(`The MTA-STS policy of ${domain} could not be looked at.`, fetched.open, {
      ...evidence,
      policy: 'not fetched',
    });
  if (fetched.text === null) return broken(domain, [fetched.problem], evidence);
  const policy = parseStsPolicy(fetched.text);
  const problems = [...typeProblems(fetched.contentType), ...policy.problems];
  const whole = { ...evidence, ...policyEvidence(policy, fetched.contentType) };
  const hosts = await mailHosts(context, domain);
  const names = hosts.hosts.map(({ name }) => name);
  const strangers = names.filter((name) => !matchesMx(name, policy.mx));
  if (problems.length > 0) return broken(domain, problems, whole);
  if (policy.mode !== 'none' && strangers.length > 0)
    return uncovered(domain, strangers, policy, whole);
  if (hosts.kind === 'error')
    return notAnswered(
      `Whether the MTA-STS policy of ${domain} names its mail servers could not be found out.`,
      hosts.unanswered,
      whole,
    );
  return sound(domain, policy, whole);
}

/** §3.2: the media type is text/plain, so that nobody can plant a policy in other content. */
function typeProblems(contentType: string): string[] {
  if (/^text\/plain\s*(?:;|$)/i.test(contentType)) return [];
  return [
    `The policy is served as ${contentType.slice(0, 60) || 'nothing in particular'}, not as text/plain.`,
  ];
}

function policyEvidence(policy: StsPolicy, contentType: string) {
  return {
    policy: {
      version: policy.version?.slice(0, 60) ?? null,
      mode: policy.mode?.slice(0, 60) ?? null,
      max_age: policy.maxAge,
      mx: policy.mx.slice(0, 20).map((pattern) => pattern.slice(0, 255)),
      content_type: contentType.slice(0, 100),
    },
  };
}
