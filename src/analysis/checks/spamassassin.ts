/** `spamassassin`: how the operator's SpamAssassin rates the message. */

import { formatSize } from '../../lib/durations.ts';
import { querySpamd } from '../../net/spamd.ts';
import { type Check, type Context, skipped } from '../check.ts';
import { mailDate, parseMailDate } from '../mime/mail-date.ts';
import { fieldValue } from '../mime/message.ts';
import {
  clientName,
  engineUnavailable,
  evaluateSpamScore,
  type FiredRule,
  isCoveredSpamassassinRule,
  PUBLIC_ENGINE,
} from '../spam-engine.ts';

/**
 * Larger messages are not scanned: SpamAssassin's own client and mail servers skip them too (500 KB
 * by default).
 */
const MAX_OCTETS = 512 * 1024;
const NOT_SCANNED = 'SpamAssassin did not scan the message.';

export const spamassassin: Check = {
  id: 'spamassassin',
  category: 'spam_filters',
  points: 10,
  label: 'SpamAssassin',
  issueTitle: 'SpamAssassin rates the message as spam or close to it',
  reference: { name: 'SpamAssassin', url: 'https://spamassassin.apache.org/' },
  publicEvidence: PUBLIC_ENGINE,
  async run(context) {
    const { setup, raw } = context;
    if (setup.spamd === null)
      return skipped(NOT_SCANNED, 'SpamAssassin is not configured on this server.');
    if (context.offline) return skipped(NOT_SCANNED, 'Offline mode makes no network requests.');
    if (raw.length > MAX_OCTETS)
      return skipped(
        NOT_SCANNED,
        `Your message is ${formatSize(raw.length)}. Mail servers do not pass messages over ${formatSize(MAX_OCTETS)} to SpamAssassin.`,
      );
    const trace = receivedFields(context, await clientName(context));
    const answer = await querySpamd(setup.spamd, [trace, raw]);
    if (answer.status === 'failed') return engineUnavailable('SpamAssassin', answer.detail);
    const rules = parseSpamdReport(answer.report);
    if (rules.length === 0 && answer.score !== 0)
      return engineUnavailable(
        'SpamAssassin',
        'its report has no rule table (custom template), so rules that other checks cover cannot be excluded',
      );
    const { score, threshold } = answer;
    return evaluateSpamScore({
      engine: 'SpamAssassin',
      score,
      threshold,
      rules,
      isCoveredRule: isCoveredSpamassassinRule,
    });
  },
};

// Parses the rules and their scores from SpamAssassin's report, which is generated from a template.

/** The line below the table head. All default templates have it, in every language. */
const TABLE_HEAD_LINE = /^\s*-{3,}\s+-{10,}\s+-{10,}\s*$/;
/** `-1.0 ALL_TRUSTED  Passed …`, also with the leading asterisk of report headers. */
const ROW =
  /^\s{0,4}(?:\* {1,3})?(-?\d{1,6}(?:\.\d{1,3})?) {1,4}([A-Za-z][A-Za-z0-9_]{0,99})(?:\s+(\S.*))?$/;
const MAX_LINES = 2000;

/**
 * The rows of the rule table, with multi-line descriptions joined; empty if there is no table. Text
 * before the table quotes the message, so parsing starts at the last table head.
 */
export function parseSpamdReport(report: string): FiredRule[] {
  const lines = report.split(/\r?\n/, MAX_LINES);
  const head = lines.findLastIndex((line) => TABLE_HEAD_LINE.test(line));
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

// The fields that a receiving server adds, so that the engine evaluates the right client.

/**
 * Return-Path and Received (RFC 5321 §4.4) with the client, its HELO and the time of receipt, which
 * rules on the Date field use as "now". Unknown parts are omitted; a message whose receipt is unknown arrived when it was
 * sent. Without a Received field, engines treat a message as local.
 */
export function receivedFields(context: Context, clientName: string | null): Buffer {
  const { mail_from, client_ip, helo, tls } = context.envelope;
  const fields: string[] = [];
  if (mail_from !== null) fields.push(`Return-Path: <${token(mail_from)}>`);
  if (client_ip !== null) {
    const address = client_ip.includes(':') ? `IPv6:${client_ip}` : client_ip;
    const from = `from ${token(helo) || 'unknown'} (${token(clientName) || 'unknown'} [${address}])`;
    const by = `by mx.invalid (Deliverability) with ${tls?.used ? 'ESMTPS' : 'ESMTP'} id 1`;
    fields.push(
      `Received: ${from}\r\n\t${by};\r\n\t${mailDate(context.receivedAt ?? sentAt(context))}`,
    );
  }
  return Buffer.from(fields.map((field) => `${field}\r\n`).join(''), 'utf8');
}

const sentAt = ({ message }: Context): number =>
  parseMailDate(fieldValue(message, 'date') ?? '')?.ms ?? 0;

/** Removes characters that would end the token, comment or field. */
const token = (text: string | null): string =>
  (text ?? '').replace(/[\s\u0000-\u001f\u007f()<>;]+/g, '').slice(0, 320);
