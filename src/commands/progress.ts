/** Progress on stderr while an analysis runs. */

import { servers } from '../config/readers.ts';
import type { DnsServer } from '../lib/addresses.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import { type Io, UsageError } from './command.ts';

interface Progress {
  setStatus(status: string): void;
  end(): void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;

/** Shows a spinner on a terminal, and nothing elsewhere. */
export function startProgress(io: Pick<Io, 'status' | 'isStderrTerminal' | 'width'>): Progress {
  if (!io.isStderrTerminal) return { setStatus() {}, end() {} };
  let status = 'reading the message';
  let frame = 0;
  const draw = () => {
    const text = `${FRAMES[frame++ % FRAMES.length]} ${status}`.slice(0, io.width - 1);
    io.status(text);
  };
  const timer = setInterval(draw, FRAME_MS);
  return {
    setStatus(newStatus) {
      status = newStatus;
    },
    end() {
      clearInterval(timer);
      io.status('');
    },
  };
}

/** Hides the customer key in the zone names of the Spamhaus Data Query Service. */
const withoutKey = (name: string): string =>
  name.replace(/[^.]+(?=\.[^.]+\.dq\.spamhaus\.net$)/i, '…');

/** Wraps a resolver to show its open queries as progress. */
export function withProgress(
  resolver: Resolver,
  progress: Progress,
  idleStatus = 'checking the message',
): Resolver {
  const openQueries = new Set<string>();
  let answeredCount = 0;
  return async (name, type) => {
    const question = `${type} ${withoutKey(name)}`;
    openQueries.add(question);
    progress.setStatus(`waiting for DNS: ${question} (${answeredCount} answered)`);
    const answer = await resolver(name, type);
    answeredCount += 1;
    openQueries.delete(question);
    const latest = [...openQueries].at(-1);
    progress.setStatus(
      latest ? `waiting for DNS: ${latest} (${answeredCount} answered)` : idleStatus,
    );
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
