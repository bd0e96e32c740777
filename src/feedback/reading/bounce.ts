/** Reads delivery status notifications (RFC 3464, RFC 6533): the recipients that a message did not reach. */

import type { Message } from '../../analysis/mime/message.ts';
import { sha256 } from '../../lib/crypto.ts';
import { type BounceReply, isPolicyReply } from '../bounces/explain.ts';
import { dateOf, type FieldMap, fieldOf, readFieldMap, withoutType } from './feedback-fields.ts';
import { LIMITS } from './limits.ts';
import type { BounceClass, BouncedRecipient, BounceReport } from './report.ts';
import { NO_MESSAGE, reportedMessage } from './reported-message.ts';
import { domainOfAddress, providerOf, shortText } from './values.ts';

const MAX_DIAGNOSTIC = 500;

/** null if no recipient failed or is delayed. */
export function readBounce(
  content: Uint8Array,
  returned: Message | null,
  reporter: string,
): BounceReport | null {
  const [first = new Map(), ...others] = fieldGroups(content);
  // Some servers leave the fields of the message out, and begin with a recipient.
  const isRecipient = first.has('final-recipient') || first.has('action');
  const perMessage: FieldMap = isRecipient ? new Map() : first;
  const recipients = (isRecipient ? [first, ...others] : others)
    .slice(0, LIMITS.recipients)
    .flatMap(readRecipient);
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

/** Groups of fields are separated by empty lines. */
function fieldGroups(content: Uint8Array): FieldMap[] {
  const text = Buffer.from(content.subarray(0, 1024 * 1024)).toString('latin1');
  return text
    .split(/\r?\n[ \t]*\r?\n\s*/)
    .slice(0, LIMITS.recipients + 1)
    .map((group) => readFieldMap(Buffer.from(group.trimStart(), 'latin1')))
    .filter((map) => map.size > 0);
}

function readRecipient(map: FieldMap): BouncedRecipient[] {
  const action = fieldOf(map, 'action', 20)?.toLowerCase();
  if (action !== 'failed' && action !== 'delayed') return [];
  const address = withoutType(
    fieldOf(map, 'original-recipient', 1000) ?? fieldOf(map, 'final-recipient', 1000),
  );
  const reply = withoutType(shortText(map.get('diagnostic-code')?.[0], 4000));
  const status = statusOf(fieldOf(map, 'status', 100), reply);
  const domain = domainOfAddress(address);
  const diagnostic = shortText(withoutLocalParts(reply ?? ''), MAX_DIAGNOSTIC);
  const remoteServer = withoutType(fieldOf(map, 'remote-mta', 255));
  const provider = providerOf(remoteServer ?? domain);
  return [
    {
      key: sha256(address?.toLowerCase() ?? ''),
      domain,
      action,
      status,
      diagnostic,
      remoteServer,
      class: classOf(action, { provider, status_code: status, diagnostic }),
    },
  ];
}

const STATUS = /(?:^|[^\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/;

/** The code in the reply of the server is more exact than a general one, such as 5.0.0. */
function statusOf(field: string | null, reply: string | null): string | null {
  const declared = STATUS.exec(field ?? '')?.[1] ?? null;
  const replied = STATUS.exec(reply ?? '')?.[1] ?? null;
  const isGeneral = declared === null || /^\d\.0\.0$/.test(declared);
  if (isGeneral && replied !== null) return replied;
  if (declared !== null) return declared;
  const code = /^\s*([45])\d\d\b/.exec(reply ?? '')?.[1];
  return code === undefined ? null : `${code}.0.0`;
}

/**
 * RFC 3463: X.2.2 is a full mailbox, X.7.Y is about security and policy. Servers that send no code, or a general
 * one such as 5.2.0, say in their reply that they refuse by policy.
 */
function classOf(action: 'failed' | 'delayed', reply: BounceReply): BounceClass {
  const status = reply.status_code ?? '';
  if (action === 'delayed' || status.startsWith('4.') || status === '5.2.2') return 'soft';
  if (status.startsWith('5.7.')) return 'policy';
  const isGeneral = status === '' || /^5\.\d\.0$/.test(status);
  return isGeneral && isPolicyReply(reply) ? 'policy' : 'hard';
}

const withoutLocalParts = (text: string): string =>
  text.replace(/[^\s<>"'()[\]:;,@]{1,64}@(?=[\w[])/g, '…@');
