/** What strangers without a key can cost: documents that are the same for everyone, and pipelined requests beside those of others. */

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Child, startChild } from './child.ts';
import { percentile, round2 } from './measure.ts';

interface Ready {
  http: number;
}

const REQUESTS = 200;
const PIPELINED = 600;
const ROUNDS = 5;

export async function benchStrangers() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const service = await startChild<Ready>('service-child.mjs', [folder, '1']);
  try {
    const { http } = service.ready;
    const cpuTime = cpuTimeOf(service);
    const costOf = (path: string, headers = {}) => cpuPerRequest(cpuTime, http, path, headers);
    const etag = (await request(http, '/openapi.json', {})).headers.get('etag');
    return {
      openapi_cpu_ms: await costOf('/openapi.json'),
      openapi_gzip_cpu_ms: await costOf('/openapi.json', { 'accept-encoding': 'gzip' }),
      openapi_br_cpu_ms: await costOf('/openapi.json', { 'accept-encoding': 'br' }),
      openapi_304_cpu_ms: await costOf('/openapi.json', { 'if-none-match': etag ?? '' }),
      docs_cpu_ms: await costOf('/docs'),
      docs_gzip_cpu_ms: await costOf('/docs', { 'accept-encoding': 'gzip' }),
      pipelined: PIPELINED,
      ...(await besidePipelined(http, '/docs', 'docs')),
      ...(await besidePipelined(http, '/v1/status', 'status')),
    };
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The CPU time of the service since its start, in milliseconds. */
function cpuTimeOf({ process: { stdin, stdout } }: Child<Ready>): () => Promise<number> {
  const lines = createInterface(stdout!);
  return async () => {
    stdin!.write('\n');
    const [line] = await once(lines, 'line');
    return JSON.parse(line as string);
  };
}

/** Rejects if the response is an error. */
async function request(port: number, path: string, headers: Record<string, string>) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { 'accept-encoding': 'identity', ...headers },
  });
  await response.arrayBuffer();
  if (response.status >= 400) throw new Error(`${path} returned ${response.status}`);
  return response;
}

async function cpuPerRequest(
  cpuTime: () => Promise<number>,
  port: number,
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  // The first requests make the document, and compile the code.
  for (let i = 0; i < 50; i++) await request(port, path, headers);
  const before = await cpuTime();
  for (let i = 0; i < REQUESTS; i++) await request(port, path, headers);
  return round2(((await cpuTime()) - before) / REQUESTS);
}

/** The latency of `/healthz` on another connection while a stranger has many requests in one write. */
async function besidePipelined(port: number, path: string, name: string) {
  const worst: number[] = [];
  const all: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const latencies = await latenciesBeside(port, path);
    worst.push(Math.max(...latencies));
    all.push(...latencies);
  }
  return {
    // Other programs on the machine delay some rounds; what the stranger delays, all of them show.
    [`beside_pipelined_${name}_ms_worst`]: round2(Math.min(...worst)),
    [`beside_pipelined_${name}_ms_p95`]: round2(percentile(all, 0.95)),
  };
}

async function latenciesBeside(port: number, path: string): Promise<number[]> {
  const [stranger, other] = await Promise.all([open(port), open(port)]);
  const line = `GET ${path} HTTP/1.1\r\nHost: bench.example\r\n\r\n`;
  const last = `GET ${path} HTTP/1.1\r\nHost: bench.example\r\nConnection: close\r\n\r\n`;
  let isOver = false;
  const over = once(stranger, 'close').then(() => {
    isOver = true;
  });
  stranger.resume().write(line.repeat(PIPELINED - 1) + last);
  const latencies: number[] = [];
  do {
    const startedAt = performance.now();
    other.write('GET /healthz HTTP/1.1\r\nHost: bench.example\r\n\r\n');
    await once(other, 'data');
    latencies.push(performance.now() - startedAt);
  } while (!isOver);
  await over;
  other.destroy();
  return latencies;
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  await once(socket, 'connect');
  return socket;
}
