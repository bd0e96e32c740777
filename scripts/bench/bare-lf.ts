/** CPU time of the analysis of 26 MB in lines that end with a bare LF, of the kinds that programs must look at one by one. */

import { analyze } from '../../src/analysis/analyze.ts';
import type { AnalysisInput } from '../../src/analysis/check.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
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

export async function benchBareLf() {
  const { input, zone } = await benchMail();
  const figures: Record<string, number> = {};
  const measure = async (raw: Buffer): Promise<number> => {
    const before = process.threadCpuUsage();
    await analyze({ ...input, raw } satisfies AnalysisInput, { resolver: zoneResolver(zone) });
    const { user, system } = process.threadCpuUsage(before);
    return Math.round((user + system) / 1000);
  };
  // Compiles the code.
  for (let i = 0; i < 20; i++) await measure(Buffer.from(input.raw));
  for (const [name, line] of Object.entries(LINES)) {
    const half = await measure(messageOf(name, line, BYTES / 2));
    const whole = await measure(messageOf(name, line, BYTES));
    figures[`${name}_cpu_ms`] = whole;
    figures[`${name}_over_half`] = Math.round((whole / half) * 10) / 10;
  }
  const times = Object.entries(figures).filter(([name]) => name.endsWith('_ms'));
  return { bytes: BYTES, cpu_ms_most: Math.max(...times.map(([, ms]) => ms)), ...figures };
}

function messageOf(name: string, line: string, bytes: number): Buffer {
  const header = [
    'From: Someone <someone@example.com>',
    'Subject: Many lines',
    'MIME-Version: 1.0',
    `Content-Type: text/${name === 'html' ? 'html' : 'plain'}; charset=utf-8`,
  ];
  const count = Math.floor(bytes / (line.length + 1));
  return Buffer.from(`${header.join('\n')}\n\n${`${line}\n`.repeat(count)}`);
}
