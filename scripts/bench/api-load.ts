/** Sends requests at a constant rate, independent of response times, and measures each. */

import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile, round2 } from './measure.ts';

export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  body?: object;
  perSecond: number;
}

export interface Load {
  /** Stops, waits for open requests, and resolves with the durations in milliseconds by name. */
  stop(): Promise<Record<string, number[]>>;
}

export interface Api {
  port: number;
  key: string;
}

/** Resolves with the response body; rejects unless the request succeeds. */
export function call<T>(
  { port, key }: Api,
  { method, path, body }: Omit<LoadRequest, 'perSecond'>,
) {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const options = { agent: AGENT, host: '127.0.0.1', port, method, path, headers };
  const sent = request(options, (response) => {
    const parts: Buffer[] = [];
    response.on('data', (part) => parts.push(part));
    response.on('end', () => {
      const text = Buffer.concat(parts).toString();
      if (response.statusCode! < 300) resolve(JSON.parse(text));
      else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
    });
  });
  sent.on('error', reject);
  sent.end(body && JSON.stringify(body));
  return promise;
}

const AGENT = new Agent({ keepAlive: true });

export function startLoad(api: Api, kinds: Record<string, LoadRequest>): Load {
  const durations: Record<string, number[]> = {};
  let stopped = false;
  const loops = Object.entries(kinds).map(async ([name, kind]) => {
    const times: number[] = [];
    durations[name] = times;
    const pending = new Set<Promise<void>>();
    for (let due = performance.now(); !stopped; due += 1000 / kind.perSecond) {
      await pause(Math.max(0, due - performance.now()));
      const started = performance.now();
      const work = call(api, kind).then(() => void times.push(performance.now() - started));
      pending.add(work);
      void work.finally(() => pending.delete(work)).catch(() => {});
    }
    await Promise.all(pending);
  });
  const ended = Promise.all(loops);
  ended.catch(() => {});
  return {
    async stop() {
      stopped = true;
      await ended;
      return durations;
    },
  };
}

export const percentiles = (values: number[]) => ({
  p50: round2(percentile(values, 0.5)),
  p95: round2(percentile(values, 0.95)),
  p99: round2(percentile(values, 0.99)),
});
