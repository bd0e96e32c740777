/** MTA-STS policies (RFC 8461): their text, their id, and when which mode is right. */

import {
  matchesMx,
  parseStsPolicy,
  type STS_MODES,
  type StsPolicy,
  stsPolicyUrl,
} from '../analysis/checks/mta-sts.ts';
import { derivedToken } from '../lib/crypto.ts';
import { formatCount } from '../lib/format/numbers.ts';

export interface Policy {
  mode: (typeof STS_MODES)[number];
  mx: string[];
  /** In seconds. */
  max_age: number;
}

/** §3.2. With LF, which it allows beside CRLF. */
export const policyText = ({ mode, mx, max_age }: Policy): string =>
  [
    'version: STSv1',
    `mode: ${mode}`,
    ...mx.map((host) => `mx: ${host}`),
    `max_age: ${max_age}`,
    '',
  ].join('\n');

/** §3.1. The same text always has the same id, so that going back to an earlier policy is a change, too. */
export const policyId = (policy: Policy): string => derivedToken(policyText(policy), 20);

/** Why senders would ignore it, as sentences. */
export const policyProblems = (policy: Policy): string[] =>
  parseStsPolicy(policyText(policy)).problems;

/** Of these mail servers, those that the policy does not list. */
export const unlistedIn = ({ mx }: Pick<StsPolicy, 'mx'>, hosts: string[]): string[] =>
  hosts.filter((host) => !matchesMx(host, mx));

export const policyUrl = stsPolicyUrl;

/** Reports are looked at for this long, but not from before the last change of the policy. */
export const REPORT_DAYS = 14;
/** Google and Microsoft report each day, and mail on weekends differs. */
const MIN_DAYS = 7;

interface Situation {
  policy: Policy | null;
  /** The mail servers in DNS; null if they are not known. */
  mailServers: string[] | null;
  /** What receivers report about sessions under the policy. */
  reports: { days: number; succeeded: number; failed: number };
  /** Until when senders can remember an earlier policy in enforce mode. */
  enforcedUntil: string | null;
  now: number;
}

interface Advice {
  /** The mode to set; null if it can stay as it is. */
  mode: Policy['mode'] | null;
  /** In sentences. */
  text: string;
}

export function adviceOn(situation: Situation): Advice {
  const { policy, mailServers, reports, enforcedUntil, now } = situation;
  if (policy === null)
    return {
      mode: 'testing',
      text: 'Start with testing: senders report what would fail, and still deliver.',
    };
  const stay = (text: string): Advice => ({ mode: null, text });
  if (policy.mode === 'none')
    return stay(
      enforcedUntil !== null && Date.parse(enforcedUntil) > now
        ? `Keep this policy and its record until ${enforcedUntil.slice(0, 10)}: until then, senders can remember the former policy. Then remove the record, and after it the policy.`
        : 'Senders use no policy. You can remove the record, and after it the policy.',
    );
  const { days, succeeded, failed } = reports;
  const outcome = `TLS reports of ${formatCount(days, 'day')} cover ${formatCount(succeeded + failed, 'session')} under this policy`;
  const isEnforced = policy.mode === 'enforce';
  const missing = unlistedIn(policy, mailServers ?? []);
  if (missing.length > 0)
    return stay(
      `Add ${missing.join(', ')}: ${isEnforced ? 'senders do not deliver to it' : 'in enforce mode, senders would not deliver to it'}.`,
    );
  if (failed > 0)
    return isEnforced
      ? {
          mode: 'testing',
          text: `${outcome}, and ${formatCount(failed)} failed: this mail was not delivered. Switch to testing until the cause is fixed.`,
        }
      : stay(
          `Stay in testing: ${outcome}, and ${formatCount(failed)} failed. In enforce mode, this mail would not be delivered.`,
        );
  if (isEnforced)
    return stay('Senders that support MTA-STS deliver only over verified TLS, to these servers.');
  if (days >= MIN_DAYS && succeeded > 0 && mailServers !== null)
    return { mode: 'enforce', text: `Switch to enforce: ${outcome}, and none failed.` };
  return stay(
    `Stay in testing until TLS reports of ${MIN_DAYS} days show no failure. ${
      days === 0
        ? 'None has arrived since the policy was last changed. Publish the record for TLS reports if it is missing.'
        : `So far, ${outcome}, and none failed.`
    }`,
  );
}
