/** A service with its own TLS for several names, a real DNS server, and a guarded client that trusts its certificates. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { Domain } from '../../src/domains/schema.ts';
import { createFetch } from '../../src/features.ts';
import type { HostedFiles } from '../../src/hosted-files/schema.ts';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { createDnsResolver } from '../../src/net/dns/network-resolver.ts';
import type { Zone } from '../../src/net/dns/zone.ts';
import { createWebClient } from '../../src/net/http/client.ts';
import { makeAuthority, makeIntermediate, makeMark } from '../analysis/bimi/mark-certificates.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { startTestService } from '../helpers/app.ts';
import { makeTestAuthority } from '../helpers/authority.ts';
import { testClock } from '../helpers/clock.ts';
import { startDnsServer } from '../helpers/dns-server.ts';

export const SERVICE_HOST = 'mail.example.net';
/** Public, because the guard refuses others. Connections to it end at the service. */
const ADDRESS = '198.41.0.4';

export const LOGO =
  '<?xml version="1.0"?><svg version="1.2" baseProfile="tiny-ps" viewBox="0 0 64 64" xmlns="http://www.w3.org/2000/svg"><title>Example</title><circle cx="32" cy="32" r="30" fill="#305090"/></svg>';

const ROOT = makeAuthority();
const INTERMEDIATE = makeIntermediate(ROOT);
export const markFor = (names: string[], logo = LOGO): string =>
  `${makeMark(INTERMEDIATE, { names, logo })}${INTERMEDIATE.pem}${ROOT.pem}`;

export interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
  text: string;
}

export async function startHostedService(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'hosted-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const authority = await makeTestAuthority();
  const write = async (name: string, host: string, key: string) => {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    const pair = await authority.issue([host]);
    writeFileSync(join(folder, name), pair.cert);
    writeFileSync(join(folder, name, '..', key), pair.key);
  };
  await write('default.pem', SERVICE_HOST, 'default.key');
  // As certbot and as lego name them.
  await write(
    'certificates/mta-sts.example.com/fullchain.pem',
    'mta-sts.example.com',
    'privkey.pem',
  );
  await write('certificates/bimi.example.com.crt', 'bimi.example.com', 'bimi.example.com.key');
  const clock = testClock();
  const dns = await startDnsServer({ ...GOOD_ZONE, [SERVICE_HOST]: { A: [ADDRESS] } } as Zone);
  t.after(() => dns.close());
  const resolver = createDnsResolver({ servers: [dns.address], clock });
  t.after(() => resolver.close());
  let port = 0;
  const web = createWebClient({
    resolver,
    ca: [authority.ca],
    // The guard checks the peer of a connection, too.
    allowNetworks: [parseNetwork('127.0.0.1/32')],
    dial: () => connect(port, '127.0.0.1'),
  });
  const service = await startTestService(t, {
    clock,
    resolver,
    forgetDns: resolver.forget,
    web,
    probeMailTls: async () => ({ status: 'unreachable', silent: false, detail: 'port 25 is shut' }),
    env: {
      DELIVERABILITY_BASE_URL: `https://${SERVICE_HOST}`,
      DELIVERABILITY_HTTP_TLS_CERT_FILE: join(folder, 'default.pem'),
      DELIVERABILITY_HTTP_TLS_KEY_FILE: join(folder, 'default.key'),
      DELIVERABILITY_HTTP_TLS_DIR: join(folder, 'certificates'),
    },
  });
  port = service.http.port;
  await service.app.scheduler.stop();
  const handle = createFetch(service.app);
  const call = async <T = Record<string, unknown>>(
    method: string,
    path: string,
    json?: unknown,
    key: string = service.key,
  ): Promise<Answer<T>> => {
    const response = await handle(
      new Request(`https://${SERVICE_HOST}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      }),
    );
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text), text };
  };
  const filesPath = (id: string) => `/v1/domains/${id}/hosted_files`;
  return {
    ...service,
    authority,
    certificates: join(folder, 'certificates'),
    clock,
    dns,
    call,
    async addVerified(name: string): Promise<Domain> {
      const { body } = await call<Domain>('POST', '/v1/domains', { name });
      dns.zone[body.verification.name] = { TXT: [body.verification.value] };
      resolver.forget(body.verification.name);
      return (await call<Domain>('POST', `/v1/domains/${body.id}/verify`)).body;
    },
    getFiles: (id: string) => call<HostedFiles>('GET', filesPath(id)),
    setFiles: (id: string, json: object) => call<HostedFiles>('PATCH', filesPath(id), json),
    /** Sets records as a name server would, past the cache. */
    publish(name: string, records: Zone[string]) {
      dns.zone[name] = records;
      resolver.forget(name);
    },
    /** A request as it is on the wire, in a connection that asks for the name and verifies its certificate. */
    raw: (head: string, name = 'mta-sts.example.com') =>
      new Promise<string>((resolve, reject) => {
        const socket = connectTls({
          port,
          host: '127.0.0.1',
          servername: name,
          ca: [authority.ca],
        });
        let text = '';
        socket.on('secureConnect', () => socket.write(`${head}\r\nConnection: close\r\n\r\n`));
        socket.on('data', (chunk) => {
          text += chunk;
        });
        socket.on('end', () => resolve(text));
        socket.on('error', reject);
      }),
    /** The host of the certificate that a connection gets for a name. */
    certificateFor: (name: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connectTls({
          port,
          host: '127.0.0.1',
          servername: name,
          rejectUnauthorized: false,
        });
        socket.on('secureConnect', () => {
          resolve(String(socket.getPeerCertificate().subjectaltname));
          socket.destroy();
        });
        socket.on('error', reject);
      }),
  };
}
