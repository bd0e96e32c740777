/** What a person sees on stderr while an analysis runs: what it waits for. */

import { servers } from '../config/readers.ts';
import type { DnsServer } from '../lib/addresses.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import { type Io, UsageError } from './command.ts';

interface Progress {
  waitFor(what: string): void;
  end(): void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;

/** A spinner on a terminal; nothing elsewhere. */
export function startProgress(io: Pick<Io, 'stderr' | 'terminalErr' | 'width'>): Progress {
  if (!io.terminalErr) return { waitFor() {}, end() {} };
  let what = 'reading the message';
  let frame = 0;
  const draw = () => {
    const text = `${FRAMES[frame++ % FRAMES.length]} ${what}`.slice(0, io.width - 1);
    io.stderr(`\r\u001b[K${text}`);
  };
  const timer = setInterval(draw, FRAME_MS);
  return {
    waitFor(now) {
      what = now;
    },
    end() {
      clearInterval(timer);
      io.stderr('\r\u001b[K');
    },
  };
}

/** Spamhaus' keyed zones hold the key: it is shown nowhere. */
const withoutKey = (name: string): string =>
  name.replace(/[^.]+(?=\.[^.]+\.dq\.spamhaus\.net$)/i, '…');

/** The same resolver, with its open questions told. */
export function watched(
  resolver: Resolver,
  progress: Progress,
  afterwards = 'looking at the message',
): Resolver {
  const open = new Set<string>();
  let answered = 0;
  return async (name, type) => {
    const question = `${type} ${withoutKey(name)}`;
    open.add(question);
    progress.waitFor(`waiting for DNS: ${question} (${answered} answered)`);
    const answer = await resolver(name, type);
    answered += 1;
    open.delete(question);
    const next = [...open].at(-1);
    progress.waitFor(next ? `waiting for DNS: ${next} (${answered} answered)` : afterwards);
    return answer;
  };
}

// The option `--dns`, which every command takes that asks the DNS.

/** The servers it names, or null where it is not given. Throws a UsageError for what are none. */
export function readDnsOption(text: string | undefined): DnsServer[] | null {
  try {
    return servers(text ?? '');
  } catch (error) {
    throw new UsageError(`--dns ${(error as Error).message}`);
  }
}
