/** A healthy webhook receiver: responds immediately and records when each event arrived. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

const [pemFile] = process.argv.slice(2) as [string];
const pem = readFileSync(pemFile);
/** The time of receipt in milliseconds since the Unix epoch, by event ID. */
let received = new Map<string, number>();
let duplicates = 0;

const server = createServer({ key: pem, cert: pem }, (request, response) => {
  request.resume();
  request.on('end', () => {
    const id = String(request.headers['webhook-id']);
    if (received.has(id)) duplicates++;
    else received.set(id, performance.timeOrigin + performance.now());
    response.end('ok');
  });
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
});

// Each line requests the events received since the last line.
createInterface(process.stdin).on('line', () => {
  console.log(JSON.stringify({ received: [...received], duplicates }));
  received = new Map();
  duplicates = 0;
});
process.on('SIGTERM', () => process.exit(0));
