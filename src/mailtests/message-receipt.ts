/** The receipt of a saved message: what its header says about how it was sent. Nothing is stored. */

import * as v from 'valibot';
import { scanHeaders } from '../analysis/mime/headers.ts';
import { readReceipt } from '../analysis/receipt/receipt.ts';
import { describeReceipt } from '../analysis/receipt/sentence.ts';
import { route } from '../http/route.ts';
import { described, named, Time, typeField } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { MAX_HEADER_BYTES, notAMessage } from './message-file.ts';
import { Envelope } from './schema.ts';

const MessageReceipt = named(
  'MessageReceipt',
  v.object({
    object: typeField('message_receipt'),
    summary: described(v.string(), 'Who received the message, as a sentence.'),
    provider: described(
      v.nullable(v.string()),
      'The mailbox provider that received it. Null for another server, and if it is not known.',
    ),
    server: described(
      v.nullable(v.string()),
      'The server that received it. Null if it is not known.',
    ),
    received_at: described(v.nullable(Time), 'When it was received. Null if it is not known.'),
    ...v.omit(Envelope, ['reported_by']).entries,
  }),
  'How a saved message was received last, as its header says.',
  {
    object: 'message_receipt',
    summary:
      'Gmail received it from 192.0.2.25 (mail.example.com), encrypted, on 20 Nov 2026, 09:46 UTC.',
    provider: 'Gmail',
    server: 'mx.google.com',
    received_at: '2026-11-20T09:46:12.000Z',
    mail_from: 'bounces@example.com',
    client_ip: '192.0.2.25',
    helo: 'mail.example.com',
    tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
  },
);

export const readMessageReceipt = route({
  method: 'POST',
  path: '/v1/tests/receipt',
  operation: 'readMessageReceipt',
  role: 'member',
  writes: false,
  summary: 'Read who received a saved message',
  description:
    'Reads from the header of a saved message who received it last, and from which address. A test of that message uses the same values unless you give others. The header is enough. Nothing is stored.',
  consumes: { type: 'message/rfc822', maxBytes: () => MAX_HEADER_BYTES },
  response: MessageReceipt,
  async handle({ raw }) {
    const problem = notAMessage('The request body', raw);
    if (problem !== null) throw new AppError('malformed_request', `${problem}.`);
    const receipt = readReceipt(scanHeaders(raw).headers);
    const at = receipt?.at ?? null;
    return {
      object: 'message_receipt' as const,
      summary: describeReceipt(receipt),
      provider: receipt?.provider ?? null,
      server: receipt?.by ?? null,
      received_at: at === null ? null : isoTime(at),
      mail_from: receipt?.mail_from ?? null,
      client_ip: receipt?.client_ip ?? null,
      helo: receipt?.helo ?? null,
      tls: receipt?.tls ?? null,
    };
  },
});
