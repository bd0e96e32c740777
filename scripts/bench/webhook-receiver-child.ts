/** A healthy receiver of webhooks: answers at once, and remembers when each event came. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

const [pemFile] = process.argv.slice(2) as [string];
const pem = readFileSync(pemFile);
/** Milliseconds since the Unix epoch, by event. */
let came = new Map<string, number>();
let repeated = 0;

const server = createServer({ key: pem, cert: pem }, (request, response) => {
  request.resume();
  request.on('end', () => {
    const id = String(request.headers['webhook-id']);
    if (came.has(id)) repeated++;
    else came.set(id, performance.timeOrigin + performance.now());
    response.end('ok');
  });
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
});

// Each line asks for what has come since the last.
createInterface(process.stdin).on('line', () => {
  console.log(JSON.stringify({ came: [...came], repeated }));
  came = new Map();
  repeated = 0;
});
process.on('SIGTERM', () => process.exit(0));
