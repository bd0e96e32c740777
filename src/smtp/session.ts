/** An SMTP session: the library's connection with limits, deadlines and shutdown added. */

import type { Socket } from 'node:net';
import type { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import { normalizeAddress } from '../lib/addresses.ts';
import { errorMessage } from '../lib/errors.ts';
import { DataParser } from './data-parser.ts';
import type { Reply } from './destination.ts';
import type { ListenerState, OpenSession, SmtpLimits } from './listener-state.ts';
import {
  checkDiskSpace,
  FALSE_END_REPLY,
  LINE_TOO_LONG,
  SHUTTING_DOWN,
  STOP_RCPT,
  TIMED_OUT,
  TOO_MANY_CONNECTIONS,
  TOO_MANY_RCPT,
  UNKNOWN_PARAMETER,
} from './replies.ts';
import { findTrueClient, unknownClient } from './trusted-hops.ts';

const ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;
const SOURCE_ROUTE = /^@[^\s,:@]+(?:,@[^\s,:@]+)*:/;
/** A local part in quotation marks, which can contain spaces, angle brackets and @ (RFC 5321 §4.1.2). */
const QUOTED_LOCAL_PART =
  /(:\s*<(?:@[^\s,:@]+(?:,@[^\s,:@]+)*:)?)("(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*")(?=@[^<>\s"]+>)/u;
/** Octets, with the quotation marks. */
const MAX_LOCAL_PART = 256;

/** The parameters of the extensions that EHLO offers (RFC 1870, 6152, 6531). */
const MAIL_PARAMETERS = ['SIZE', 'BODY', 'SMTPUTF8'];

export interface Client {
  /** Normalized. */
  address: string;
  port: number;
  /** Whether it is a mail server that passes on other clients with XCLIENT or XFORWARD. */
  isTrusted: boolean;
  /** Whether it is a mail server whose Received field is believed. */
  isHop: boolean;
}

/** Extensions of Postfix: www.postfix.org/XCLIENT_README.html, www.postfix.org/XFORWARD_README.html. */
const FORWARDING = ['XCLIENT', 'XFORWARD'];

/** If the listener is full, senders slower than this lose their place, after a start without a minimum. */
const MIN_BYTES_PER_SECOND = 4096;
const SLOW_START_MS = 2000;

/** A subclass, because the library has no options for these behaviors. */
export class Session extends SMTPConnection implements OpenSession {
  tls: OpenSession['tls'] = { used: false, version: null, cipher: null };
  /** The name in HELO or EHLO, as sent. */
  private helo: string | null = null;
  readonly counts = { messages: 0, refusals: 0 };
  private readonly peer: Client;
  private readonly startedAt: number;
  private hasEnded = false;
  private isForwarding = false;
  private readonly state: ListenerState;
  private readonly onClose: () => void;
  private readonly deadlines: Deadlines;
  private rcptCommands = 0;
  /** Whether a reply is pending, or the client is sending a message. */
  private busy = false;
  /** The time at which the current message began, as `now` of the listener. */
  private dataSince = 0;
  private lingering: NodeJS.Timeout | undefined;

  constructor(
    server: SMTPServer,
    socket: Socket,
    client: Client,
    state: ListenerState,
    onClose: () => void,
  ) {
    super(server, socket, { remoteAddress: client.address, remotePort: client.port });
    this.peer = client;
    this.startedAt = state.now;
    this.state = state;
    this.onClose = onClose;
    this.deadlines = createDeadlines(state.limits, () => this.expire());
    this.on('error', (error) =>
      state.log.debug('SMTP session failed', {
        client_ip: client.address,
        error: errorMessage(error),
      }),
    );
  }

  get parser(): DataParser {
    return this._parser as DataParser;
  }

  /** Sends the greeting at once. The library would wait 100 ms, to catch clients that talk early. */
  override init(): void {
    this._setListeners(() => this.connectionReady());
  }

  isEvictable(): boolean {
    if (!this.busy || this._closing) return true;
    const elapsed = this.state.now - this.dataSince;
    if (!this.parser.isReadingData || elapsed < SLOW_START_MS) return false;
    return this.parser.dataBytes < (elapsed / 1000) * MIN_BYTES_PER_SECOND;
  }

  evict(): void {
    this.disconnect(TOO_MANY_CONNECTIONS);
    // The client does not read, so it would not get the reply either.
    if (this._socket.writableLength > 0) this._socket.destroy();
  }

  drain(): void {
    if (!this.busy) this.disconnect();
  }

  disconnect(reply = SHUTTING_DOWN): void {
    // During a TLS handshake, no reply can be sent.
    if (this._upgrading) this._socket.destroy();
    if (!this._closing) this.reply(reply);
    this._socket.destroySoon();
  }

  private reply({ code, enhanced, text }: Reply): void {
    this.send(code, `${enhanced} ${text}`);
  }

  /** Sends a reply, and then waits for the client. All replies go through this method. */
  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    const hasEnhancedCode = typeof data === 'string' && ENHANCED_CODE.test(data);
    super.send(code, data, hasEnhancedCode ? false : context);
    if (this._closing || this._closed) return;
    this.busy = this.parser.isReadingData;
    this.dataSince = this.state.now;
    if (this.state.sessions.delete(this.id)) this.state.sessions.set(this.id, this);
    if (this.busy) this.deadlines.awaitData();
    else if (this.state.draining) this.disconnect();
    else this.deadlines.awaitCommand();
  }

  override _onCommand(command: Buffer, callback?: () => void): void {
    // During a TLS handshake, the library drops commands that were received before it.
    if (!this._upgrading) {
      this.busy = true;
      this.deadlines.suspend();
    }
    super._onCommand(command, callback);
  }

  private onDataChunk(ended: boolean): void {
    if (ended) this.deadlines.suspend();
    else if (this.parser.reader.atFalseEnd)
      this.deadlines.awaitMoreData(this.state.limits.falseEndMs);
    else this.deadlines.awaitMoreData();
  }

  private expire(): void {
    const isFalseEnd = this.parser.isReadingData && this.parser.reader.atFalseEnd;
    this.reply(isFalseEnd ? FALSE_END_REPLY : TIMED_OUT);
    this.close();
  }

  /** The library calls this in its constructor, and again after STARTTLS. */
  override _createParser(): DataParser {
    const parser = new DataParser({ maxCommandLength: this._server.options.maxCommandLength });
    parser.oncommand = (command, callback) => this._onCommand(command, callback);
    parser.onData = (ended) => this.onDataChunk(ended);
    parser.on('error', () => {
      this.reply(LINE_TOO_LONG);
      this.close();
    });
    return parser;
  }

  /**
   * Keeps addresses as sent: the library would convert A-labels to U-labels. It knows no quoted local parts, so it gets
   * another one in their place.
   */
  override _parseAddressCommand(name: string, command: Buffer | string) {
    const text = command.toString();
    const quoted = QUOTED_LOCAL_PART.exec(text)?.[2];
    if (quoted !== undefined && Buffer.byteLength(quoted) > MAX_LOCAL_PART) return false;
    const simple = quoted === undefined ? text : text.replace(QUOTED_LOCAL_PART, '$1quoted');
    const parsed = super._parseAddressCommand(name, simple);
    const address = /:\s*<([^<>]*)>/.exec(simple)?.[1]?.replace(SOURCE_ROUTE, '');
    if (!parsed || address === undefined) return parsed;
    return {
      ...parsed,
      // A function, because the local part can contain `$&`.
      address: quoted === undefined ? address : address.replace('quoted', () => quoted),
    };
  }

  /** Also rejects parameters of extensions that EHLO does not offer (RFC 5321 §4.1.1.11). */
  override _rejectInvalidParams(
    parsed: Parameters<SMTPConnection['_rejectInvalidParams']>[0],
    keys: string[],
    callback: () => void,
  ): boolean {
    const known = keys.includes('SIZE') ? MAIL_PARAMETERS : [];
    const unknown = Object.keys(parsed.args || {}).find((key) => !known.includes(key));
    if (unknown === undefined) return super._rejectInvalidParams(parsed, keys, callback);
    this.reply(UNKNOWN_PARAMETER);
    callback();
    return true;
  }

  override handler_EHLO(command: Buffer, callback: () => void): void {
    this.recordHelo(command);
    super.handler_EHLO(command, callback);
  }

  override handler_HELO(command: Buffer, callback: () => void): void {
    this.recordHelo(command);
    super.handler_HELO(command, callback);
  }

  private recordHelo(command: Buffer): void {
    const words = command.toString().trim().split(/\s+/);
    // The library rejects everything else.
    if (words.length === 2) this.helo = words[1]!;
  }

  override handler_RCPT(command: Buffer, callback: () => void): void {
    this.rcptCommands += 1;
    const { recipients } = this.state.limits;
    if (this.rcptCommands <= recipients) {
      super.handler_RCPT(command, callback);
    } else {
      this.reply(this.rcptCommands > 2 * recipients ? STOP_RCPT : TOO_MANY_RCPT);
      callback();
    }
  }

  override handler_DATA(command: Buffer, callback: () => void): void {
    void checkDiskSpace(this.state).then((rejection) => {
      if (!rejection) {
        super.handler_DATA(command, callback);
      } else {
        this.reply(rejection);
        callback();
      }
    });
  }

  override _resetSession(): void {
    // XFORWARD is about one message.
    if (!this.isForwarding) this._xForward?.clear();
    super._resetSession();
    this.rcptCommands = 0;
  }

  // A trusted mail server passes on the client of the session (XCLIENT) or of the next message (XFORWARD).

  override _isSupported(command: string): boolean {
    return FORWARDING.includes(command) ? this.peer.isTrusted : super._isSupported(command);
  }

  override _proxyCommandAllowed(): boolean {
    return this.peer.isTrusted && !this._xClient.has('ADDR');
  }

  override handler_XCLIENT(command: Buffer, callback: () => void): void {
    const wasAllowed = this._proxyCommandAllowed();
    super.handler_XCLIENT(command, () => {
      // The session starts again, as the client's.
      if (wasAllowed && !this._proxyCommandAllowed()) this.helo = null;
      callback();
    });
  }

  override handler_XFORWARD(command: Buffer, callback: () => void): void {
    const greeted = this.hostNameAppearsAs;
    this.isForwarding = true;
    super.handler_XFORWARD(command, () => {
      this.isForwarding = false;
      // Without a HELO name of the client, the library would expect another EHLO.
      this.hostNameAppearsAs ||= greeted;
      callback();
    });
  }

  describeClient(): ReturnType<OpenSession['describeClient']> {
    const reported_by = { client_ip: this.peer.address, name: this.helo };
    const forwarded = normalizeAddress(passedOn(this._xForward, 'ADDR'));
    // Only the mail server knows whether its client used TLS.
    if (forwarded)
      return {
        client_ip: forwarded,
        helo: passedOn(this._xForward, 'HELO') || null,
        tls: null,
        reported_by: { ...reported_by, method: 'xforward' },
      };
    const helo = passedOn(this._xClient, 'HELO') || this.helo;
    const client = normalizeAddress(passedOn(this._xClient, 'ADDR'));
    if (client)
      return {
        client_ip: client,
        helo,
        tls: null,
        // After XCLIENT, the HELO name is that of its client.
        reported_by: { ...reported_by, name: null, method: 'xclient' },
      };
    return { client_ip: this.peer.address, helo, tls: this.tls };
  }

  clientOf(raw: Buffer): ReturnType<OpenSession['describeClient']> {
    const client = findTrueClient(this.describeClient(), raw, this.state.trustedHops);
    // A server that delivers with LMTP is never the sender.
    return this.state.lmtp && !client.reported_by
      ? unknownClient({ client_ip: this.peer.address, name: this.helo, method: null })
      : client;
  }

  override close(): void {
    super.close();
    this.deadlines.stop();
    // The library does the same, but more slowly.
    this.lingering ??= setTimeout(() => this._socket.destroy(), this.state.limits.lingerMs);
  }

  override _onClose(): void {
    super._onClose();
    this.deadlines.stop();
    clearTimeout(this.lingering);
    this.onClose();
    this.state.sessions.delete(this.id);
    if (this.hasEnded) return;
    this.hasEnded = true;
    const seconds = Math.round((this.state.now - this.startedAt) / 1000);
    this.state.hooks.ended?.({ client: this.describeClient(), ...this.counts, seconds });
  }
}

/** Empty if the attribute is missing, unavailable or no word. */
function passedOn(attributes: Map<string, string | number | false>, name: string): string {
  const value = attributes.get(name);
  return typeof value === 'string' && /^\S+$/.test(value) ? value : '';
}

// The deadlines of a session: for the next command, for DATA and for the whole session.

interface Deadlines {
  /** Waits for a complete command line; individual bytes do not extend the deadline. */
  awaitCommand(): void;
  /** Waits for the DATA transfer. */
  awaitData(): void;
  /** Waits for more bytes of DATA, for `ms` milliseconds (default: the idle limit). */
  awaitMoreData(ms?: number): void;
  /** While the server works on a reply, only the deadline of the session runs. */
  suspend(): void;
  /** Stops all deadlines. */
  stop(): void;
}

/** Calls `expire` when any deadline passes. */
function createDeadlines(limits: SmtpLimits, expire: () => void): Deadlines {
  const session = setTimeout(expire, limits.sessionMs);
  let idle: NodeJS.Timeout | undefined;
  let data: NodeJS.Timeout | undefined;
  const awaitMoreData = (ms = limits.idleMs) => {
    clearTimeout(idle);
    idle = setTimeout(expire, ms);
  };
  const suspend = () => {
    clearTimeout(idle);
    clearTimeout(data);
  };
  return {
    awaitCommand: () => awaitMoreData(),
    awaitData() {
      suspend();
      data = setTimeout(expire, limits.dataMs);
      awaitMoreData();
    },
    awaitMoreData,
    suspend,
    stop() {
      suspend();
      clearTimeout(session);
    },
  };
}
