/** The thread for feedback: reads reports one after the other, and verifies the messages that carried them. */

import { parentPort } from 'node:worker_threads';
import type { Envelope } from '../../analysis/check.ts';
import {
  type LookupAnswer,
  type LookupRequest,
  remoteResolver,
} from '../../net/dns/remote-resolver.ts';
import { readFeedback } from '../reading/read.ts';
import { reduceToReport } from '../reading/reduce.ts';
import type { ReadItem } from '../reading/report.ts';
import { type PreparedItem, prepare } from './prepare.ts';
import { type Verification, type VerifyLimits, verifyMail } from './verify.ts';

export type ToWorker =
  /** `now` in milliseconds since the Unix epoch. */
  | { type: 'read' | 'parse'; job: number; raw: Uint8Array; now: number }
  | {
      type: 'verify';
      job: number;
      raw: Uint8Array;
      envelope: Envelope | null;
      receivedAt: number;
      limits: VerifyLimits | undefined;
    }
  | { type: 'reduce'; job: number; raw: Uint8Array }
  | LookupAnswer;

export type FromWorker =
  | LookupRequest
  | { type: 'read'; job: number; items: PreparedItem[] }
  | { type: 'parse'; job: number; items: ReadItem[] }
  | { type: 'verified'; job: number; verification: Verification }
  | { type: 'reduced'; job: number; raw: Uint8Array | null }
  | { type: 'failed'; job: number; error: string };

const port = parentPort!;
const send = (message: FromWorker) => port.postMessage(message);
const { resolver, settle } = remoteResolver(send);

port.on('message', (message: ToWorker) => {
  if (message.type === 'answer') settle(message);
  else
    run(message)
      .catch((error): FromWorker => {
        const text = String((error as Error)?.stack ?? error);
        return { type: 'failed', job: message.job, error: text };
      })
      .then(send);
});

async function run(message: Exclude<ToWorker, LookupAnswer>): Promise<FromWorker> {
  const { job, raw } = message;
  if (message.type === 'reduce') return { type: 'reduced', job, raw: await reduceToReport(raw) };
  if (message.type !== 'verify') {
    const items = await readFeedback(raw, { now: message.now });
    return message.type === 'parse'
      ? { type: 'parse', job, items }
      : { type: 'read', job, items: items.map(prepare) };
  }
  const { envelope, receivedAt, limits } = message;
  const verification = await verifyMail(raw, envelope, receivedAt, resolver, limits);
  return { type: 'verified', job, verification };
}
