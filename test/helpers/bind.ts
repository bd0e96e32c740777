/** Starts a real BIND, Knot DNS or PowerDNS on loopback, with zones that accept dynamic updates signed with a TSIG key. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { execFileSync } from '../../scripts/programs.ts';
import { absoluteName, zoneFileData } from '../../src/dns-changes/presentation.ts';
import type { ServerContext } from '../../src/dns-changes/server.ts';
import type { DnsServer } from '../../src/lib/addresses.ts';
import { parseNetwork } from '../../src/lib/addresses.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createDnsResolver } from '../../src/net/dns/network-resolver.ts';
import type { RecordType, Resolver } from '../../src/net/dns/resolver.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { offlineWebClient } from '../../src/net/http/web.ts';
import { freePort, startDaemon } from './daemon.ts';

/** By zone, then by name: the records of each type as text, as a resolver returns them. */
export type Zones = Record<string, Record<string, Partial<Record<RecordType, string[]>>>>;

export interface TestKey {
  name: string;
  algorithm: string;
  /** In Base64. */
  secret: string;
}

const SECRET = Buffer.alloc(32, 'bind').toString('base64');
export const TEST_KEY: TestKey = {
  name: 'deliverability-key',
  algorithm: 'hmac-sha256',
  secret: SECRET,
};

export interface NameServerOptions {
  zones: Zones;
  /** Beside TEST_KEY, which may change all zones. */
  keys?: TestKey[];
  /** `update-policy` of BIND for zones that TEST_KEY may change only in part. */
  policies?: Record<string, string>;
  /** More lines of BIND’s zone files, as they are. */
  lines?: Record<string, string[]>;
  /** In seconds. */
  ttl?: number;
}

export interface TestNameServer {
  address: DnsServer;
  /** Of a server of the kind `rfc2136`. */
  settings: Record<string, string>;
  /** Looks names up at this server, without a cache. */
  resolver: Resolver;
  stop(): void;
  kill(): Promise<void>;
}

/** For servers on loopback. */
export const loopbackContext = (clock: Clock = systemClock): ServerContext => ({
  resolver: zoneResolver({}),
  web: offlineWebClient,
  clock,
  allowNetworks: ['127.0.0.0/8'].map(parseNetwork),
});

/** Requires `skipUnlessInstalled('named')`. */
export async function startBind(
  t: Pick<TestContext, 'after'> | null,
  options: NameServerOptions,
): Promise<TestNameServer> {
  return start(t, options, 'named', / running$/, (folder, port) => {
    const file = join(folder, 'named.conf');
    writeFileSync(file, bindConfiguration(folder, port, options));
    return ['-g', '-n', '1', '-c', file];
  });
}

/** Requires `skipUnlessInstalled('knotd')`. It knows neither `policies` nor `lines`. */
export async function startKnot(
  t: Pick<TestContext, 'after'> | null,
  options: NameServerOptions,
): Promise<TestNameServer> {
  return start(t, options, 'knotd', /server started/, (folder, port) => {
    const file = join(folder, 'knot.conf');
    writeFileSync(file, knotConfiguration(folder, port, options));
    return ['-c', file];
  });
}

export const POWERDNS_KEY = 'test-key-0123456789';
const POWERDNS_SCHEMA = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql';

/** Requires `skipUnlessInstalled('pdns_server')`. It knows neither `policies` nor `lines`. With its HTTP API. */
export async function startPowerDns(
  t: Pick<TestContext, 'after'> | null,
  options: NameServerOptions,
): Promise<TestNameServer & { api: { url: string; api_key: string } }> {
  const apiPort = await freePort();
  const server = await start(t, options, 'pdns_server', /ready to distribute/, (folder, port) => {
    const database = join(folder, 'pdns.sqlite');
    new Database(database).exec(readFileSync(POWERDNS_SCHEMA, 'utf8')).close();
    writeFileSync(join(folder, 'pdns.conf'), powerDnsConfiguration(folder, port, apiPort));
    const run = (...args: string[]) =>
      execFileSync('pdnsutil', [`--config-dir=${folder}`, ...args], { stdio: 'pipe' });
    for (const { name, algorithm, secret } of [TEST_KEY, ...(options.keys ?? [])])
      run('import-tsig-key', name, algorithm, secret);
    for (const zone of Object.keys(options.zones)) {
      run('load-zone', zone, zoneFile(folder, zone));
      // Adds the names between others, at which wildcards end (RFC 4592 §2.2.2).
      run('rectify-zone', zone);
      run('set-meta', zone, 'TSIG-ALLOW-DNSUPDATE', TEST_KEY.name);
    }
    return [`--config-dir=${folder}`];
  });
  return { ...server, api: { url: `http://127.0.0.1:${apiPort}`, api_key: POWERDNS_KEY } };
}

const powerDnsConfiguration = (folder: string, port: number, apiPort: number): string => `
launch=gsqlite3
gsqlite3-database=${join(folder, 'pdns.sqlite')}
gsqlite3-dnssec=yes
local-address=127.0.0.1
local-port=${port}
socket-dir=${folder}
dnsupdate=yes
allow-dnsupdate-from=127.0.0.0/8
api=yes
api-key=${POWERDNS_KEY}
webserver-address=127.0.0.1
webserver-port=${apiPort}
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
zone-cache-refresh-interval=0
loglevel=5
disable-syslog=yes
`;

async function start(
  t: Pick<TestContext, 'after'> | null,
  { zones, lines = {}, ttl = 3600 }: NameServerOptions,
  command: string,
  ready: RegExp,
  argsIn: (folder: string, port: number) => string[],
): Promise<TestNameServer> {
  const port = await freePort();
  const daemon = await startDaemon({
    command,
    ready,
    args(folder) {
      mkdirSync(join(folder, 'zones'));
      for (const [zone, names] of Object.entries(zones))
        writeFileSync(zoneFile(folder, zone), zoneText(zone, names, ttl, lines[zone] ?? []));
      return argsIn(folder, port);
    },
  });
  t?.after(() => daemon.kill());
  const address = { host: '127.0.0.1', port };
  return {
    ...daemon,
    address,
    settings: {
      server: `127.0.0.1:${port}`,
      key_name: TEST_KEY.name,
      key_algorithm: TEST_KEY.algorithm,
      key_secret: TEST_KEY.secret,
    },
    // A new resolver for each question has nothing in its cache.
    resolver: (name, type) =>
      createDnsResolver({ servers: [address], clock: systemClock })(name, type),
  };
}

const zoneFile = (folder: string, zone: string): string =>
  join(folder, 'zones', `${zone === '.' ? 'root' : zone}.zone`);

function zoneText(zone: string, names: Zones[string], ttl: number, lines: string[]): string {
  const records = Object.entries(names).flatMap(([name, types]) =>
    Object.entries(types).flatMap(([type, texts]) =>
      (texts ?? []).map((text) => `${absoluteName(name)} IN ${type} ${zoneFileData(type, text)}`),
    ),
  );
  const apex = absoluteName(zone);
  return [
    `$TTL ${ttl}`,
    `${apex} IN SOA ns.invalid. hostmaster.invalid. 1 3600 600 86400 ${ttl}`,
    `${apex} IN NS ns.invalid.`,
    ...records,
    ...lines,
    '',
  ].join('\n');
}

function bindConfiguration(folder: string, port: number, options: NameServerOptions): string {
  const { zones, keys = [], policies = {} } = options;
  const keyTexts = [TEST_KEY, ...keys].map(
    ({ name, algorithm, secret }) =>
      `key "${name}" { algorithm ${algorithm}; secret "${secret}"; };`,
  );
  const zoneTexts = Object.keys(zones).map((zone) => {
    const policy = policies[zone];
    const permission = policy
      ? `update-policy { ${policy} };`
      : `allow-update { key "${TEST_KEY.name}"; };`;
    return `zone "${zone}" { type primary; file "${zoneFile(folder, zone)}"; check-names ignore; ${permission} };`;
  });
  return `
options {
  directory "${folder}";
  pid-file none;
  session-keyfile none;
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  recursion no;
  dnssec-validation no;
  empty-zones-enable no;
  check-integrity no;
  notify no;
  max-journal-size 1m;
};
controls { };
${keyTexts.join('\n')}
${zoneTexts.join('\n')}
`;
}

function knotConfiguration(folder: string, port: number, options: NameServerOptions): string {
  const { zones, keys = [] } = options;
  const keyTexts = [TEST_KEY, ...keys].map(
    ({ name, algorithm, secret }) =>
      `  - id: ${name}\n    algorithm: ${algorithm}\n    secret: ${secret}`,
  );
  const zoneTexts = Object.keys(zones).map(
    (zone) =>
      `  - domain: ${zone}\n    file: ${zoneFile(folder, zone)}\n    acl: updates\n    zonefile-load: whole`,
  );
  return `
server:
  rundir: ${folder}
  listen: 127.0.0.1@${port}
log:
  - target: stderr
    any: info
database:
  storage: ${folder}
key:
${keyTexts.join('\n')}
acl:
  - id: updates
    key: ${TEST_KEY.name}
    action: update
zone:
${zoneTexts.join('\n')}
`;
}
