/** API schemas of what TLS reports say about a domain. */

import * as v from 'valibot';
import { Count, described, idOf, named, Text, Time, typeField } from '../../http/schemas.ts';
import { DAYS } from './period.ts';

const TlsDay = named(
  'TlsDay',
  v.object({
    date: v.string(),
    succeeded: Count,
    failed: described(Count, 'Failed sessions.'),
  }),
  'The TLS sessions of one day.',
  { succeeded: 100, failed: 3 },
);

const TlsServer = named(
  'TlsServer',
  v.object({
    receiving_mx: described(Text, 'The mail server. Null if the reports do not name it.'),
    sessions: described(Count, 'Failed sessions with it.'),
  }),
  'The failures of one mail server.',
  { receiving_mx: 'mx.example.com', sessions: 3 },
);

const TlsReason = named(
  'TlsReason',
  v.object({
    result_type: described(v.string(), 'The kind of failure (RFC 8460 §4.3).'),
    sessions: described(Count, 'Failed sessions.'),
    meaning: described(v.string(), 'What it means.'),
    fix: described(v.string(), 'What to do about it.'),
  }),
  'Why sessions failed.',
  {
    result_type: 'certificate-expired',
    sessions: 3,
    meaning: 'The certificate of the mail server has expired.',
    fix: 'Renew the certificate of the mail server, and check that the server uses the new one.',
  },
);

const TlsReporter = named(
  'TlsReporter',
  v.object({
    id: idOf('rep'),
    name: described(v.string(), 'Its name.', 'receiver ltd'),
    reports: described(Count, 'The number of its reports.', 30),
    succeeded: described(Count, 'Successful sessions.', 100),
    failed: described(Count, 'Failed sessions.', 3),
    last_at: Time,
  }),
  'The TLS sessions that one reporter counts.',
);

const TlsPolicySum = named(
  'TlsPolicySum',
  v.object({
    policy_type: described(v.string(), '`sts`, `tlsa` or `no-policy-found`.', 'sts'),
    mode: described(Text, 'The mode of an MTA-STS policy, as the reporters saw it.', 'enforce'),
    succeeded: described(Count, 'Successful sessions.', 100),
    failed: described(Count, 'Failed sessions.', 3),
  }),
  'The TLS sessions to which a kind of policy applied.',
);

const TlsFailureSum = named(
  'TlsFailureSum',
  v.object({
    result_type: described(v.string(), 'The kind of failure.', 'certificate-expired'),
    receiving_mx: described(
      Text,
      'The mail server. Null if the reports do not name it.',
      'mx.example.com',
    ),
    sessions: described(Count, 'Failed sessions.', 3),
  }),
  'The sessions with one mail server that failed for the same reason.',
);

export const TlsFeedback = named(
  'TlsFeedback',
  v.object({
    object: typeField('tls_feedback'),
    ...DAYS,
    succeeded: described(Count, 'Successful sessions.', 100),
    failed: described(Count, 'Failed sessions.', 3),
    days: described(v.array(TlsDay), 'The days for which there are reports, oldest first.', [
      { date: '2026-11-21', succeeded: 100, failed: 3 },
    ]),
    servers: described(
      v.array(TlsServer),
      'The mail servers with failures, those with the most first.',
      [{ receiving_mx: 'mx.example.com', sessions: 3 }],
    ),
    reasons: described(v.array(TlsReason), 'Why sessions failed, the most frequent first.', []),
    failures: described(
      v.array(TlsFailureSum),
      'Failed sessions by reason and mail server, the most frequent first; at most 100.',
      [],
    ),
    reporter_count: described(Count, 'How many reporters sent reports that count.', 3),
    reporters: described(
      v.array(TlsReporter),
      'Who reported, those with the most sessions first; at most 100. Reports that are only partly in the period are counted in full.',
      [],
    ),
    policies: described(
      v.array(TlsPolicySum),
      'The kinds of policy that applied, from the newest 500 reports; those with the most sessions first.',
      [],
    ),
  }),
  'What TLS reports say about a domain.',
);
