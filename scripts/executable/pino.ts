/** Replaces the package `pino` in the executable: the IMAP client needs it only without a logger of its own. */

export default function pino(): never {
  throw new Error('The IMAP client was created without the option `logger`');
}
