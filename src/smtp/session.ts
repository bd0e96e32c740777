/** One client's session: the library's, with our limits, deadlines and shutdown. */

import type { Socket } from 'node:net';
import type { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import { errorMessage } from '../lib/errors.ts';
import { DataParser } from './data-parser.ts';
import type { ListenerState, OpenSession, Reply, SmtpLimits } from './listener-state.ts';
import {
  FALSE_END,
  LINE_TOO_LONG,
  refuseForSpace,
  SHUTTING_DOWN,
  STOP_RCPT,
  TIMED_OUT,
  TOO_MANY_RCPT,
} from './replies.ts';

const ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;
const SOURCE_ROUTE = /^@[^\s,:@]+(?:,@[^\s,:@]+)*:/;

/** A subclass, because the library has methods to override where it lacks options. */
export class Session extends SMTPConnection implements OpenSession {
  helo: string | null = null;
  tls: OpenSession['tls'] = { used: false, version: null, cipher: null };
  readonly client: string;
  private readonly room: ListenerState;
  private readonly deadlines: Deadlines;
  private rcptCommands = 0;
  /** We owe the client an answer, or it is sending a message. */
  private busy = false;

  constructor(
    server: SMTPServer,
    socket: Socket,
    client: string,
    port: number,
    room: ListenerState,
  ) {
    super(server, socket, { remoteAddress: client, remotePort: port });
    this.client = client;
    this.room = room;
    this.deadlines = createDeadlines(room.limits, () => this.expire());
    this.on('error', (error) =>
      room.log.debug('An SMTP session broke off.', {
        client_ip: client,
        error: errorMessage(error),
      }),
    );
  }

  get parser(): DataParser {
    return this._parser as DataParser;
  }

  /** Greets at once. The library waits 100 ms, to catch clients that do not await their turn. */
  override init(): void {
    this._setListeners(() => this.connectionReady());
  }

  drain(): void {
    if (!this.busy) this.leave();
  }

  leave(): void {
    // In the midst of a TLS handshake nothing can be said.
    if (this._upgrading) this._socket.destroy();
    if (!this._closing) this.say(SHUTTING_DOWN);
    this._socket.destroySoon();
  }

  private say({ code, enhanced, text }: Reply): void {
    this.send(code, `${enhanced} ${text}`);
  }

  /** Every reply goes through here: after it, it is the client's turn. */
  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    const own = typeof data === 'string' && ENHANCED_CODE.test(data);
    super.send(code, data, own ? false : context);
    if (this._closing || this._closed) return;
    this.busy = this.parser.readsData;
    if (this.busy) this.deadlines.awaitData();
    else if (this.room.draining) this.leave();
    else this.deadlines.awaitCommand();
  }

  override _onCommand(command: Buffer, callback?: () => void): void {
    // While the TLS handshake runs, these are bytes from before it, and the library drops them.
    if (!this._upgrading) {
      this.busy = true;
      this.deadlines.work();
    }
    super._onCommand(command, callback);
  }

  private dataCame(ended: boolean): void {
    if (ended) this.deadlines.work();
    else if (this.parser.reader.atFalseEnd) this.deadlines.progress(this.room.limits.falseEnd);
    else this.deadlines.progress();
  }

  private expire(): void {
    const answersFalseEnd = this.parser.readsData && this.parser.reader.atFalseEnd;
    this.say(answersFalseEnd ? FALSE_END : TIMED_OUT);
    this.close();
  }

  /** Also called by the constructor of the library's class, and for the bytes after STARTTLS. */
  override _createParser(): DataParser {
    const parser = new DataParser({ maxCommandLength: this._server.options.maxCommandLength });
    parser.oncommand = (command, callback) => this._onCommand(command, callback);
    parser.onData = (ended) => this.dataCame(ended);
    parser.on('error', () => {
      this.say(LINE_TOO_LONG);
      this.close();
    });
    return parser;
  }

  /** Addresses stay as they were said: the library would turn A-labels into U-labels. */
  override _parseAddressCommand(name: string, command: Buffer | string) {
    const parsed = super._parseAddressCommand(name, command);
    const said = /:\s*<([^<>]*)>/.exec(command.toString())?.[1];
    if (!parsed || said === undefined) return parsed;
    return { ...parsed, address: said.replace(SOURCE_ROUTE, '') };
  }

  override handler_EHLO(command: Buffer, callback: () => void): void {
    this.greeted(command);
    super.handler_EHLO(command, callback);
  }

  override handler_HELO(command: Buffer, callback: () => void): void {
    this.greeted(command);
    super.handler_HELO(command, callback);
  }

  private greeted(command: Buffer): void {
    const words = command.toString().trim().split(/\s+/);
    // The library refuses everything else.
    if (words.length === 2) this.helo = words[1]!;
  }

  override handler_RCPT(command: Buffer, callback: () => void): void {
    this.rcptCommands += 1;
    const { recipients } = this.room.limits;
    if (this.rcptCommands <= recipients) {
      super.handler_RCPT(command, callback);
    } else {
      this.say(this.rcptCommands > 2 * recipients ? STOP_RCPT : TOO_MANY_RCPT);
      callback();
    }
  }

  override handler_DATA(command: Buffer, callback: () => void): void {
    void refuseForSpace(this.room).then((refusal) => {
      if (!refusal) {
        super.handler_DATA(command, callback);
      } else {
        this.say(refusal);
        callback();
      }
    });
  }

  override _resetSession(): void {
    super._resetSession();
    this.rcptCommands = 0;
  }

  override close(): void {
    super.close();
    this.deadlines.end();
  }

  override _onClose(): void {
    super._onClose();
    this.deadlines.end();
    this.room.sessions.delete(this.id);
  }
}

// The clocks that run against one client: for the next command, for DATA and for the session.

interface Deadlines {
  /** The client owes us a command. Bytes of it win no time: the whole line has to come. */
  awaitCommand(): void;
  /** The client owes us all of DATA. */
  awaitData(): void;
  /** Bytes of DATA came; more are awaited for `ms` (the idle limit where not given). */
  progress(ms?: number): void;
  /** We owe the client an answer: only the session's clock runs. */
  work(): void;
  /** Stops everything. */
  end(): void;
}

/** `expire` is called when any of the clocks runs out. */
function createDeadlines(limits: SmtpLimits, expire: () => void): Deadlines {
  const session = setTimeout(expire, limits.session);
  let waiting: NodeJS.Timeout | undefined;
  let data: NodeJS.Timeout | undefined;
  const progress = (ms = limits.idle) => {
    clearTimeout(waiting);
    waiting = setTimeout(expire, ms);
  };
  const work = () => {
    clearTimeout(waiting);
    clearTimeout(data);
  };
  return {
    awaitCommand: () => progress(),
    awaitData() {
      work();
      data = setTimeout(expire, limits.data);
      progress();
    },
    progress,
    work,
    end() {
      work();
      clearTimeout(session);
    },
  };
}
