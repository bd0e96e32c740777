/** The options of `check`, and the values that describe how a message was sent. */

import { CATEGORIES, type Envelope } from '../../analysis/check.ts';
import { normalizeAddress } from '../../lib/addresses.ts';
import { UsageError } from '../command.ts';
import type { Options } from '../declaration.ts';
import { REPORT_FORMATS } from './reports/reports.ts';

export const OPTIONS = {
  ip: {
    value: 'ADDRESS',
    description: 'Sending IP address; required to check SPF and reverse DNS',
  },
  helo: { value: 'NAME', description: 'HELO name of the sending server' },
  'mail-from': {
    value: 'ADDR',
    description: 'Envelope sender; "" is the null sender (default: Return-Path)',
  },
  tls: {
    value: 'VERSION',
    description: 'TLSv1.3, TLSv1.2, …, or none',
    completion: ['TLSv1.3', 'TLSv1.2', 'TLSv1.1', 'TLSv1', 'none'],
  },
  kind: {
    value: 'KIND',
    description: 'auto, marketing or transactional',
    choices: ['auto', 'marketing', 'transactional'],
  },
  template: {
    description:
      'Check all files as templates: allow merge tags, skip checks of sending, and find .html files in folders too',
  },
  dns: { value: 'SERVERS', description: 'DNS servers to use, such as 127.0.0.1:5353' },
  'no-links': { description: 'Do not check links' },
  offline: { description: 'Make no network requests' },
  'fail-below': {
    value: 'N',
    description:
      'Exit with code 1 if a score is below N or unknown; content=N for that category; repeatable',
    completion: { prefixes: CATEGORIES.map((category) => `${category}=`) },
    isRepeatable: true,
  },
  baseline: {
    value: 'FILE',
    description: 'Exit with code 1 if a message got worse since FILE was written',
    completion: 'file',
  },
  tolerance: {
    value: 'N',
    description: 'With --baseline: how many points a score can fall (default: 2)',
  },
  report: {
    value: 'FORMAT=FILE',
    description: `Also write a report; several can follow: ${REPORT_FORMATS.slice(0, -1).join(', ')} or ${REPORT_FORMATS.at(-1)}`,
    completion: { prefixes: REPORT_FORMATS.map((format) => `${format}=`), suffix: 'file' },
    isRepeatable: true,
  },
  json: { description: 'Print the result as JSON' },
  html: {
    value: 'FILE',
    description: 'The same as --report html=FILE, for one message',
    completion: 'file',
  },
  pdf: {
    value: 'FILE',
    description: 'The same as --report pdf=FILE, for one message',
    completion: 'file',
  },
  wait: {
    description:
      'Wait for the result of a test on a service (TEST_ID), or of the next message to an inbox (INBOX_ID)',
  },
  'wait-placement': { description: 'The same, and wait for the placement too' },
  since: {
    value: 'TIME',
    description: 'With --wait and an inbox: take the first message since then (default: now)',
  },
  timeout: {
    value: 'DURATION',
    description: 'With --wait: how long to wait at most (default: 70m)',
  },
  url: {
    value: 'URL',
    description: 'With --wait: the service (default: DELIVERABILITY_BASE_URL)',
  },
} as const satisfies Options;

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
