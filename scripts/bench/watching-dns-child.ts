/** A resolver of its own process on loopback that takes its time, as the real ones do. */

import { createSocket } from 'node:dgram';
import { decode, encode } from 'dns-packet';
import type { RecordType } from '../../src/net/dns/resolver.ts';
import { recordFromText } from '../../test/helpers/dns-record-data.ts';
import { type Reply, replyTo } from './watching-world.ts';

const TTL_SECONDS = 300;
const RECURSION_AVAILABLE = 0x80;
const RECURSION_DESIRED = 0x100;
const NXDOMAIN = 3;

const [dkimKey] = process.argv.slice(2) as [string];
/** When the answer is there that was first asked for then: who asks again waits for the rest only. */
const ready = new Map<string, { reply: Reply; at: number }>();
let asked = 0;

const socket = createSocket({ type: 'udp4', recvBufferSize: 4_000_000 });
socket.on('message', (query, peer) => {
  asked++;
  const { id = 0, questions = [] } = decode(query);
  const { name, type } = questions[0]!;
  const key = `${name.toLowerCase()}/${type}`;
  const found = ready.get(key) ?? begin(name.toLowerCase(), type as RecordType);
  ready.set(key, found);
  if (found.reply.delay === null) return;
  const { records } = found.reply;
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
  const wait = found.at - performance.now();
  setTimeout(() => socket.send(bytes, peer.port, peer.address), Math.max(1, wait));
});

function begin(name: string, type: RecordType) {
  const reply = replyTo(name, type, dkimKey);
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
// Each line asks how many questions have come since the last.
process.stdin.on('data', () => {
  console.log(JSON.stringify(asked));
  asked = 0;
});
process.on('SIGTERM', () => process.exit(0));
