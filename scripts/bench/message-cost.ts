/**
 * What a message costs, from SMTP to its stored result, in the executable: CPU time by kind of thread, messages a second,
 * and private memory. For a newsletter of 8 kB; with `--cpu` also for plain text and for a newsletter of 100 kB.
 */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeKey, signMessage } from '../../test/helpers/signer.ts';
import { installedCopy, measureMemory } from './memory.ts';
import { type BenchMail, benchMail } from './message.ts';
import { newsletter, plainMessage } from './newsletter.ts';

const EXECUTABLE = resolve('dist/deliverability');
const IDLE_MS = 3_000;

/** Each with the number of messages, so that each takes about as long. */
const MESSAGES = {
  newsletter: { text: () => newsletter(8), count: 1500 },
  plain: { text: plainMessage, count: 1500 },
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
  const messages = Object.entries(MESSAGES);
  for (const [name, { text, count }] of options.includes('--cpu')
    ? messages
    : messages.slice(0, 1)) {
    const mail = await signed(text());
    for (const [index, path] of executables.entries()) {
      const installed = installedCopy(path);
      const found = await measureMemory([installed.path], 1, {
        messages: count,
        idleMs: IDLE_MS,
        mail,
      });
      installed.remove();
      figures[index === 0 ? name : `${name}_other_${index}`] = {
        bytes: mail.input.raw.byteLength,
        cpu_ms: found.cpuMs,
        cpu_ms_by_thread: found.cpuMsOf,
        per_second: found.perSecond,
        private_idle_mb: found.privateIdle,
        private_peak_mb: found.privatePeak,
      };
    }
  }
  return figures;
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
