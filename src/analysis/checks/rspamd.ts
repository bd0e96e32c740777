/** `rspamd`: what the operator's Rspamd makes of the message. */

import { askRspamd, type RspamdScan, type RspamdSession } from '../../net/rspamd.ts';
import { type Check, type Context, type Finding, skipped } from '../check.ts';
import {
  checkedHereOfRspamd,
  clientName,
  engineSilent,
  type FiredRule,
  judgeEngine,
  PUBLIC_ENGINE,
} from '../spam-engine.ts';

const NOT_ASKED = 'Rspamd was not asked.';

/** The message goes as it came: what a Received field would say, Rspamd is told beside it. */
export const rspamd: Check = {
  id: 'rspamd',
  category: 'spam_filters',
  points: 10,
  label: 'Rspamd',
  issueTitle: 'Rspamd takes the message for spam, or nearly',
  reference: { name: 'Rspamd', url: 'https://rspamd.com/' },
  publicEvidence: { ...PUBLIC_ENGINE, action: 'shown', threshold_of: 'shown', reject_at: 'shown' },
  async run(context) {
    const { setup, raw } = context;
    if (setup.rspamd === null) return skipped(NOT_ASKED, 'No Rspamd is configured here.');
    if (context.offline) return skipped(NOT_ASKED, 'Nothing was asked: offline.');
    const answer = await askRspamd(setup.rspamd, raw, await sessionOf(context));
    if (answer.status === 'failed') return engineSilent('Rspamd', answer.detail);
    return judgeScan(answer.scan);
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

function judgeScan(scan: RspamdScan): Finding {
  const forced = forcedToSpam(scan);
  if (scan.is_skipped && !forced)
    return engineSilent('Rspamd', 'its settings let this message through without a look');
  const { threshold, source } = rspamdThreshold(scan);
  return judgeEngine({
    engine: 'Rspamd',
    score: scan.score,
    threshold,
    rules: Object.entries(scan.symbols).map(toRule),
    isCheckedHere: checkedHereOfRspamd,
    forced: forced ? 'spam' : undefined,
    evidence: {
      action: scan.action.slice(0, 50),
      threshold_of: source,
      reject_at: scan.required_score,
    },
  });
}

/** Modules that force an action for what has a check of its own here, or to slow a client down. */
const MODULES_CHECKED_HERE = /^(?:spf|dkim|dmarc|arc|rbl|hfilter|greylist|ratelimit)/;

/** Whether a rule decided for spam whatever the score. */
function forcedToSpam(scan: RspamdScan): boolean {
  if (!isSpamAction(scan.action)) return false;
  if (scan.is_skipped) return true;
  const by = scan.passthrough_module;
  return by !== undefined && !MODULES_CHECKED_HERE.test(by);
}

function toRule([name, { score, description, options }]: [
  string,
  RspamdScan['symbols'][string],
]): FiredRule {
  const found = options
    .slice(0, 3)
    .map((option) => option.slice(0, 60))
    .join(', ');
  return { name, score, description: [description, found].filter(Boolean).join(': ') };
}

// The score at which Rspamd takes a message for spam, out of what its answer says.

/** Actions that keep a message out of the inbox. `greylist` and `soft reject` only delay it. */
const SPAM_ACTIONS = new Set(['add header', 'rewrite subject', 'quarantine', 'discard', 'reject']);

/** Rspamd's own defaults: `add header` at 6, `reject` at 15. */
const DEFAULT_SHARE = 6 / 15;

interface RspamdThreshold {
  threshold: number;
  /** How it is known, as the evidence says it. */
  source: string;
}

const isSpamAction = (action: string): boolean => SPAM_ACTIONS.has(action);

/**
 * `required_score` is where Rspamd rejects; a message lands in the spam folder long before, at the
 * lowest threshold of an action that marks it. Newer versions say all thresholds. For older ones
 * that of `add header` is taken to lie as far below that of `reject` as by default, unless the
 * action that Rspamd chose shows that it lies elsewhere.
 */
export function rspamdThreshold(scan: RspamdScan): RspamdThreshold {
  const said = Object.entries(scan.thresholds)
    .filter(([action, score]) => isSpamAction(action) && score > 0)
    .sort(([, a], [, b]) => a - b)[0];
  if (said) return { threshold: said[1], source: said[0] };
  const assumed = Math.round(scan.required_score * DEFAULT_SHARE * 100) / 100;
  // A lower score that is rejected was rejected by a rule, whatever the thresholds.
  const marked = ['add header', 'rewrite subject'].includes(scan.action);
  if (marked && scan.score > 0 && scan.score < assumed)
    return { threshold: scan.score, source: `${scan.action}, as it was chosen` };
  if (!isSpamAction(scan.action) && scan.score >= assumed)
    return { threshold: scan.required_score, source: 'reject' };
  return { threshold: assumed, source: 'add header, by default' };
}
