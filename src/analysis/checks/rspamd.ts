/** `rspamd`: how the operator's Rspamd rates the message. */

import { queryRspamd, type RspamdScan, type RspamdSession } from '../../net/rspamd.ts';
import { type Check, type Context, type Finding, skipped } from '../check.ts';
import {
  clientName,
  engineUnavailable,
  evaluateSpamScore,
  type FiredRule,
  isCoveredRspamdSymbol,
  PUBLIC_ENGINE,
} from '../spam-engine.ts';

const NOT_SCANNED = 'Rspamd did not scan the message.';

/** Sends the message unchanged. Rspamd receives the SMTP session separately from the message. */
export const rspamd: Check = {
  id: 'rspamd',
  category: 'spam_filters',
  points: 10,
  label: 'Rspamd',
  issueTitle: 'Rspamd rates the message as spam or close to it',
  reference: { name: 'Rspamd', url: 'https://rspamd.com/' },
  publicEvidence: { ...PUBLIC_ENGINE, action: 'shown', threshold_of: 'shown', reject_at: 'shown' },
  async run(context) {
    const { setup, raw } = context;
    if (setup.rspamd === null)
      return skipped(NOT_SCANNED, 'Rspamd is not configured on this server.');
    if (context.offline) return skipped(NOT_SCANNED, 'Offline mode makes no network requests.');
    const answer = await queryRspamd(setup.rspamd, raw, await sessionOf(context));
    if (answer.status === 'failed') return engineUnavailable('Rspamd', answer.detail);
    return evaluateScan(answer.scan);
  },
};

async function sessionOf(context: Context): Promise<RspamdSession> {
  const { client_ip, helo, mail_from, tls } = context.envelope;
  return {
    ip: client_ip,
    helo,
    hostname: await clientName(context),
    from: mail_from,
    tlsVersion: tls?.used ? tls.version : null,
  };
}

function evaluateScan(scan: RspamdScan): Finding {
  const forced = forcedToSpam(scan);
  if (scan.is_skipped && !forced)
    return engineUnavailable('Rspamd', 'its settings skip the scan for this message');
  const { threshold, source } = rspamdThreshold(scan);
  return evaluateSpamScore({
    engine: 'Rspamd',
    score: scan.score,
    threshold,
    rules: Object.entries(scan.symbols).map(toRule),
    isCoveredRule: isCoveredRspamdSymbol,
    forced: forced ? 'spam' : undefined,
    evidence: {
      action: scan.action.slice(0, 50),
      threshold_of: source,
      reject_at: scan.required_score,
    },
  });
}

/** Modules whose forced actions don't count: another check covers the cause, or they only slow a client. */
const MODULES_CHECKED_HERE = /^(?:spf|dkim|dmarc|arc|rbl|hfilter|greylist|ratelimit)/;

/** Whether a rule decided on spam regardless of the score. */
function forcedToSpam(scan: RspamdScan): boolean {
  if (!isSpamAction(scan.action)) return false;
  if (scan.is_skipped) return true;
  const module = scan.passthrough_module;
  return module !== undefined && !MODULES_CHECKED_HERE.test(module);
}

function toRule([name, { score, description, options }]: [
  string,
  RspamdScan['symbols'][string],
]): FiredRule {
  const optionText = options
    .slice(0, 3)
    .map((option) => option.slice(0, 60))
    .join(', ');
  return { name, score, description: [description, optionText].filter(Boolean).join(': ') };
}

// The score at which Rspamd rates a message as spam.

/** Actions that keep a message out of the inbox. `greylist` and `soft reject` only delay it. */
const SPAM_ACTIONS = new Set(['add header', 'rewrite subject', 'quarantine', 'discard', 'reject']);

/** Rspamd's defaults: `add header` at 6, `reject` at 15. */
const DEFAULT_SHARE = 6 / 15;

interface RspamdThreshold {
  threshold: number;
  /** Where the threshold comes from, as shown in the evidence. */
  source: string;
}

const isSpamAction = (action: string): boolean => SPAM_ACTIONS.has(action);

/**
 * Returns the lowest threshold of an action that marks a message as spam. `required_score` is far
 * higher: Rspamd rejects at that score. Newer versions report all thresholds. For older ones, the ratio
 * of `add header` to `reject` is assumed to be the default, unless the chosen action contradicts it.
 */
export function rspamdThreshold(scan: RspamdScan): RspamdThreshold {
  const lowest = Object.entries(scan.thresholds)
    .filter(([action, score]) => isSpamAction(action) && score > 0)
    .sort(([, a], [, b]) => a - b)[0];
  if (lowest) return { threshold: lowest[1], source: lowest[0] };
  const assumed = Math.round(scan.required_score * DEFAULT_SHARE * 100) / 100;
  // `reject` at a lower score is the decision of a rule and says nothing about thresholds.
  const isMarked = ['add header', 'rewrite subject'].includes(scan.action);
  if (isMarked && scan.score > 0 && scan.score < assumed)
    return { threshold: scan.score, source: `${scan.action} (inferred)` };
  if (!isSpamAction(scan.action) && scan.score >= assumed)
    return { threshold: scan.required_score, source: 'reject' };
  return { threshold: assumed, source: 'add header (default)' };
}
