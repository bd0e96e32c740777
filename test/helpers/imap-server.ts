/** An IMAP server whose folders, capabilities and misbehavior a test decides. It knows what reading a mailbox needs. */

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface ScriptedMessage {
  uid: number;
  raw: string;
  /** Default: now. */
  receivedAt?: Date;
  /** Gmail’s tab. */
  tab?: string;
}

export interface ScriptedFolder {
  /** As on the wire, in modified UTF-7. */
  name: string;
  flags?: string[];
  uidValidity?: number;
  messages: ScriptedMessage[];
}

export interface Exchange {
  tag: string;
  /** The command without its tag. */
  line: string;
  socket: Socket;
  /** Writes a line. */
  send(line: string): void;
}

export interface ImapScript {
  folders: ScriptedFolder[];
  capabilities?: string[];
  /** Whether an access token is accepted; then the server offers XOAUTH2 and takes no passwords. */
  acceptsToken?(accessToken: string, user: string): boolean;
  /** Replaces the greeting, for example to send it in pieces or never. */
  greet?(socket: Socket): void;
  /** Called for each command; true if it has been answered. */
  on?(exchange: Exchange): boolean;
}

export interface ImapServer {
  port: number;
  /** The value of `imap` for a seed mailbox. */
  url: string;
  script: ImapScript;
  /** All commands so far, without tags. */
  commands: string[];
  /** Connections that have not signed out, and the most that ever were. */
  open: number;
  mostOpen: number;
  total: number;
  /** Reports the number of messages to the connections that wait for it (IDLE). */
  announce(count: number): void;
}

const PASSWORD = 'right';

export async function startImapServer(t: TestContext, script: ImapScript): Promise<ImapServer> {
  const sockets = new Set<Socket>();
  const idling = new Set<Socket>();
  const server: ImapServer = {
    port: 0,
    url: '',
    script,
    commands: [],
    open: 0,
    mostOpen: 0,
    total: 0,
    announce(count) {
      for (const socket of idling) socket.write(`* ${count} EXISTS\r\n`);
    },
  };
  const listener = createServer((socket) => {
    sockets.add(socket);
    server.total += 1;
    server.open += 1;
    server.mostOpen = Math.max(server.mostOpen, server.open);
    socket.on('error', () => {});
    const leave = () => {
      if (sockets.delete(socket)) server.open -= 1;
      idling.delete(socket);
    };
    socket.on('close', leave);
    serve(server, socket, { idling, leave });
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  server.port = (listener.address() as AddressInfo).port;
  server.url = `imap://seed:${PASSWORD}@127.0.0.1:${server.port}`;
  return server;
}

interface Connections {
  idling: Set<Socket>;
  /** The connection no longer counts. */
  leave(): void;
}

function serve(server: ImapServer, socket: Socket, { idling, leave }: Connections): void {
  const send = (line: string) => {
    if (!socket.destroyed) socket.write(Buffer.from(`${line}\r\n`, 'latin1'));
  };
  if (server.script.greet) server.script.greet(socket);
  else send('* OK ready');
  let selected: ScriptedFolder | undefined;
  let idleTag: string | null = null;
  let refusedTag: string | null = null;
  let pending = '';
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1');
    for (let end = pending.indexOf('\r\n'); end >= 0; end = pending.indexOf('\r\n')) {
      const text = pending.slice(0, end);
      pending = pending.slice(end + 2);
      if (idleTag !== null) {
        if (/^done$/i.test(text)) send(`${idleTag} OK done`);
        idleTag = null;
        idling.delete(socket);
        continue;
      }
      if (refusedTag !== null) {
        // The client has read why, and ends the exchange with an empty line.
        send(`${refusedTag} NO [AUTHENTICATIONFAILED] Invalid credentials (Failure)`);
        refusedTag = null;
        continue;
      }
      const [tag = '', ...rest] = text.split(' ');
      const line = rest.join(' ');
      server.commands.push(line.replace(/^(AUTHENTICATE \S+) .*/, '$1'));
      if (server.script.on?.({ tag, line, socket, send })) continue;
      if (/^logout$/i.test(line)) leave();
      const sasl = /^AUTHENTICATE XOAUTH2 (\S+)$/i.exec(line)?.[1];
      if (sasl !== undefined && server.script.acceptsToken) {
        const decoded = Buffer.from(sasl, 'base64').toString();
        const [, user = '', token = ''] =
          /^user=(.*)\x01auth=Bearer (.*)\x01\x01$/.exec(decoded) ?? [];
        if (server.script.acceptsToken(token, user)) send(`${tag} OK signed in`);
        else {
          refusedTag = tag;
          send(`+ ${Buffer.from('{"status":"400","schemes":"Bearer"}').toString('base64')}`);
        }
        continue;
      }
      if (/^idle$/i.test(line)) {
        idleTag = tag;
        idling.add(socket);
        send('+ idling');
        continue;
      }
      const examined = /^(?:EXAMINE|SELECT) "?([^"]*?)"?(?: \(.*\))?$/i.exec(line);
      if (examined) selected = server.script.folders.find(({ name }) => name === examined[1]);
      answer(server.script, { tag, line, socket, send }, selected);
    }
  });
}

function answer(
  { folders, capabilities = ['IDLE'], acceptsToken }: ImapScript,
  { tag, line, socket, send }: Exchange,
  selected: ScriptedFolder | undefined,
): void {
  const ok = () => send(`${tag} OK done`);
  const command = /^(?:UID )?\w+/i.exec(line)?.[0].toUpperCase();
  const messages = selected?.messages ?? [];
  switch (command) {
    case 'CAPABILITY':
      send(
        `* CAPABILITY IMAP4rev1 ${[...capabilities, ...(acceptsToken ? ['SASL-IR', 'AUTH=XOAUTH2'] : [])].join(' ')}`,
      );
      ok();
      break;
    case 'LOGIN':
      if (!acceptsToken && (line.endsWith(PASSWORD) || line.endsWith(`"${PASSWORD}"`))) ok();
      else send(`${tag} NO [AUTHENTICATIONFAILED] Invalid credentials`);
      break;
    case 'LIST':
      // An empty pattern asks for the delimiter only.
      if (line.endsWith(' ""')) send('* LIST (\\Noselect) "/" ""');
      else
        for (const { name, flags = [] } of folders)
          send(`* LIST (${['\\HasNoChildren', ...flags].join(' ')}) "/" "${name}"`);
      ok();
      break;
    case 'EXAMINE': {
      if (!selected) {
        send(`${tag} NO no such folder`);
        break;
      }
      const last = Math.max(0, ...messages.map(({ uid }) => uid));
      send('* FLAGS (\\Seen)');
      send(`* ${messages.length} EXISTS`);
      send(`* OK [UIDVALIDITY ${selected.uidValidity ?? 1}] valid`);
      send(`* OK [UIDNEXT ${last + 1}] next`);
      send(`${tag} OK [READ-ONLY] done`);
      break;
    }
    case 'UID SEARCH':
      send(`* SEARCH ${searched(messages, line).join(' ')}`.trimEnd());
      ok();
      break;
    case 'UID FETCH': {
      const uids = setOf(/^UID FETCH (\S+)/i.exec(line)?.[1] ?? '', messages);
      for (const [index, message] of messages.entries())
        if (uids.has(message.uid)) socket.write(fetched(message, index + 1, line));
      ok();
      break;
    }
    case 'LOGOUT':
      send('* BYE');
      ok();
      socket.end();
      break;
    case 'NOOP':
    case 'ID':
    case 'NAMESPACE':
    case 'CLOSE':
      ok();
      break;
    default:
      send(`${tag} BAD unknown command`);
  }
}

/** `SINCE date`, `UID set`, and Gmail’s categories. */
function searched(messages: ScriptedMessage[], line: string): number[] {
  const since = /SINCE "?([\w-]+)"?/i.exec(line)?.[1];
  const set = /SEARCH .*?UID (\S+)/i.exec(line)?.[1];
  const tab = /category:(\w+)/i.exec(line)?.[1];
  const uids = set === undefined ? null : setOf(set, messages);
  return messages
    .filter(({ receivedAt }) => !since || timeOf(receivedAt) >= Date.parse(`${since} UTC`))
    .filter(({ uid }) => uids === null || uids.has(uid))
    .filter((message) => tab === undefined || message.tab === tab)
    .map(({ uid }) => uid);
}

const timeOf = (date: Date | undefined): number => (date ?? new Date()).getTime();

/** The UIDs of a sequence set; `n:*` always contains the last message. */
function setOf(set: string, messages: ScriptedMessage[]): Set<number> {
  const last = Math.max(0, ...messages.map(({ uid }) => uid));
  const uids = new Set<number>();
  for (const part of set.split(',')) {
    const [from, to = from] = part.split(':').map((end) => (end === '*' ? last : Number(end)));
    for (const { uid } of messages)
      if (uid >= Math.min(from!, to!) && uid <= Math.max(from!, to!)) uids.add(uid);
  }
  return uids;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

function fetched(
  { uid, raw, receivedAt }: ScriptedMessage,
  sequence: number,
  line: string,
): Buffer {
  const date = receivedAt ?? new Date();
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${two(date.getUTCDate())}-${MONTHS[date.getUTCMonth()]}-${date.getUTCFullYear()}`;
  const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':');
  const head = `* ${sequence} FETCH (UID ${uid} INTERNALDATE "${day} ${clock} +0000"`;
  if (!/BODY/i.test(line)) {
    const size = /RFC822\.SIZE/i.test(line) ? ` RFC822.SIZE ${Buffer.byteLength(raw)}` : '';
    return Buffer.from(`${head}${size})\r\n`);
  }
  const source = Buffer.from(raw).subarray(0, 65_536);
  return Buffer.concat([
    Buffer.from(`${head} BODY[]<0> {${source.length}}\r\n`),
    source,
    Buffer.from(')\r\n'),
  ]);
}
