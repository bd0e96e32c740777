/** A DNS resolver on loopback, in its own process, with realistic response times. */

import { createSocket } from 'node:dgram';
import { decode, encode } from 'dns-packet';
import { recordFromText } from '../../src/net/dns/record-data.ts';
import type { RecordType } from '../../src/net/dns/resolver.ts';
import { type Reply, replyFor } from './watching-records.ts';

const TTL_SECONDS = 300;
const RECURSION_AVAILABLE = 0x80;
const RECURSION_DESIRED = 0x100;
const NXDOMAIN = 3;

const [dkimKey] = process.argv.slice(2) as [string];
/** When each response is available: a repeated query waits only for the rest of the delay. */
const replies = new Map<string, { reply: Reply; at: number }>();
let queries = 0;

const socket = createSocket({ type: 'udp4', recvBufferSize: 4_000_000 });
socket.on('message', (query, peer) => {
  queries++;
  const { id = 0, questions = [] } = decode(query);
  const { name, type } = questions[0]!;
  const key = `${name.toLowerCase()}/${type}`;
  const entry = replies.get(key) ?? startReply(name.toLowerCase(), type as RecordType);
  replies.set(key, entry);
  if (entry.reply.delay === null) return;
  const { records } = entry.reply;
  const bytes = encode({
    type: 'response',
    id,
    flags: RECURSION_DESIRED | RECURSION_AVAILABLE | (records === null ? NXDOMAIN : 0),
    questions,
    answers: (records ?? []).map((text) =>
      recordFromText(name, type as RecordType, text, TTL_SECONDS),
    ),
    authorities: records?.length ? [] : [soa()],
  });
  const wait = entry.at - performance.now();
  setTimeout(() => socket.send(bytes, peer.port, peer.address), Math.max(1, wait));
});

function startReply(name: string, type: RecordType) {
  const reply = replyFor(name, type, dkimKey);
  return { reply, at: performance.now() + (reply.delay ?? 0) };
}

const soa = () =>
  recordFromText(
    'example',
    'SOA',
    `ns.example h.example 1 3600 600 86400 ${TTL_SECONDS}`,
    TTL_SECONDS,
  );

socket.bind(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: socket.address().port }));
});
// Each line requests the number of queries since the last line.
process.stdin.on('data', () => {
  console.log(JSON.stringify(queries));
  queries = 0;
});
process.on('SIGTERM', () => process.exit(0));
