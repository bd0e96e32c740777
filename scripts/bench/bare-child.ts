/** The baseline: node:http and better-sqlite3 pass on the texts of the same row, without routes, keys or validation. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Sqlite from 'better-sqlite3';

const [path] = process.argv.slice(2) as [string];
const sqlite = new Sqlite(path, { readonly: true });
const find = sqlite.prepare('SELECT * FROM tests WHERE id = ?');
const server = createServer((request, response) => {
  const id = request.url!.slice(request.url!.lastIndexOf('/') + 1);
  const { checks, providers, judged_kind, envelope, categories, ...row } = find.get(id) as Record<
    string,
    string
  >;
  const texts = `"categories":${categories},"envelope":${envelope},"judged_kind":${judged_kind},"checks":${checks},"providers":${providers}`;
  const body = `${JSON.stringify(row).slice(0, -1)},${texts}}`;
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ http: (server.address() as AddressInfo).port }));
});
process.on('SIGTERM', () => process.exit(0));
