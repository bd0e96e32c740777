/** API schemas of the SMTP session of a message. */

import * as v from 'valibot';
import { AUTH_RESULTS } from '../../analysis/auth-results.ts';
import { RECEIVER_METHODS } from '../../analysis/receipt/results.ts';
import { described, named, Text, Time } from '../../http/schemas.ts';

const ReportingServer = named(
  'ReportingServer',
  v.object({
    client_ip: described(v.string(), 'The IP address of the mail server.'),
    name: described(Text, 'The name of the mail server. Null if it gave none.'),
    method: described(
      v.nullable(v.picklist(['xclient', 'xforward', 'received'])),
      'How it reported the client: with XCLIENT, with XFORWARD, or in its `Received` field. Null if it did not, or not in a known form: the client is unknown.',
    ),
  }),
  'A mail server of yours, trusted to report the client of a message.',
  { client_ip: '10.0.0.5', name: 'mx.example.com', method: 'received' },
);

const OriginOfValue = named(
  'OriginOfValue',
  v.object({
    source: described(
      v.picklist(['file', 'given']),
      '`given`: the value was sent with the message.',
    ),
    field: described(Text, 'The header field. Null if given.'),
    by: described(Text, 'The server that wrote the field. Null if given.'),
  }),
  'Where a value of the envelope comes from.',
  { source: 'file', field: 'Received', by: 'mx.google.com' },
);

const ReceiverResults = named(
  'ReceiverResults',
  v.object(
    v.entriesFromList(
      RECEIVER_METHODS,
      described(v.optional(v.picklist(AUTH_RESULTS)), 'Missing if it recorded none.'),
    ),
  ),
  'What a receiving server recorded about authentication.',
  { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
);

const FileReceipt = named(
  'FileReceipt',
  v.object({
    by: described(Text, 'The server that received the message.'),
    provider: described(
      Text,
      'The mailbox provider that runs the server. Null for any other server.',
    ),
    at: described(v.nullable(Time), 'When the server received the message.'),
    results: described(
      v.nullable(ReceiverResults),
      'What the server recorded about authentication. Null if it recorded nothing.',
    ),
    origins: described(
      v.record(
        v.picklist(['at', 'client_ip', 'helo', 'tls', 'mail_from', 'results']),
        OriginOfValue,
      ),
      'Where each known value comes from.',
    ),
  }),
  'What the header of an uploaded message says about its receipt. Values that are null or missing are not known.',
  {
    by: 'mx.google.com',
    provider: 'Gmail',
    at: '2026-11-20T09:46:12.000Z',
    origins: { client_ip: { source: 'file', field: 'Received', by: 'mx.google.com' } },
  },
);

export const Envelope = named(
  'Envelope',
  v.object({
    mail_from: described(
      Text,
      'The envelope sender (MAIL FROM). Empty for bounces. Null if it is not known.',
    ),
    client_ip: described(
      Text,
      'The IPv4 or IPv6 address of the sending server. Null if it is not known.',
    ),
    helo: described(
      Text,
      'The name that the sending server gave in HELO or EHLO. Null if it is not known.',
    ),
    tls: described(
      v.nullable(
        named(
          'EnvelopeTls',
          v.object({
            used: described(v.boolean(), 'Whether the connection was encrypted.'),
            version: described(Text, 'The TLS version. Null without TLS.'),
            cipher: described(Text, 'The cipher suite. Null without TLS.'),
          }),
          'The encryption of an SMTP connection.',
          { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
        ),
      ),
      'The encryption of the connection. Null if it is not known.',
    ),
    reported_by: described(
      v.nullable(ReportingServer),
      'Your mail server that passed the message on and reported the client. Null if the client itself connected.',
    ),
    file: described(
      v.nullable(FileReceipt),
      'For an uploaded message: what its header says about its receipt, and where each value comes from. Null if the message was sent here.',
    ),
  }),
  'The SMTP session that delivered a message.',
  {
    mail_from: 'bounces@example.com',
    client_ip: '192.0.2.25',
    helo: 'mail.example.com',
    reported_by: null,
    file: null,
  },
);
