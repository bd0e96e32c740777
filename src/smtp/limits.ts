/** What one client may ask of the listener before it is shown the door. */

export interface SmtpLimits {
  /** Milliseconds that a command, or the next bytes of DATA, may be waited for. */
  idle: number;
  /** Milliseconds for all of DATA. */
  data: number;
  /** Milliseconds for a whole session. */
  session: number;
  /** Milliseconds for the PROXY header of a trusted peer. */
  proxyHeader: number;
  /** Milliseconds of silence after a false end of data until it is answered as if it were one. */
  falseEnd: number;
  /** Sessions at once from one client address. */
  perAddress: number;
  /** Connections at once in all. */
  connections: number;
  /** RCPT commands in one transaction, accepted or not. */
  recipients: number;
  /** Octets in a command line without its end. */
  line: number;
  /** Octets of messages held in memory at once, over all sessions. */
  memory: number;
}

export const SMTP_LIMITS: SmtpLimits = {
  idle: 60_000,
  data: 600_000,
  session: 1_200_000,
  proxyHeader: 5_000,
  falseEnd: 2_000,
  perAddress: 30,
  connections: 300,
  recipients: 100,
  line: 4096,
  memory: 512 * 1024 * 1024,
};
