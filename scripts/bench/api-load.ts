/** Requests at a steady rate, whatever the answers take, and how long each took. */

import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile, round2 } from './measure.ts';

export interface Kind {
  method: 'GET' | 'POST';
  path: string;
  body?: object;
  perSecond: number;
}

export interface Load {
  /** Stops, waits for what is under way, and gives the milliseconds by name. */
  stop(): Promise<Record<string, number[]>>;
}

export interface Api {
  port: number;
  key: string;
}

/** The answer's body; throws for what is not a success. */
export function call<T>({ port, key }: Api, { method, path, body }: Omit<Kind, 'perSecond'>) {
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

export function startLoad(api: Api, kinds: Record<string, Kind>): Load {
  const took: Record<string, number[]> = {};
  let stopped = false;
  const loops = Object.entries(kinds).map(async ([name, kind]) => {
    const own: number[] = [];
    took[name] = own;
    const underWay = new Set<Promise<void>>();
    for (let due = performance.now(); !stopped; due += 1000 / kind.perSecond) {
      await pause(Math.max(0, due - performance.now()));
      const started = performance.now();
      const work = call(api, kind).then(() => void own.push(performance.now() - started));
      underWay.add(work);
      void work.finally(() => underWay.delete(work)).catch(() => {});
    }
    await Promise.all(underWay);
  });
  const ended = Promise.all(loops);
  ended.catch(() => {});
  return {
    async stop() {
      stopped = true;
      await ended;
      return took;
    },
  };
}

export const spread = (values: number[]) => ({
  p50: round2(percentile(values, 0.5)),
  p95: round2(percentile(values, 0.95)),
  p99: round2(percentile(values, 0.99)),
});
