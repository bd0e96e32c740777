/** `spamassassin`: what the operator's SpamAssassin makes of the message. */

import { formatSize } from '../../lib/durations.ts';
import { askSpamd } from '../../net/spamd.ts';
import { type Check, skipped } from '../check.ts';
import { clientName } from './client-name.ts';
import { engineSilent, judgeEngine } from './judge-engine.ts';
import { checkedHereOfSpamassassin } from './own-checks.ts';
import { receivedFields } from './received-field.ts';
import { readSpamdReport } from './spamd-report.ts';

/**
 * More is not handed over: SpamAssassin's own client passes larger messages on unscanned (500 kB by
 * default), as mail servers with it do, so that no receiver would judge them either.
 */
const MAX_OCTETS = 512 * 1024;
const NOT_ASKED = 'SpamAssassin was not asked.';

export const spamassassin: Check = {
  id: 'spamassassin',
  category: 'spam_filters',
  points: 10,
  label: 'SpamAssassin',
  reference: { name: 'SpamAssassin', url: 'https://spamassassin.apache.org/' },
  async run(context) {
    const { setup, raw } = context;
    if (setup.spamd === null) return skipped(NOT_ASKED, 'No SpamAssassin is configured here.');
    if (context.offline) return skipped(NOT_ASKED, 'Nothing was asked: offline.');
    if (raw.length > MAX_OCTETS)
      return skipped(
        NOT_ASKED,
        `Your message has ${formatSize(raw.length)}; receivers do not hand messages over ${formatSize(MAX_OCTETS)} to it.`,
      );
    const before = receivedFields(context, await clientName(context));
    const answer = await askSpamd(setup.spamd, [before, raw]);
    if (answer.status === 'failed') return engineSilent('SpamAssassin', answer.detail);
    const rules = readSpamdReport(answer.report);
    if (rules.length === 0 && answer.score !== 0)
      return engineSilent(
        'SpamAssassin',
        'its report has no table of rules, so that what has a check of its own here cannot be left out (its report template was changed)',
      );
    const { score, threshold } = answer;
    const isCheckedHere = checkedHereOfSpamassassin;
    return judgeEngine({ engine: 'SpamAssassin', score, threshold, rules, isCheckedHere });
  },
};
