/** Requests per second on GET /v1/tests/{id}, compared with the baseline on the same row. */

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAnalysisPool } from '../../src/analysis/pool.ts';
import { silentLog } from '../../src/lib/log.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { openStore } from '../../src/store/open.ts';
import { startChild } from './child.ts';
import { measureInTurns, median, ratio } from './measure.ts';
import { benchMail } from './message.ts';
import { wrkRate } from './wrk.ts';

const CONNECTIONS = 16;

interface Ready {
  http: number;
  key: string;
  tests: { id: string }[];
}

export async function benchHttp() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const service = await startChild<Ready>('service-child.mjs', [folder, '1']);
  const path = join(folder, 'deliverability.db');
  const { id } = service.ready.tests[0]!;
  const bytes = await storeResult(path, id);
  const bare = await startChild<Ready>('bare-child.mjs', [path]);
  const options = { key: service.ready.key, connections: CONNECTIONS };
  const rateOf = (port: number) => wrkRate(`http://127.0.0.1:${port}/v1/tests/${id}`, options);
  try {
    const rates = await measureInTurns({
      bare: () => rateOf(bare.ready.http),
      service: () => rateOf(service.ready.http),
    });
    return {
      result_bytes: bytes,
      connections: CONNECTIONS,
      bare_per_second: Math.round(median(rates.bare)),
      service_per_second: Math.round(median(rates.service)),
      service_over_bare: ratio(rates.service, rates.bare),
    };
  } finally {
    await Promise.all([service.stop(), bare.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Stores a real result in the row that all servers read. `location`: of the database. */
export async function storeResult(location: string, id: string): Promise<number> {
  const { input, zone } = await benchMail();
  const pool = createAnalysisPool({ threads: 1, resolver: zoneResolver(zone), log: silentLog });
  const outcome = await pool.analyze(input);
  await pool.close();
  if (!outcome.ok) throw new Error(outcome.detail);
  const { categories, checks, providers, judged_kind, alternative } = outcome.result;

  const store = await openStore(location);
  await store.db
    .updateTable('tests')
    .set({
      status: 'completed',
      checks,
      providers,
      judged_kind: JSON.stringify({ ...judged_kind, alternative }),
      categories: JSON.stringify(categories),
      envelope: JSON.stringify(input.envelope),
    })
    .where('id', '=', id)
    .execute();
  await store.close();
  return checks.length + providers.length;
}

/** Sends `count` requests over persistent connections to the servers, one at a time on each. */
export async function sendRequests(
  count: number,
  servers: [port: number, request: string][],
): Promise<void> {
  let remaining = count;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, i) => {
      const [port, request] = servers[i % servers.length]!;
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      while (remaining-- > 0) {
        socket.write(request);
        await readResponse(socket);
      }
      socket.destroy();
    }),
  );
}

function readResponse(socket: import('node:net').Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let head = '';
    let bytesLeft = -1;
    const onData = (chunk: Buffer) => {
      if (bytesLeft < 0) {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        if (!head.startsWith('HTTP/1.1 200')) reject(new Error(head.slice(0, 200)));
        const length = /content-length: (\d+)/i.exec(head);
        if (!length) reject(new Error('no content-length'));
        bytesLeft = Number(length?.[1]) - (head.length - end - 4);
      } else bytesLeft -= chunk.length;
      if (bytesLeft <= 0) {
        socket.off('data', onData);
        resolve();
      }
    };
    socket.on('data', onData);
  });
}
