/** The score at which Rspamd takes a message for spam, out of what its answer says. */

import type { RspamdScan } from '../../net/rspamd.ts';

/** Actions that keep a message out of the inbox. `greylist` and `soft reject` only delay it. */
const SPAM_ACTIONS = new Set(['add header', 'rewrite subject', 'quarantine', 'discard', 'reject']);

/** Rspamd's own defaults: `add header` at 6, `reject` at 15. */
const DEFAULT_SHARE = 6 / 15;

interface RspamdThreshold {
  threshold: number;
  /** How it is known, as the evidence says it. */
  source: string;
}

export const isSpamAction = (action: string): boolean => SPAM_ACTIONS.has(action);

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
