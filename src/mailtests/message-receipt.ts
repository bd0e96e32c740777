/** What the header of a saved message says about how it was sent, before the message is tested. */

import * as v from 'valibot';
import { fileInput } from '../analysis/receipt/file.ts';
import { route } from '../http/route.ts';
import { described, named, typeField } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import { receiptSentence } from '../report/document/receipt.ts';
import { MAX_HEADER_BYTES, notAMessage } from './message-file.ts';
import { Envelope } from './schemas/envelope.ts';

const MessageReceipt = named(
  'MessageReceipt',
  v.object({
    object: typeField('message_receipt'),
    summary: described(v.string(), 'How the message was received, as a sentence.'),
    envelope: described(Envelope, 'What a test of this message starts from.'),
  }),
  'Which server received a saved message last, and from where.',
  {
    summary:
      'Gmail received it from 192.0.2.25 (mail.example.com), encrypted, on 20 Nov 2026, 09:46 UTC.',
    envelope: {
      mail_from: 'bounces@example.com',
      client_ip: '192.0.2.25',
      helo: 'mail.example.com',
      tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
      reported_by: null,
      file: {
        by: 'mx.google.com',
        provider: 'Gmail',
        at: '2026-11-20T09:46:12.000Z',
        results: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
        origins: { client_ip: { source: 'file', field: 'Received', by: 'mx.google.com' } },
      },
    },
  },
);

export const readMessageReceipt = route({
  method: 'POST',
  path: '/v1/tests/receipt',
  operation: 'readMessageReceipt',
  limited: true,
  role: 'member',
  writes: false,
  summary: 'Read how a saved message was received',
  description:
    'Returns the envelope that a test of this saved message uses if you give no other values. Only the header is read, so the header is enough. Nothing is stored.',
  consumes: { type: 'message/rfc822', maxBytes: () => MAX_HEADER_BYTES },
  response: MessageReceipt,
  async handle({ raw }) {
    const problem = notAMessage('The request body', raw);
    if (problem !== null) throw new AppError('malformed_request', `${problem}.`);
    const { envelope } = fileInput(raw);
    return {
      object: 'message_receipt' as const,
      summary: receiptSentence(envelope),
      envelope: { ...envelope, reported_by: null, file: envelope.file ?? null },
    };
  },
});
