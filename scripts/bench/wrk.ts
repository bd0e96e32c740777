/** HTTP requests per second, by the load generator wrk, which needs much less time for each than a server in Node. */

import { promisify } from 'node:util';
import { execFile } from '../programs.ts';

const THREADS = '1';
const SECONDS = '3s';

/** Rejects if wrk is not installed, or if any response is not a success. */
export async function wrkRate(
  url: string,
  { key, connections }: { key: string; connections: number },
): Promise<number> {
  const args = ['-t', THREADS, '-c', String(connections), '-d', SECONDS];
  const header = `Authorization: Bearer ${key}`;
  const { stdout } = await promisify(execFile)('wrk', [...args, '-H', header, url]).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw new Error('wrk is not installed: run scripts/setup-test-machine.sh');
    },
  );
  const failures = /^ *(?:Non-2xx|Socket errors).*$/m.exec(stdout);
  if (failures) throw new Error(`${url}: ${failures[0].trim()}`);
  return Number(/^Requests\/sec: +([\d.]+)$/m.exec(stdout)![1]);
}
