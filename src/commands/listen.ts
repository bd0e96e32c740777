/** `listen`: a receiver for developers, which verifies and prints the events of webhooks. */

import { join, resolve } from 'node:path';
import { type Config, readConfig } from '../config.ts';
import { VARIABLES } from '../config-variables.ts';
import { systemClock } from '../lib/clock.ts';
import { printable } from '../lib/log.ts';
import { type Authority, openAuthority } from '../listen/authority.ts';
import { instructions } from '../listen/instructions.ts';
import { receiptJson, receiptText } from '../listen/print.ts';
import { createReceiver, type Receipt } from '../listen/receive.ts';
import { type ListenServer, type Stranger, startListenServer } from '../listen/server.ts';
import { readArguments } from './arguments.ts';
import { type Command, EXIT, type Io } from './io.ts';
import { LISTEN_OPTIONS, readPlace, readReceiving } from './listen-options.ts';

const { DATA_DIR, HTTP_PORT, BASE_URL } = VARIABLES;
/** The others concern the service alone. */
const READ = { DATA_DIR, HTTP_PORT, BASE_URL };
type Read = Pick<Config, keyof typeof READ>;

export const listen: Command = {
  name: 'listen',
  usage: '[--secret-file FILE] [--forward URL] [--port N] …',
  summary: 'Receive webhooks on this machine: verify and print each event',
  options: [
    '--secret-file FILE   File with the secret of the endpoint (whsec_…), to verify by',
    '--secret SECRET      The secret itself, which others on this machine can see',
    '--forward URL        Pass each event on to your program, and its answer back',
    '--status N           Answer with this status, to try failures (default: 200)',
    '--port N             Port to listen on (default: 4443; 0 takes a free one)',
    '--host ADDRESS       Address to listen on (default: 127.0.0.1, this machine alone)',
    '--name NAME          A further name for the certificate, to be called by',
    '--dir DIR            Folder of its certificate authority (default: DATA_DIR/listen)',
    '--json               Print each delivery as a line of JSON',
  ],
  async run(args, io) {
    const { values } = readArguments(args, LISTEN_OPTIONS);
    const config: Read = readConfig(io.env, READ).config;
    const receive = createReceiver({ clock: systemClock, ...readReceiving(values) });
    const place = readPlace(values);
    // From here on a signal is heard: one that comes during the start ends it in order, too.
    const { ended } = io;
    const folder = resolve(values.dir ?? join(config.DATA_DIR, 'listen'));
    const authority = await openAuthority(folder, systemClock.now());
    const show = (receipt: Receipt) =>
      io.stdout(values.json ? receiptJson(receipt) : receiptText(receipt, look(io)));
    const server = await orTold(
      startListenServer({
        ...place,
        tls: await authority.issue(place.names),
        async handle(request) {
          const { receipt, reply } = await receive(request);
          show(receipt);
          return reply;
        },
        onStranger: (kind) => io.stderr(strangerText(kind, authority)),
        onFailure: (error) =>
          io.stderr(`A delivery was answered 500, for this failed: ${printable(String(error))}\n`),
      }),
      io,
    );
    if (server === null) return EXIT.outside;
    const hasSecret = Boolean(values.secret ?? values['secret-file']);
    const { port } = server;
    io.stderr(instructions({ ...place, port, authority, apiUrl: config.BASE_URL, hasSecret }));
    await ended;
    await server.close();
    return EXIT.done;
  },
};

const look = ({ width, colorOut }: Io) => ({ width, color: colorOut });

/** null where the address cannot be listened on, which has then been said. */
async function orTold(starting: Promise<ListenServer>, io: Io): Promise<ListenServer | null> {
  try {
    return await starting;
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (syscall !== 'listen' && syscall !== 'getaddrinfo') throw error;
    const why = code === 'EADDRINUSE' ? 'another program listens there' : message;
    io.stderr(`Cannot listen: ${why}. Give another --port (0 takes a free one) or --host.\n`);
    return null;
  }
}

function strangerText(kind: Stranger, { file }: Authority): string {
  return kind === 'plain_http'
    ? 'A caller speaks plain HTTP: the address begins with https://.\n'
    : `A caller went without a request. If it was the service: does it run with DELIVERABILITY_WEBHOOK_CA_FILE=${file}?\n`;
}
