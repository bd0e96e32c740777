/** Report mailboxes on a Dovecot server, and a service that imports from them. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { ImapFlow } from 'imapflow';
import type { ReportMailbox } from '../../../src/feedback/mailboxes/schema.ts';
import { IMPORT_JOB } from '../../../src/feedback/mailboxes/stored.ts';
import type { ServiceOptions } from '../../helpers/app.ts';
import { DOVECOT_PASSWORD, type Dovecot, startDovecot } from '../../helpers/dovecot.ts';
import { dmarc, gzip, mail, record, text } from '../reading/builders.ts';
import { type FeedbackService, startFeedback } from '../start.ts';

export const MAILBOXES = '/v1/feedback/mailboxes';
export const OWN_SERVER = 'mx.own.example';
export const GOOGLE = 'noreply-dmarc-support@google.com';

const SIGNATURE =
  'DKIM-Signature: v=1; a=rsa-sha256; d=google.com; s=gone; h=from:subject:content-type; bh=x; b=y\r\n';

/** A DMARC report of Google whose key is no longer published, with Authentication-Results of the mailbox's server. */
export const reportMail = (
  id: string,
  { results = `${OWN_SERVER}; dkim=pass header.d=google.com`, count = '2', filler = '' } = {},
): Buffer =>
  Buffer.concat([
    Buffer.from(`${results === '' ? '' : `Authentication-Results: ${results}\r\n`}${SIGNATURE}`),
    mail(
      [
        text(`A report.\n${filler}`),
        {
          type: 'application/gzip',
          content: gzip(dmarc({ id, orgName: 'google.com', records: record({ count }) })),
        },
      ],
      {
        header: `From: Google <${GOOGLE}>\nTo: dmarc@example.com\nSubject: Report ${id}\nMessage-ID: <${id}@google.com>\nDate: Sun, 22 Nov 2026 01:00:00 +0000\nMIME-Version: 1.0\n`,
      },
    ),
  ]);

export const PRIVATE_MAIL = Buffer.from(
  'From: Ann <ann@friends.example>\r\nTo: me@example.com\r\nSubject: Lunch\r\n\r\nAt noon?\r\n',
);

export interface MailboxScene extends FeedbackService {
  dovecot: Dovecot;
  client: ImapFlow;
  add(settings?: object): Promise<ReportMailbox>;
  get(id: string): Promise<ReportMailbox>;
  /** Resolves once the latest import has this status. */
  until(id: string, status?: ReportMailbox['import']['status']): Promise<ReportMailbox>;
  start(id: string): Promise<ReportMailbox>;
}

export const OPEN_LOOPBACK = { DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' };

export async function startMailboxes(
  t: TestContext,
  { capabilities, ...options }: ServiceOptions & { capabilities?: string } = {},
): Promise<MailboxScene> {
  const dovecot = await startDovecot({ capabilities });
  t.after(() => dovecot.kill());
  const client = await dovecot.client('ann');
  t.after(() => client.close());
  await client.mailboxCreate('Reports');
  const scene = await startFeedback(t, { ...options, env: { ...OPEN_LOOPBACK, ...options.env } });
  const { service } = scene;
  const get = async (id: string) =>
    (await service.call<ReportMailbox>('GET', `${MAILBOXES}/${id}`)).body;
  return {
    ...scene,
    dovecot,
    client,
    get,
    async add(settings = {}) {
      const json = {
        name: 'Reports',
        host: '127.0.0.1',
        port: dovecot.port,
        tls: 'starttls',
        username: 'ann',
        password: DOVECOT_PASSWORD,
        authserv_id: OWN_SERVER,
        folder: 'Reports',
        ...settings,
      };
      const { status, body } = await service.call<ReportMailbox>('POST', MAILBOXES, { json });
      assert.equal(status, 201, JSON.stringify(body));
      return body;
    },
    async until(id, status = 'completed') {
      for (let attempt = 0; attempt < 3000; attempt++) {
        const mailbox = await get(id);
        if (mailbox.import.status === status) return mailbox;
        service.app.scheduler.wakeHere(IMPORT_JOB);
        await pause(10);
      }
      assert.fail(`The import is still ${JSON.stringify(await get(id))}`);
    },
    async start(id) {
      const { status, body } = await service.call<ReportMailbox>(
        'POST',
        `${MAILBOXES}/${id}/import`,
      );
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    },
  };
}

/** Everything about a folder that an import could change. */
export async function contentOf(client: ImapFlow, folder: string) {
  await client.mailboxOpen(folder, { readOnly: true });
  const messages: { uid: number; subject: string; flags: string[] }[] = [];
  if ((client.mailbox || { exists: 0 }).exists > 0)
    for await (const { uid, flags, envelope } of client.fetch('1:*', {
      uid: true,
      flags: true,
      envelope: true,
    }))
      messages.push({
        uid,
        subject: envelope!.subject!,
        flags: [...flags!].filter((flag) => flag !== '\\Recent').sort(),
      });
  await client.mailboxClose();
  return messages;
}

export interface CuttingProxy {
  port: number;
  /** How many more connections end after this many bytes from the server. */
  cuts: { count: number; afterBytes: number };
  connections: number;
}

/** A proxy before an IMAP server that can interrupt the next connections. */
export async function startCuttingProxy(
  t: TestContext,
  port: number,
  cuts: CuttingProxy['cuts'],
): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const proxy: CuttingProxy = { port: 0, cuts, connections: 0 };
  const server = createServer((client) => {
    proxy.connections += 1;
    const upstream = connect(port, '127.0.0.1');
    const isCut = proxy.cuts.count-- > 0;
    let bytes = 0;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    client.on('data', (data) => upstream.write(data));
    upstream.on('data', (data) => {
      bytes += data.length;
      if (isCut && bytes > proxy.cuts.afterBytes) {
        client.write(data.subarray(0, Math.floor(data.length / 2)), () => client.destroy());
        upstream.destroy();
      } else client.write(data);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  proxy.port = (server.address() as AddressInfo).port;
  return proxy;
}
