/** `spamassassin`: what the operator's SpamAssassin makes of the message. */

import { formatSize } from '../../lib/durations.ts';
import { askSpamd } from '../../net/spamd.ts';
import { type Check, type Context, skipped } from '../check.ts';
import { mailDate } from '../mime/mail-date.ts';
import {
  checkedHereOfSpamassassin,
  clientName,
  engineSilent,
  type FiredRule,
  judgeEngine,
  PUBLIC_ENGINE,
} from '../spam-engine.ts';

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
  issueTitle: 'SpamAssassin takes the message for spam, or nearly',
  reference: { name: 'SpamAssassin', url: 'https://spamassassin.apache.org/' },
  publicEvidence: PUBLIC_ENGINE,
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

// Reads the rules and their scores out of the text that SpamAssassin makes of its report template.

/** The line under the table's head; whatever the language, the default templates all have it. */
const RULE_OFF = /^\s*-{3,}\s+-{10,}\s+-{10,}\s*$/;
/** `-1.0 ALL_TRUSTED  Passed …`, also with the star that report headers begin with. */
const ROW =
  /^\s{0,4}(?:\* {1,3})?(-?\d{1,6}(?:\.\d{1,3})?) {1,4}([A-Za-z][A-Za-z0-9_]{0,99})(?:\s+(\S.*))?$/;
const LINES_MAX = 2000;

/**
 * The rows of the table, descriptions that go over several lines joined; empty where there is no
 * table. What comes before it quotes the message, so that it is read from the last rule-off on.
 */
export function readSpamdReport(report: string): FiredRule[] {
  const lines = report.split(/\r?\n/, LINES_MAX);
  const head = lines.findLastIndex((line) => RULE_OFF.test(line));
  if (head < 0) return [];
  const rules: FiredRule[] = [];
  for (const line of lines.slice(head + 1)) {
    const [, score, name, description = ''] = ROW.exec(line.slice(0, 500).trimEnd()) ?? [];
    const last = rules.at(-1);
    if (name !== undefined) rules.push({ name, score: Number(score), description });
    else if (last && line.trim() !== '')
      last.description = `${last.description} ${line.trim()}`.trim().slice(0, 1000);
  }
  return rules;
}

// The fields that a receiving server would have put before the message, so that an engine judges the right client.

/**
 * Return-Path and Received (RFC 5321 §4.4) with the client, its HELO and the time of receipt, which
 * is "now" for rules on the Date field. What is not known is left out: an engine takes a message
 * without Received as one of its own.
 */
export function receivedFields(context: Context, clientName: string | null): Buffer {
  const { mail_from, client_ip, helo, tls } = context.envelope;
  const fields: string[] = [];
  if (mail_from !== null) fields.push(`Return-Path: <${token(mail_from)}>`);
  if (client_ip !== null) {
    const address = client_ip.includes(':') ? `IPv6:${client_ip}` : client_ip;
    const from = `from ${token(helo) || 'unknown'} (${token(clientName) || 'unknown'} [${address}])`;
    const by = `by mx.invalid (Deliverability) with ${tls?.used ? 'ESMTPS' : 'ESMTP'} id 1`;
    fields.push(`Received: ${from}\r\n\t${by};\r\n\t${mailDate(context.receivedAt)}`);
  }
  return Buffer.from(fields.map((field) => `${field}\r\n`).join(''), 'utf8');
}

/** Without what would end the token, the comment or the field. */
const token = (text: string | null): string =>
  (text ?? '').replace(/[\s\u0000-\u001f\u007f()<>;]+/g, '').slice(0, 320);
