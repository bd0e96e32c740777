/** CPU time of the analysis of 26 MB in lines that programs must look at one by one: with a bare LF, or signed and blank. */

import { analyze } from '../../src/analysis/analyze.ts';
import type { AnalysisInput } from '../../src/analysis/check.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { makeKey, signMessage } from '../../test/helpers/signer.ts';
import { benchMail } from './message.ts';

const BYTES = 26_000_000;
const LINES = {
  empty: '',
  words: 'ab',
  soft_breaks: '=',
  quoted_printable: '=3D',
  program: 'MZ',
  program_in_base64: 'TVo',
  uuencode: 'begin 644 x',
  html: '<p>',
};
/** With a CRLF and a relaxed signature, whose canonicalization changes each line. */
const SIGNED_LINES = { signed_tabs: '\t', signed_spaces: ' ', signed_ends: 'a ' };

export async function benchBareLf() {
  const { input, zone } = await benchMail();
  const figures: Record<string, number> = {};
  const measureOnce = async (raw: Buffer): Promise<number> => {
    const before = process.threadCpuUsage();
    await analyze({ ...input, raw } satisfies AnalysisInput, { resolver: zoneResolver(zone) });
    const { user, system } = process.threadCpuUsage(before);
    return Math.round((user + system) / 1000);
  };
  // The first time also collects the garbage of making the message.
  const measure = async (raw: Buffer) => Math.min(await measureOnce(raw), await measureOnce(raw));
  // Compiles the code.
  for (let i = 0; i < 20; i++) await measureOnce(Buffer.from(input.raw));
  const key = makeKey('rsa2048');
  zone['many._domainkey.example.com'] = { TXT: [key.record] };
  const signer = { domain: 'example.com', selector: 'many', key, signTime: input.receivedAt! };
  const rawOf = (name: string, line: string, bytes: number) =>
    name in LINES
      ? Buffer.from(messageOf(name, line, '\n', bytes))
      : signMessage(Buffer.from(messageOf(name, line, '\r\n', bytes)), signer);
  for (const [name, line] of Object.entries({ ...LINES, ...SIGNED_LINES })) {
    const half = await measure(await rawOf(name, line, BYTES / 2));
    const whole = await measure(await rawOf(name, line, BYTES));
    figures[`${name}_cpu_ms`] = whole;
    figures[`${name}_over_half`] = Math.round((whole / half) * 10) / 10;
  }
  const times = Object.entries(figures).filter(([name]) => name.endsWith('_ms'));
  return { bytes: BYTES, cpu_ms_most: Math.max(...times.map(([, ms]) => ms)), ...figures };
}

function messageOf(name: string, line: string, end: string, bytes: number): string {
  const header = [
    'From: Someone <someone@example.com>',
    'Subject: Many lines',
    'MIME-Version: 1.0',
    `Content-Type: text/${name === 'html' ? 'html' : 'plain'}; charset=utf-8`,
  ];
  const count = Math.floor(bytes / (line.length + end.length));
  return header.join(end) + end + end + (line + end).repeat(count);
}
