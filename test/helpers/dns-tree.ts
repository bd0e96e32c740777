/**
 * A small DNS of its own on loopback: a signed root with `com` and `example`, zones below `example`, and resolvers that
 * validate. One BIND has all of them as views. It listens only at 127.0.0.1, so a forwarder at each other address passes
 * datagrams on, and BIND chooses the view by the address of the forwarder.
 */

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from '../../scripts/programs.ts';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createAskDns } from '../../src/net/dns/ask.ts';
import { createDnsResolver } from '../../src/net/dns/network-resolver.ts';
import type { AskDns } from '../../src/net/dns/reply.ts';
import type { Resolver } from '../../src/net/dns/resolver.ts';
import { freePort, startDaemon } from './daemon.ts';

/** Of name servers: `ns1` has all zones, `ns2` refuses, nothing listens at `ns3`. */
const HOSTS = { ns1: '127.0.0.3', ns2: '127.0.0.4', ns3: '127.0.0.7' } as const;
type Host = keyof typeof HOSTS;
/** Of the root, `com` and `example`. */
const TOP = '127.0.0.2';
const RESOLVER = '127.0.0.5';
/** Nothing listens at the address in its root hints. */
const BROKEN_RESOLVER = '127.0.0.6';

export interface TreeZone {
  /** As the parent zone has them. */
  servers: Host[];
  /** As the zone has them, if they differ. */
  ownServers?: Host[];
  /** `unsigned`: with a DS record, but without keys. Missing: without DNSSEC. */
  signed?: 'well' | 'expired' | 'wrong_ds' | 'unsigned';
  lines?: string[];
}

interface Clients {
  resolver: Resolver;
  ask: AskDns;
}

/** By the name of each zone. Requires `named` and `dnssec-signzone`. */
export async function startDnsTree(
  t: { after(stop: () => unknown): void },
  zones: Record<string, TreeZone>,
): Promise<Clients & { broken: Clients }> {
  const port = await freePort();
  const daemon = await startDaemon({
    command: 'named',
    ready: / running$/,
    args(folder) {
      const file = join(folder, 'named.conf');
      writeFileSync(file, configurationOf(folder, port, zones));
      return ['-g', '-n', '1', '-c', file];
    },
  });
  t.after(() => daemon.kill());
  for (const address of [TOP, HOSTS.ns1, HOSTS.ns2, RESOLVER, BROKEN_RESOLVER])
    await forward(t, address, port);
  const clientsOf = (host: string): Clients => {
    const servers = [{ host, port }];
    const resolver = createDnsResolver({ servers, clock: systemClock });
    t.after(() => resolver.close());
    const allowNetworks = [parseNetwork('127.0.0.0/8')];
    return { resolver, ask: createAskDns({ servers, allowNetworks, port }) };
  };
  return { ...clientsOf(RESOLVER), broken: clientsOf(BROKEN_RESOLVER) };
}

/** Passes each datagram to BIND from the same address, and the reply back. */
async function forward(
  t: { after(stop: () => unknown): void },
  address: string,
  port: number,
): Promise<void> {
  const listener = createSocket('udp4');
  const open = new Set<Socket>([listener]);
  t.after(() => {
    for (const socket of open) socket.close();
  });
  listener.on('message', (query, client) => {
    const upstream = createSocket('udp4');
    open.add(upstream);
    upstream.bind(0, address, () => upstream.send(query, port, '127.0.0.1'));
    upstream.on('message', (reply) => {
      open.delete(upstream);
      upstream.close();
      listener.send(reply, client.port, client.address);
    });
  });
  listener.bind(port, address);
  await once(listener, 'listening');
}

// The zones and the configuration.

const SOA = 'IN SOA ns.example. admin.example. 1 60 60 60 60';

function configurationOf(folder: string, port: number, zones: Record<string, TreeZone>): string {
  const key = execFileSync('dnssec-keygen', ['-q', '-a', 'ECDSAP256SHA256', '-f', 'KSK', 'key.'], {
    cwd: folder,
    encoding: 'utf8',
  }).trim();
  const write = (apex: string, lines: string[], signed?: 'well' | 'expired') =>
    writeZone(folder, key, apex, [`${apex} ${SOA}`, ...lines], signed);
  const example = ['example. IN NS ns.example.', `ns.example. IN A ${TOP}`];
  for (const [host, address] of Object.entries(HOSTS))
    example.push(`${host}.example. IN A ${address}`);
  for (const [name, { servers, ownServers = servers, signed, lines = [] }] of Object.entries(
    zones,
  )) {
    const apex = `${name}.`;
    const listed = (hosts: Host[]) => hosts.map((host) => `${apex} IN NS ${host}.example.`);
    const how = signed === 'wrong_ds' ? 'well' : signed === 'unsigned' ? undefined : signed;
    const ds = write(apex, [...listed(ownServers), ...lines], how);
    example.push(...listed(servers));
    const other = `${apex} IN DS 12345 13 2 ${'ab'.repeat(32)}`;
    if (signed) example.push(signed === 'wrong_ds' || signed === 'unsigned' ? other : ds);
  }
  const exampleDs = write('example.', example, 'well');
  write('com.', ['com. IN NS ns.example.']);
  const anchor = write(
    '.',
    [
      '. IN NS ns.example.',
      'com. IN NS ns.example.',
      'example. IN NS ns.example.',
      `ns.example. IN A ${TOP}`,
      exampleDs,
    ],
    'well',
  );
  const [tag, algorithm, digestType, ...digest] = anchor.split(/\s+DS\s+/)[1]!.split(/\s+/);
  const trusted = `. static-ds ${tag} ${algorithm} ${digestType} "${digest.join('')}"`;
  const recursive = (hints: string, address: string) => {
    writeFileSync(join(folder, hints), `. 60 IN NS a.hint.\na.hint. 60 IN A ${address}\n`);
    return `recursion yes; dnssec-validation yes; trust-anchors { ${trusted}; }; zone "." { type hint; file "${hints}"; };`;
  };
  const serving = (apexes: string[]) =>
    `recursion no; ${apexes.map((apex) => `zone "${apex}" { type primary; file "${fileOf(apex)}"; };`).join(' ')}`;
  const view = (name: string, address: string, content: string) =>
    `view "${name}" { match-clients { ${address}; }; ${content} };`;
  return `
options {
  directory "${folder}";
  pid-file none;
  session-keyfile none;
  port ${port};
  listen-on { 127.0.0.1; };
  listen-on-v6 { none; };
  query-source address 127.0.0.1;
  dnssec-validation no;
  empty-zones-enable no;
  check-integrity no;
  notify no;
};
controls { };
${view('top', TOP, serving(['.', 'com.', 'example.']))}
${view('hosting', HOSTS.ns1, serving(Object.keys(zones).map((name) => `${name}.`)))}
${view('lame', HOSTS.ns2, 'recursion no;')}
${view('resolver', RESOLVER, recursive('hints', TOP))}
${view('broken', BROKEN_RESOLVER, recursive('wrong-hints', HOSTS.ns3))}
`;
}

const fileOf = (apex: string): string => `zone-${apex}`;

const PERIODS = {
  well: ['-s', 'now-3600', '-e', 'now+864000'],
  expired: ['-s', 'now-864000', '-e', 'now-432000'],
};

/** All zones have the same key. Returns the DS record of a signed zone. */
function writeZone(
  folder: string,
  key: string,
  apex: string,
  lines: string[],
  signed?: keyof typeof PERIODS,
): string {
  const file = fileOf(apex);
  const text = ['$TTL 60', ...lines, ''].join('\n');
  if (!signed) {
    writeFileSync(join(folder, file), text);
    return '';
  }
  const own = key.replace('Kkey.', `K${apex}`);
  const record = readFileSync(join(folder, `${key}.key`), 'utf8').replace(/^key\. /m, `${apex} `);
  writeFileSync(join(folder, `${own}.key`), record);
  writeFileSync(join(folder, `${own}.private`), readFileSync(join(folder, `${key}.private`)));
  writeFileSync(join(folder, 'unsigned'), `${text}${record}`);
  const output = ['-f', file, 'unsigned', own];
  execFileSync('dnssec-signzone', ['-q', '-z', '-P', '-o', apex, ...PERIODS[signed], ...output], {
    cwd: folder,
    stdio: 'pipe',
  });
  return readFileSync(join(folder, `dsset-${apex}`), 'utf8').trim();
}
