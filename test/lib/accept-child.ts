/** Both listeners without useful limits, in a process that can open only a few files. */

import { startHttp } from '../../src/http/server.ts';
import { makeCertificate } from '../../src/lib/certificates.ts';
import { type Log, silentLog } from '../../src/lib/log.ts';
import { startSmtp } from '../../src/smtp/server.ts';

const log: Log = { ...silentLog, warn: (message, fields) => console.error(message, fields) };
const host = '127.0.0.1';
const http = await startHttp({
  host,
  port: 0,
  fetch: async () => new Response('hello'),
  log,
  newId: (prefix) => `${prefix}_1`,
  limits: { total: 100_000, perClient: 100_000 },
});
const smtp = await startSmtp(
  {
    host,
    port: 0,
    name: 'mx.example.com',
    tls: await makeCertificate('mx.example.com', Date.now()),
    domain: 'inbox.example.com',
    destinations: [
      {
        label: 'test',
        maxSize: 1000,
        check: async () => ({ accept: true }),
        receive: async () => ({ accept: true, text: 'Kept' }),
      },
    ],
    minFreeBytes: 0,
    proxyNetworks: [],
    forwardingNetworks: [],
    trustedHops: [],
    limits: { connections: 100_000, connectionsPerAddress: 100_000 },
    log,
  },
  {
    freeBytes: async () => 1,
  },
);
console.log(JSON.stringify({ http: http.port, smtp: smtp.port }));
