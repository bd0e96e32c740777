/**
 * What a message costs, from SMTP to its stored result, in the executable: CPU time by kind of thread, messages a second,
 * and private memory. For plain text and for newsletters of two sizes. With `--cpu`, it also prints the functions that take
 * the most CPU time.
 */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeKey, signMessage } from '../../test/helpers/signer.ts';
import { installedCopy } from './executable.ts';
import { measureMemory } from './memory.ts';
import { type BenchMail, benchMail } from './message.ts';
import { newsletter, plainMessage } from './newsletter.ts';
import { hottestFunctions } from './profile.ts';

const EXECUTABLE = resolve('dist/deliverability');
const IDLE_MS = 3_000;

/** Each with the number of messages, so that each takes about as long. */
const MESSAGES = {
  plain: { text: plainMessage, count: 1500 },
  newsletter: { text: () => newsletter(8), count: 1500 },
  large: {
    text: () => newsletter(100, ' Some more words follow here, which say nothing.'.repeat(4)),
    count: 300,
  },
};

export async function benchMessage(options: string[]) {
  // Another executable, to compare two versions in one run.
  const others = (process.env.BENCH_OTHER ?? '').split(':').filter(Boolean);
  const executables = [EXECUTABLE, ...others].filter((path) => existsSync(path));
  if (executables.length === 0)
    return { skipped: 'dist/deliverability does not exist: run npm run build' };
  const figures: Record<string, object> = {};
  for (const [name, { text, count }] of Object.entries(MESSAGES)) {
    const mail = await signed(text());
    for (const [index, path] of executables.entries())
      figures[index === 0 ? name : `${name}_other_${index}`] = await cost(path, mail, count);
  }
  if (options.includes('--cpu')) await printProfile();
  const { cpu_ms } = figures.newsletter as Awaited<ReturnType<typeof cost>>;
  return { ...figures, newsletter_cpu_ms: cpu_ms };
}

async function cost(executable: string, mail: BenchMail, messages: number) {
  const installed = installedCopy(executable);
  const found = await measureMemory([installed.path], 1, { messages, idleMs: IDLE_MS, mail });
  installed.remove();
  return {
    bytes: mail.input.raw.byteLength,
    cpu_ms: found.cpuMs,
    cpu_ms_by_thread: found.cpuMsOf,
    per_second: found.perSecond,
    private_idle_mb: found.privateIdle,
    private_peak_mb: found.privatePeak,
  };
}

/** Of the newsletter, measured again, because writing a profile takes time. */
async function printProfile(): Promise<void> {
  const profiles = mkdtempSync(join(tmpdir(), 'profiles-'));
  const { text, count: messages } = MESSAGES.newsletter;
  const mail = await signed(text());
  const installed = installedCopy(EXECUTABLE);
  await measureMemory([installed.path], 1, { messages, idleMs: IDLE_MS, mail, profiles });
  installed.remove();
  for (const [thread, functions] of Object.entries(hottestFunctions(profiles, messages)))
    process.stderr.write(`\n${thread}\n${functions.join('\n')}\n`);
  rmSync(profiles, { recursive: true });
}

/** With two signatures, as services send it. */
export async function signed(text: string): Promise<BenchMail> {
  const { input, zone } = await benchMail();
  const [own, provider] = [makeKey(), makeKey()];
  const once = await signMessage(text, { domain: 'example.com', selector: 's1', key: own });
  const raw = await signMessage(once, {
    domain: 'provider.example',
    selector: 's2',
    key: provider,
  });
  return {
    input: { ...input, raw },
    zone: {
      ...zone,
      's1._domainkey.example.com': { TXT: [own.record] },
      's2._domainkey.provider.example': { TXT: [provider.record] },
    },
  };
}
