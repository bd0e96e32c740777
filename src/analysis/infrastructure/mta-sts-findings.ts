/** What the check `mta_sts` says of a record and a policy; `evidence.problems` tells what is broken. */

import { isoTime } from '../../lib/clock.ts';
import { formatDuration } from '../../lib/durations.ts';
import { type Finding, type Fix, info } from '../check.ts';
import { stsPolicyUrl } from './mta-sts-fetch.ts';
import type { StsPolicy } from './mta-sts-policy.ts';

export type Evidence = NonNullable<Finding['evidence']>;

/** The record to publish; its id is the time, as everyone does it. */
export function recordFix(domain: string, name: string, now: number): Fix {
  const id = isoTime(now).slice(0, 19).replace(/\D/g, '');
  return {
    text: `Serve a policy at ${stsPolicyUrl(domain)}, then publish this record alone at its name; change its id whenever the policy changes.`,
    record: { type: 'TXT', name, value: `v=STSv1; id=${id}` },
  };
}

export function noRecord(domain: string, evidence: Evidence): Finding {
  return info(
    `${domain} does not use MTA-STS.`,
    'MTA-STS lets a domain ask that mail to it is only delivered over verified TLS. It protects the mail you receive and has no bearing on the mail you send.',
    evidence,
  );
}

export function badRecord(domain: string, count: number, evidence: Evidence): Finding {
  const problem =
    count > 1
      ? 'There are several, and senders then pass over all of them.'
      : 'It needs to begin with v=STSv1; and to hold an id of 1 to 32 letters and digits.';
  return info(`The MTA-STS record of ${domain} is not valid.`, problem, {
    ...evidence,
    problems: [problem],
  });
}

export function broken(domain: string, problems: string[], evidence: Evidence): Finding {
  return {
    ...info(
      `The MTA-STS policy of ${domain} is broken.`,
      `${problems.join(' ')} Senders act as if there were no policy, or keep to the one they know until it ends.`,
      { ...evidence, problems },
    ),
    fix: {
      text: `Serve the policy at ${stsPolicyUrl(domain)} with a valid certificate, as text/plain, without a redirect: the lines version, mode, max_age, and an mx line for each of your mail servers. Then change the id in the DNS record.`,
    },
  };
}

/** Mail servers that the policy does not name (§4.1). */
export function uncovered(
  domain: string,
  hosts: string[],
  { mode }: StsPolicy,
  evidence: Evidence,
): Finding {
  const problem = `It does not name ${hosts.join(', ')}.`;
  const outcome =
    mode === 'enforce'
      ? 'Senders that heed it do not deliver to such a server.'
      : 'In testing, senders report that; under enforce they would not deliver there.';
  return {
    ...info(
      `The MTA-STS policy of ${domain} does not cover all its mail servers.`,
      `${problem} ${outcome}`,
      { ...evidence, problems: [problem] },
    ),
    fix: {
      text: `Add to the policy at ${stsPolicyUrl(domain)}: ${hosts.map((host) => `"mx: ${host}"`).join(', ')}. Then change the id in the DNS record.`,
    },
  };
}

export function sound(domain: string, { mode, maxAge }: StsPolicy, evidence: Evidence): Finding {
  const time = formatDuration((maxAge ?? 0) * 1000);
  const details: Record<string, string> = {
    enforce: `Senders that support it deliver to you over verified TLS only, and remember that for ${time}.`,
    testing:
      'It is in testing: senders report what would fail, and deliver all the same. Once the reports are clean, change its mode to enforce.',
    none: 'Its mode is none, which takes a former policy back.',
  };
  return info(
    `${domain} has a sound MTA-STS policy (${mode}).`,
    details[mode ?? ''] ?? '',
    evidence,
  );
}
