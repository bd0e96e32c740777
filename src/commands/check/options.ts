/** The options of `check`, as `--help` shows them, and the values that describe how a message was sent. */

import type { AnalysisInput, Envelope } from '../../analysis/check.ts';
import { normalizeAddress } from '../../lib/addresses.ts';
import { UsageError } from '../command.ts';

export const OPTIONS = {
  ip: { type: 'string' },
  helo: { type: 'string' },
  'mail-from': { type: 'string' },
  tls: { type: 'string' },
  kind: { type: 'string' },
  dns: { type: 'string' },
  offline: { type: 'boolean' },
  'no-links': { type: 'boolean' },
  'fail-below': { type: 'string', multiple: true },
  baseline: { type: 'string' },
  tolerance: { type: 'string' },
  report: { type: 'string', multiple: true },
  json: { type: 'boolean' },
  html: { type: 'string' },
  pdf: { type: 'string' },
  wait: { type: 'boolean' },
  'wait-placement': { type: 'boolean' },
  since: { type: 'string' },
  timeout: { type: 'string' },
  url: { type: 'string' },
} as const;

export const HELP = [
  'FILE                An .eml file, a folder with .eml files, or - for standard input; repeatable',
  '--ip ADDRESS        Sending IP address; required to check SPF and reverse DNS',
  '--helo NAME         HELO name of the sending server',
  '--mail-from ADDR    Envelope sender; "" is the null sender (default: Return-Path)',
  '--tls VERSION       TLSv1.3, TLSv1.2, …, or none',
  '--kind KIND         auto, marketing or transactional',
  '--dns SERVERS       DNS servers to use, such as 127.0.0.1:5353',
  '--no-links          Do not check links',
  '--offline           Make no network requests',
  '--fail-below N      Exit with code 1 if a score is below N or unknown; content=N for that category; repeatable',
  '--baseline FILE     Exit with code 1 if a message got worse since FILE was written',
  '--tolerance N       With --baseline: how many points a score can fall (default: 2)',
  '--report FORMAT=FILE  Also write a report; several can follow: json, junit, sarif, markdown, code-quality, baseline, html or pdf',
  '--json              Print the result as JSON',
  '--html FILE         The same as --report html=FILE, for one message',
  '--pdf FILE          The same as --report pdf=FILE, for one message',
  '--wait              Wait for the result of a test on a service (TEST_ID), or of the next message to an inbox (INBOX_ID)',
  '--wait-placement    The same, and wait for the placement too',
  '--since TIME        With --wait and an inbox: take the first message since then (default: now)',
  '--timeout DURATION  With --wait: how long to wait at most (default: 70m)',
  '--url URL           With --wait: the service (default: DELIVERABILITY_BASE_URL)',
  'Exit codes:  0 passed, 1 below a limit or worse than the baseline, 2 invalid option or file, 3 network or disk failure. The highest one of all messages counts.',
];

export function readKind(text = 'auto'): AnalysisInput['kind'] {
  if (text === 'auto' || text === 'marketing' || text === 'transactional') return text;
  throw new UsageError('--kind must be auto, marketing or transactional');
}

export function readEnvelope(values: {
  ip?: string;
  helo?: string;
  'mail-from'?: string;
  tls?: string;
}): Envelope {
  const client_ip = values.ip === undefined ? null : normalizeAddress(values.ip);
  if (values.ip !== undefined && client_ip === null)
    throw new UsageError(`"${values.ip}" is not an IP address`);
  return {
    client_ip,
    helo: values.helo ?? null,
    mail_from: values['mail-from']?.replace(/^<(.*)>$/, '$1') ?? null,
    tls: readTls(values.tls),
  };
}

function readTls(text: string | undefined): Envelope['tls'] {
  if (text === undefined) return null;
  if (text === 'none') return { used: false, version: null, cipher: null };
  if (!/^(TLSv1(\.[0-3])?|SSLv3)$/.test(text))
    throw new UsageError('--tls must be TLSv1.3, TLSv1.2, TLSv1.1, TLSv1 or none');
  return { used: true, version: text, cipher: null };
}

const DEFAULT_TOLERANCE = 2;

export function readTolerance(text: string | undefined, hasBaseline: boolean): number {
  if (text === undefined) return DEFAULT_TOLERANCE;
  if (!hasBaseline) throw new UsageError('--tolerance is only for --baseline');
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100)
    throw new UsageError('--tolerance must be a number from 0 to 100');
  return Number(text);
}
