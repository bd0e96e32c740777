/** Clients of several nodes: they retry at any node until they get an answer, as mail servers and pipelines do. */

import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../src/lib/clock.ts';
import type { Db } from '../../src/store/open.ts';
import type { Random } from '../helpers/random.ts';
import { sendMail } from '../helpers/send.ts';
import { type Mail, makeMessage } from './mail-load.ts';
import type { Node, Nodes } from './nodes.ts';

const MAIL_SENDERS = 3;
const UPLOADERS = 3;
const PROBE_INTERVAL_MS = 100;
/** The load leaves time for the analysis of what it sends. */
const MAX_PAUSE_MS = 400;
const MAX_RETRY_PAUSE_MS = 250;
/** A key in use for longer belongs to a request of a killed node. */
const KEY_PATIENCE_MS = 5_000;

/** A message submitted by API. */
interface Upload {
  name: string;
  raw: Buffer;
  /** Null if no response said. */
  testId: string | null;
}

export interface Load {
  /** Sent by SMTP. */
  mails: Mail[];
  uploads: Upload[];
  /** What clients must never see, as sentences. */
  faults: string[];
  /** Replies by status and code, lost connections, and states of probes. */
  replies: Record<string, number>;
  /** Resolves once every message that was begun has been accepted. */
  stop(): Promise<void>;
}

export function startLoad(nodes: Nodes, random: Random): Load {
  let isStopping = false;
  let number = 0;
  const load: Load = {
    mails: [],
    uploads: [],
    faults: [],
    replies: {},
    async stop() {
      isStopping = true;
      await Promise.all(clients);
    },
  };
  const call = createCaller(nodes, random, load);
  const forever = async (work: () => Promise<void>, maxPauseMs: number) => {
    while (!isStopping) {
      await work();
      await pause(random.below(maxPauseMs));
    }
  };
  const sendOne = () => sendByMail(nodes, random, load, call, ++number);
  const uploadOne = () => upload(random, load, call, ++number);
  const clients = [
    ...Array.from({ length: MAIL_SENDERS }, () => forever(sendOne, MAX_PAUSE_MS)),
    ...Array.from({ length: UPLOADERS }, () => forever(uploadOne, MAX_PAUSE_MS)),
    forever(() => probe(nodes, random, load), PROBE_INTERVAL_MS),
  ];
  return load;
}

const count = ({ replies }: Load, reply: string): void => {
  replies[reply] = (replies[reply] ?? 0) + 1;
};

/** Repeats a request at random nodes until one answers; null if its Idempotency-Key stays in use. */
type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer | null>;

interface CallOptions {
  body?: string | Buffer;
  type?: string;
  idempotencyKey?: string;
}

interface Answer {
  id: string;
  address: string;
}

function createCaller(nodes: Nodes, random: Random, load: Load): Call {
  return async (method, path, { body, type = 'application/json', idempotencyKey } = {}) => {
    let inUseSince: number | null = null;
    for (;;) {
      const node = nodes.pick(random);
      const response =
        node && (await request(node, nodes.key, method, path, { body, type, idempotencyKey }));
      if (node && !response) count(load, 'HTTP disconnected');
      if (response) {
        const { status, text } = response;
        count(load, `HTTP ${status}`);
        if (status === 200 || status === 201) return JSON.parse(text);
        if (status === 409) {
          inUseSince ??= performance.now();
          if (performance.now() - inUseSince > KEY_PATIENCE_MS) return null;
        } else if (status !== 503 || !response.retryAfter) {
          load.faults.push(`${method} ${path} responded ${status}: ${text.slice(0, 200)}`);
          return null;
        }
      }
      await pause(random.below(MAX_RETRY_PAUSE_MS));
    }
  };
}

async function request(
  { url }: Node,
  key: string,
  method: string,
  path: string,
  { body, type, idempotencyKey }: CallOptions,
) {
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { 'content-type': type! }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
  try {
    const response = await fetch(url + path, { method, headers, body: body as never });
    const text = await response.text();
    return { status: response.status, text, retryAfter: response.headers.get('retry-after') };
  } catch {
    return null;
  }
}

/** Creates a test at one node and sends its message to another. */
async function sendByMail(
  nodes: Nodes,
  random: Random,
  load: Load,
  call: Call,
  number: number,
): Promise<void> {
  const idempotencyKey = `test-${number}`;
  const test = await call('POST', '/v1/tests', { body: '{}', idempotencyKey });
  if (!test) return count(load, 'key given up');
  const mail: Mail = {
    testId: test.id,
    address: test.address,
    raw: makeMessage(number, random),
    state: 'fresh',
    retries: true,
    sentAt: 0,
    keptAs: null,
  };
  load.mails.push(mail);
  for (;;) {
    const node = nodes.pick(random);
    if (node) {
      const code = await sendTo(node, mail, random);
      count(load, `SMTP ${code || 'disconnected'}`);
      if (code === 250) return;
      if (code >= 500) {
        load.faults.push(`the message for ${test.id} was rejected with ${code}`);
        return;
      }
    }
    await pause(random.below(MAX_RETRY_PAUSE_MS));
  }
}

/** The code of the reply; 0 if the connection was lost. */
async function sendTo({ smtpPort: port }: Node, mail: Mail, random: Random): Promise<number> {
  const { address: to, raw } = mail;
  mail.state = 'unanswered';
  mail.sentAt = systemClock.now();
  try {
    const reply = await sendMail({ port, to, raw, plain: random.chance(0.7) });
    mail.state = 'kept';
    mail.keptAs = /Accepted as (\S+)/.exec(reply)![1]!;
    return 250;
  } catch (error) {
    return (error as { responseCode?: number }).responseCode ?? 0;
  }
}

/** Submits a message to one node and reads the new test at another. */
async function upload(random: Random, load: Load, call: Call, number: number): Promise<void> {
  const entry: Upload = {
    name: `upload ${number}`,
    raw: makeMessage(number, random),
    testId: null,
  };
  load.uploads.push(entry);
  const path = `/v1/tests/raw?name=${encodeURIComponent(entry.name)}&client_ip=192.0.2.1&helo=mail.example.com`;
  const idempotencyKey = entry.name.replace(' ', '-');
  const test = await call('POST', path, {
    body: entry.raw,
    type: 'message/rfc822',
    idempotencyKey,
  });
  if (!test) return count(load, 'key given up');
  entry.testId = test.id;
  await call('GET', `/v1/tests/${test.id}`);
}

/** `/healthz` answers in any state of the database. */
async function probe(nodes: Nodes, random: Random, load: Load): Promise<void> {
  const node = nodes.pick(random);
  if (!node) return;
  const health = await request(node, nodes.key, 'GET', '/healthz', {});
  if (health && health.status !== 200) load.faults.push(`/healthz responded ${health.status}`);
  const readiness = await request(node, nodes.key, 'GET', '/readyz', {});
  if (readiness) count(load, `/readyz ${readiness.status}`);
}

/**
 * The uploads as messages to compare with the database. Adds faults for a name that occurs twice: a request
 * that was repeated took effect twice.
 */
export async function uploadedMails(db: Db, { uploads, faults }: Load): Promise<Mail[]> {
  const rows = await db.selectFrom('tests').select(['id', 'name']).execute();
  const byName = Map.groupBy(rows, ({ name }) => name);
  return uploads.flatMap(({ name, raw, testId }): Mail[] => {
    const found = byName.get(name) ?? [];
    if (found.length > 1) faults.push(`${name} was stored ${found.length} times`);
    if (testId !== null && found[0]?.id !== testId) faults.push(`${name} is lost`);
    return found.map(({ id }) => ({
      testId: id,
      address: '',
      raw,
      retries: true,
      sentAt: 0,
      keptAs: null,
      state: testId === null ? 'unanswered' : 'kept',
    }));
  });
}
