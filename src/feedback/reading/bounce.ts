/**
 * Reads bounces: the recipients to whom a message was not delivered, from delivery status notifications (RFC 3464, RFC 6533) or
 * from the text of mail servers that send none.
 */

import type { Message } from '../../analysis/mime/message.ts';
import { sha256 } from '../../lib/crypto.ts';
import { type BounceReply, reasonOf } from '../bounces/explain.ts';
import { classOfReason } from '../bounces/reasons.ts';
import type { BounceText } from './bounce-text.ts';
import { dateOf, type FieldMap, fieldOf, readFieldMap, withoutType } from './feedback-fields.ts';
import { LIMITS } from './limits.ts';
import type { BounceClass, BouncedRecipient, BounceReport } from './report.ts';
import { NO_MESSAGE, reportedMessage } from './reported-message.ts';
import { domainOfAddress, providerOf, shortText } from './values.ts';

/** How many characters of a reply are read, and how many are kept. */
const MAX_REPLY = 4000;
const MAX_DIAGNOSTIC = 500;

/** The parts of a bounce. */
export interface BounceSource {
  /** The status part (`message/delivery-status`); null if there is none. */
  fields: Uint8Array | null;
  /** The text for people. */
  text: BounceText | null;
  /** The returned message, or its header. */
  returned: Message | null;
  reporter: string;
}

/** Null if no recipient failed or is delayed. */
export function readBounce({
  fields,
  text,
  returned,
  reporter,
}: BounceSource): BounceReport | null {
  const [first = new Map(), ...others] = fields ? fieldGroups(fields) : [];
  // Some servers leave the fields of the message out, and begin with a recipient.
  const isRecipient = isRecipientGroup(first);
  const perMessage: FieldMap = isRecipient ? new Map() : first;
  const groups = (isRecipient ? [first, ...others] : others).filter(isRecipientGroup);
  const recipients =
    groups.length > 0
      ? groups.slice(0, LIMITS.recipients).flatMap((group) => readRecipient(group, text))
      : recipientsOfText(text);
  if (recipients.length === 0) return null;
  const message = returned ? reportedMessage(returned) : NO_MESSAGE;
  return {
    type: 'bounce',
    reporter,
    reportingServer: withoutType(fieldOf(perMessage, 'reporting-mta', 255)),
    envelopeId: fieldOf(perMessage, 'original-envelope-id', 255),
    arrivedAt: dateOf(fieldOf(perMessage, 'arrival-date')),
    domain: message.fromDomain,
    message,
    recipients,
  };
}

const isRecipientGroup = (map: FieldMap): boolean =>
  ['final-recipient', 'original-recipient', 'action'].some((name) => map.has(name));

/** Groups of fields are separated by empty lines. */
function fieldGroups(content: Uint8Array): FieldMap[] {
  const text = Buffer.from(content.subarray(0, 1024 * 1024)).toString('latin1');
  return text
    .split(/\r?\n[ \t]*\r?\n\s*/)
    .slice(0, LIMITS.recipients + 1)
    .map((group) => readFieldMap(Buffer.from(group.trimStart(), 'latin1')))
    .filter((map) => map.size > 0)
    .flatMap(byRecipient);
}

/** Some servers put all recipients into one group. */
function byRecipient(map: FieldMap): FieldMap[] {
  const count = map.get('final-recipient')?.length ?? 1;
  if (count === 1) return [map];
  return Array.from({ length: Math.min(count, LIMITS.recipients) }, (_, index) => {
    const own = Array.from(map, ([name, values]): [string, string[]] => [
      name,
      values.length === count ? [values[index]!] : values,
    ]);
    return new Map(own);
  });
}

function readRecipient(map: FieldMap, text: BounceText | null): BouncedRecipient[] {
  // Some servers omit the Action field, which RFC 3464 §2.3.3 requires.
  const status = fieldOf(map, 'status', 100);
  const implied = status?.startsWith('2') ? 'delivered' : 'failed';
  const action = fieldOf(map, 'action', 20)?.toLowerCase() ?? implied;
  const isFailure = /^(?:failed|failure|expired)$/.test(action);
  if (!isFailure && action !== 'delayed') return [];
  const address = withoutType(
    fieldOf(map, 'original-recipient', 1000) ?? fieldOf(map, 'final-recipient', 1000),
  );
  return [
    bouncedRecipient({
      address,
      action: isFailure ? 'failed' : 'delayed',
      status,
      reply: replyOf(map) ?? replyInText(text, address),
      remoteServer: withoutType(fieldOf(map, 'remote-mta', 255)),
    }),
  ];
}

/** X.400 gateways and some servers put the reply of the remote server into X-Supplementary-Info. */
function replyOf(map: FieldMap): string | null {
  const [reply, more] = ['diagnostic-code', 'x-supplementary-info'].map((name) =>
    withoutType(shortText(map.get(name)?.join(' '), MAX_REPLY)),
  );
  const all = [more, reply].flatMap((one) => one ?? []).join(' ');
  // A number alone is the exit code of a program.
  return /[a-z]/i.test(all) ? all : null;
}

const replyInText = (text: BounceText | null, address: string | null): string | null => {
  const recipients = text?.recipients ?? [];
  const own = recipients.find(
    (one) => one.address !== null && one.address === address?.toLowerCase(),
  );
  return shortText(
    (own ?? (recipients.length === 1 ? recipients[0] : undefined))?.reply,
    MAX_REPLY,
  );
};

const recipientsOfText = (text: BounceText | null): BouncedRecipient[] =>
  (text?.recipients ?? []).map(({ address, reply }) =>
    bouncedRecipient({
      address,
      action: text!.delayed ? 'delayed' : 'failed',
      status: null,
      reply: shortText(reply, MAX_REPLY),
      remoteServer: SERVER.exec(reply.slice(0, MAX_REPLY))?.[1]?.toLowerCase() ?? null,
    }),
  );

/** How Exim, Gmail and Sendmail name the remote server. */
const SERVER =
  /(?:\bhost:? |talking to |recipient domain \S{1,255} by |said to |server )((?:[a-z\d-]{1,63}\.){1,10}[a-z]{2,24})\b/i;

interface Failure {
  address: string | null;
  action: 'failed' | 'delayed';
  /** The Status field. */
  status: string | null;
  reply: string | null;
  remoteServer: string | null;
}

function bouncedRecipient({
  address,
  action,
  status,
  reply,
  remoteServer,
}: Failure): BouncedRecipient {
  const domain = domainOfAddress(address);
  const code = statusOf(status, reply);
  const provider = providerOf(remoteServer ?? domain);
  // The reply is often longer than what is kept of it.
  const whole = withoutLocalParts(reply ?? '');
  return {
    key: sha256(address?.toLowerCase() ?? ''),
    domain,
    action,
    status: code,
    diagnostic: shortText(whole, MAX_DIAGNOSTIC),
    remoteServer,
    class: classOf(action, { provider, status_code: code, diagnostic: whole }),
  };
}

/** Only subjects from 0 to 7 (RFC 3463), so that version numbers and IP addresses don't match. */
const STATUS = /(?:^|[^\d.])([245]\.[0-7]\.\d{1,3})(?![\d.])/g;

/** The reply takes precedence over the Status field, and a specific code over a general one, such as 5.0.0. */
function statusOf(field: string | null, reply: string | null): string | null {
  const codes = [reply, field].flatMap((text) =>
    Array.from((text ?? '').matchAll(STATUS), ([, code]) => code!),
  );
  const code =
    codes.find((one) => !one.endsWith('.0')) ?? codes.find((one) => !/\.0\.0$/.test(one));
  const replyClass = replyCodeOf(reply)?.[0];
  return code ?? codes[0] ?? (replyClass === undefined ? null : `${replyClass}.0.0`);
}

const replyCodeOf = (reply: string | null): string | undefined =>
  /(?:^|[\s:"'>(])([45]\d\d)(?=[ \-#]|$)/.exec(reply ?? '')?.[1];

/** A delayed message may still arrive. */
function classOf(action: 'failed' | 'delayed', reply: BounceReply): BounceClass {
  if (action === 'delayed') return 'soft';
  const first = (replyCodeOf(reply.diagnostic) ?? reply.status_code)?.[0];
  return classOfReason(reasonOf(reply), first === '4');
}

const withoutLocalParts = (text: string): string =>
  text.replace(/[^\s<>"'()[\]:;,@]{1,64}@(?=[\w[])/g, '…@');
