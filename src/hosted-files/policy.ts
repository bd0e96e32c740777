/** MTA-STS policies (RFC 8461): their text, their id, and when which mode is right. */

import { matchesMx, type STS_MODES } from '../analysis/checks/mta-sts.ts';
import { derivedToken } from '../lib/crypto.ts';
import { formatCount } from '../lib/format/numbers.ts';

export interface Policy {
  mode: (typeof STS_MODES)[number];
  mx: string[];
  /** In seconds. */
  max_age: number;
  changed_at: string;
  /** Until when senders can remember an earlier policy in enforce mode; empty if there was none. */
  enforced_until: string;
}

/** §3.2. */
export const policyText = ({ mode, mx, max_age }: Policy): string =>
  `version: STSv1\nmode: ${mode}\n${mx.map((host) => `mx: ${host}\n`).join('')}max_age: ${max_age}\n`;

/** §3.1. The same text has the same id: going back to an earlier policy is a change, too. */
export const policyId = (policy: Policy): string => derivedToken(policyText(policy), 20);

export const unlistedIn = ({ mx }: Pick<Policy, 'mx'>, hosts: string[]): string[] =>
  hosts.filter((host) => !matchesMx(host, mx));

/** The period of the reports. */
export const REPORT_DAYS = 14;
/** Mailbox providers report each day, and mail on weekends differs. */
const MIN_DAYS = 7;

/** What TLS reports say about MTA-STS since the policy changed. */
interface Reports {
  days: number;
  succeeded: number;
  failed: number;
}

/** Which mode is right, as a sentence. `mailServers`: null if they are not known. `now`: in ISO 8601. */
export function adviceOn(
  policy: Policy | null,
  mailServers: string[] | null,
  { days, succeeded, failed }: Reports,
  now: string,
): string {
  if (policy === null)
    return 'Start with testing: senders deliver anyway, and report what would fail.';
  const { mode, enforced_until } = policy;
  if (mode === 'none')
    return `${enforced_until > now ? `Wait until ${enforced_until.slice(0, 10)}, when no sender remembers the former policy. Then remove` : 'Remove'} the record, and after it the policy.`;
  const missing = unlistedIn(policy, mailServers ?? []);
  if (missing.length > 0)
    return `Add ${missing.join(', ')}, which DNS lists as a mail server. In enforce mode, senders don’t deliver to it.`;
  const isEnforced = mode === 'enforce';
  const outcome = `TLS reports of ${formatCount(days, 'day')} show ${formatCount(succeeded + failed, 'session')} under this policy, and ${failed > 0 ? formatCount(failed) : 'none'} failed.`;
  if (failed > 0)
    return `${isEnforced ? 'Switch to' : 'Stay in'} testing until the cause is fixed: ${outcome}`;
  if (isEnforced) return 'Senders that support MTA-STS deliver only over verified TLS.';
  if (mailServers === null) return 'Stay in testing: the MX records could not be looked up.';
  if (days >= MIN_DAYS && succeeded > 0) return `Switch to enforce: ${outcome}`;
  return `Stay in testing until there are TLS reports of ${MIN_DAYS} days without a failure. ${days === 0 ? 'None has arrived for this policy.' : outcome}`;
}
