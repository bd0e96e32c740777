/** Reads the greeting of an SMTP server, which shows that mail can reach it. */

import { connect } from 'node:net';
import { printable } from '../../lib/log.ts';
import { connectionFailure } from '../tls.ts';

export type Greeting =
  | { status: 'greeted'; text: string }
  /** `detail` is a clause. */
  | { status: 'failed'; reason: 'refused' | 'timeout' | 'other'; detail: string };

export interface GreetingOptions {
  timeoutMs?: number;
  /** Sent first, for a listener that expects the PROXY protocol. */
  prefix?: string;
}

const MAX_BYTES = 2_000;

/** Connects and disconnects; never rejects. */
export function readGreeting(
  host: string,
  port: number,
  { timeoutMs = 5_000, prefix = '' }: GreetingOptions = {},
): Promise<Greeting> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let received = '';
    const finish = (greeting: Greeting) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(greeting);
    };
    const failed = (reason: 'refused' | 'timeout' | 'other', detail: string) =>
      finish({ status: 'failed', reason, detail });
    const timer = setTimeout(() => failed('timeout', 'no response in time'), timeoutMs);
    socket.on('connect', () => {
      if (prefix !== '') socket.write(prefix);
    });
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const line = /^(\d{3})[ -](.*?)\r?\n/.exec(received);
      if (line?.[1] === '220') {
        socket.write('QUIT\r\n');
        finish({ status: 'greeted', text: printable(line[2]!.trim()) });
      } else if (line)
        failed('other', `the server replied ${line[1]} ${printable(line[2]!).slice(0, 100)}`);
      else if (received.length > MAX_BYTES) failed('other', 'the response is no SMTP greeting');
    });
    socket.on('end', () => failed('other', 'the server closed the connection'));
    socket.on('error', (error) => {
      const isRefused = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
      failed(isRefused ? 'refused' : 'other', connectionFailure(error));
    });
  });
}
