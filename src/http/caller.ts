/** From where a request comes: the address of the client and how it reached us. */

export interface Caller {
  /** null where it is not known, as for a socket that is gone. */
  ip: string | null;
  /** Cut to 500 characters. */
  userAgent: string | null;
  /** Over TLS, to us or to a trusted proxy. */
  secure: boolean;
}
