/** An authoritative DNS server on loopback, with UDP and TCP on the same free port. */

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket as TcpSocket } from 'node:net';
import { type Answer, decode, encode } from 'dns-packet';
import type { DnsServer } from '../../src/lib/addresses.ts';
import { recordFromText } from '../../src/net/dns/record-data.ts';
import type { RecordType } from '../../src/net/dns/resolver.ts';
import { lookUp, ZONE_TTL_SECONDS, type Zone } from '../../src/net/dns/zone.ts';

export interface DnsTestServer {
  /** For `createDnsResolver({ servers })`. */
  address: DnsServer;
  /** Tests may replace it at any time. */
  zone: Zone;
  /** The number of queries over UDP and TCP, by `name/type`. */
  queries: Map<string, number>;
  tcpQueries: Map<string, number>;
  /** In seconds: of records, and of negative answers (the SOA minimum). */
  ttl: number;
  /** Whether responses have the AD bit if the query has it. */
  authenticated: boolean;
  /** Replaces the response by any number of messages, for example hostile ones, or delays it. */
  tamper: ((reply: Buffer, over: 'udp' | 'tcp', query: Buffer) => Replies) | null;
  close(): Promise<void>;
}

type Replies = Buffer[] | Promise<Buffer[]>;

/** Starts the server; the caller must `close()` it. */
export async function startDnsServer(zone: Zone = {}): Promise<DnsTestServer> {
  const { udp, tcp, port } = await listenOnBoth();
  const connections = new Set<{ destroy(): void }>();
  const server: DnsTestServer = {
    address: { host: '127.0.0.1', port },
    zone,
    queries: new Map(),
    tcpQueries: new Map(),
    ttl: ZONE_TTL_SECONDS,
    authenticated: false,
    tamper: null,
    async close() {
      for (const connection of connections) connection.destroy();
      const closed = Promise.all([once(udp, 'close'), once(tcp, 'close')]);
      udp.close();
      tcp.close();
      await closed;
    },
  };
  udp.on('message', async (query, peer) => {
    const { port, address } = peer;
    for (const reply of await replies(server, query, 'udp')) udp.send(reply, port, address);
  });
  tcp.on('connection', (socket) => {
    connections.add(socket);
    let received = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => connections.delete(socket));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        void answerOverTcp(server, socket, received.subarray(2, end));
        received = received.subarray(end);
      }
    });
  });
  return server;
}

async function listenOnBoth(): Promise<{ udp: Socket; tcp: Server; port: number }> {
  for (;;) {
    const tcp = createServer().listen(0, '127.0.0.1');
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket('udp4');
    const bound = once(udp, 'listening');
    udp.bind(port, '127.0.0.1');
    try {
      await bound;
      return { udp, tcp, port };
    } catch {
      // Another process holds this port for UDP: try the next one.
      tcp.close();
    }
  }
}

async function answerOverTcp(
  server: DnsTestServer,
  socket: TcpSocket,
  query: Buffer,
): Promise<void> {
  for (const reply of await replies(server, query, 'tcp')) {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(reply.length);
    socket.write(Buffer.concat([length, reply]));
  }
}

function replies(server: DnsTestServer, query: Buffer, over: 'udp' | 'tcp'): Replies {
  const packet = decode(query);
  const { name = '', type = 'A' } = packet.questions?.[0] ?? {};
  const key = `${name.toLowerCase()}/${type}`;
  server.queries.set(key, (server.queries.get(key) ?? 0) + 1);
  if (over === 'tcp') server.tcpQueries.set(key, (server.tcpQueries.get(key) ?? 0) + 1);
  const { rcode, answers, authorities } = answerFor(server, name.toLowerCase(), type as RecordType);
  if (rcode === null) return server.tamper ? server.tamper(Buffer.alloc(0), over, query) : [];
  const opt = packet.additionals?.find((record) => record.type === 'OPT');
  const authenticated = server.authenticated && packet.flag_ad ? 0x20 : 0;
  const base = {
    type: 'response' as const,
    id: packet.id ?? 0,
    questions: packet.questions ?? [],
    additionals: opt ? [opt] : [],
  };
  const flags = 0x0400 | (packet.flag_rd ? 0x0100 : 0) | 0x80 | authenticated | rcode;
  const whole = encode({ ...base, flags, answers, authorities });
  // 512 bytes without EDNS (RFC 1035 §4.2.1); with EDNS, the smaller limit of both sides.
  const limit = opt?.type === 'OPT' ? Math.min(1232, Math.max(512, opt.udpPayloadSize)) : 512;
  const isTruncated = over === 'udp' && whole.length > limit;
  const reply = isTruncated ? encode({ ...base, flags: flags | 0x0200 }) : whole;
  return server.tamper ? server.tamper(reply, over, query) : [reply];
}

interface Response {
  /** Null if the query is not answered. */
  rcode: number | null;
  answers: Answer[];
  authorities: Answer[];
}

const FAILURE_RCODES: Record<string, number> = { servfail: 2, refused: 5 };

function answerFor({ zone, ttl }: DnsTestServer, name: string, type: RecordType): Response {
  const found = lookUp(zone, name, type);
  const answers: Answer[] = [];
  let owner = name;
  for (let hops = 0; hops < 8 && type !== 'CNAME'; hops++) {
    const node = zone[owner];
    if (!node || 'fails' in node || node[type]?.length || !node.CNAME?.[0]) break;
    answers.push(recordFromText(owner, 'CNAME', node.CNAME[0], ttl));
    owner = node.CNAME[0];
  }
  if (found.status === 'error')
    return { rcode: FAILURE_RCODES[found.reason] ?? null, answers: [], authorities: [] };
  if (found.status === 'found') {
    for (const text of found.records) answers.push(recordFromText(owner, type, text, ttl));
    return { rcode: 0, answers, authorities: [] };
  }
  const apex = owner.split('.').slice(-2).join('.');
  const soa = `ns.${apex} hostmaster.${apex} 1 3600 600 86400 ${ttl}`;
  const authorities = [recordFromText(apex, 'SOA', soa, ttl)];
  return { rcode: found.status === 'nxdomain' ? 3 : 0, answers, authorities };
}
