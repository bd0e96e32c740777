/** Progress on stderr while an analysis runs. */

import { servers } from '../config/readers.ts';
import type { DnsServer } from '../lib/addresses.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import { type Io, UsageError } from './command.ts';

interface Progress {
  setStatus(what: string): void;
  end(): void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;

/** A spinner on a terminal; nothing elsewhere. */
export function startProgress(io: Pick<Io, 'stderr' | 'isStderrTerminal' | 'width'>): Progress {
  if (!io.isStderrTerminal) return { setStatus() {}, end() {} };
  let what = 'reading the message';
  let frame = 0;
  const draw = () => {
    const text = `${FRAMES[frame++ % FRAMES.length]} ${what}`.slice(0, io.width - 1);
    io.stderr(`\r\u001b[K${text}`);
  };
  const timer = setInterval(draw, FRAME_MS);
  return {
    setStatus(now) {
      what = now;
    },
    end() {
      clearInterval(timer);
      io.stderr('\r\u001b[K');
    },
  };
}

/** Hides the customer key that is part of the names of Spamhaus' keyed zones. */
const withoutKey = (name: string): string =>
  name.replace(/[^.]+(?=\.[^.]+\.dq\.spamhaus\.net$)/i, '…');

/** Wraps a resolver to show its open queries as progress. */
export function withProgress(
  resolver: Resolver,
  progress: Progress,
  afterwards = 'checking the message',
): Resolver {
  const open = new Set<string>();
  let answered = 0;
  return async (name, type) => {
    const question = `${type} ${withoutKey(name)}`;
    open.add(question);
    progress.setStatus(`waiting for DNS: ${question} (${answered} answered)`);
    const answer = await resolver(name, type);
    answered += 1;
    open.delete(question);
    const next = [...open].at(-1);
    progress.setStatus(next ? `waiting for DNS: ${next} (${answered} answered)` : afterwards);
    return answer;
  };
}

// The option `--dns`.

/** The DNS servers of the option, or null without it. Throws a UsageError if they are invalid. */
export function readDnsOption(text: string | undefined): DnsServer[] | null {
  try {
    return servers(text ?? '');
  } catch (error) {
    throw new UsageError(`--dns ${(error as Error).message}`);
  }
}
