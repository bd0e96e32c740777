/** `rspamd`: what the operator's Rspamd makes of the message. */

import { askRspamd, type RspamdScan, type RspamdSession } from '../../net/rspamd.ts';
import { type Check, type Context, type Finding, skipped } from '../check.ts';
import { clientName } from './client-name.ts';
import { engineSilent, type FiredRule, judgeEngine } from './judge-engine.ts';
import { checkedHereOfRspamd } from './own-checks.ts';
import { isSpamAction, rspamdThreshold } from './rspamd-threshold.ts';

const NOT_ASKED = 'Rspamd was not asked.';

/** The message goes as it came: what a Received field would say, Rspamd is told beside it. */
export const rspamd: Check = {
  id: 'rspamd',
  category: 'spam_filters',
  points: 10,
  label: 'Rspamd',
  reference: { name: 'Rspamd', url: 'https://rspamd.com/' },
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
