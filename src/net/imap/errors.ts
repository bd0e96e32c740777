/** What can go wrong with an IMAP server, in words for administrators. */

import type { ImapAccount } from '../../config/seed-mailboxes.ts';
import { AccountError, type AccountProblem, quoted } from '../account-error.ts';

export type ImapProblem = AccountProblem;

export class ImapError extends AccountError {}

/** The library’s message if the server announces no way to sign in that fits. */
const UNSUPPORTED = 'Unsupported authentication mechanism';

interface LibraryError extends Error {
  code?: string;
  authenticationFailed?: boolean;
  responseText?: string;
  /** Of RFC 5530, such as `UNAVAILABLE`. */
  serverResponseCode?: string;
}

/** What a response code in the answer to a sign-in means (RFC 5530 §3), and a text of Exchange Online. */
const SIGN_IN_CODES: Record<string, [problem: AccountProblem, text: string]> = {
  UNAVAILABLE: ['unreachable', 'can’t check the sign-in right now.'],
  INUSE: ['throttled', 'lets nobody else use the mailbox right now.'],
  LIMIT: ['throttled', 'has reached a limit, such as that of connections.'],
  EXPIRED: ['sign_in_failed', 'says that the password has expired. Set a new one.'],
  PRIVACYREQUIRED: ['tls_failed', 'accepts the sign-in over TLS only.'],
  CONTACTADMIN: ['sign_in_failed', 'has blocked the account. Ask its administrator.'],
  AUTHORIZATIONFAILED: ['sign_in_failed', 'does not let this user open the mailbox.'],
};
const NOT_CONNECTED = /authenticated but not connected/i;

const UNREACHABLE = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
];
const TIMEOUTS = [
  'CONNECT_TIMEOUT',
  'GREETING_TIMEOUT',
  'UPGRADE_TIMEOUT',
  'ETIMEOUT',
  'ETIMEDOUT',
];
const TOO_LARGE = [
  'LineTooLarge',
  'LiteralTooLarge',
  'ResponseTooLarge',
  'TooManyTokens',
  'TooManyResponses',
];
const TLS_CODES = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_|STARTTLS)/;

/** Any error of the library, of Node's sockets, or of TLS as an ImapError. */
export function toImapError(error: unknown, { host, ...account }: ImapAccount): ImapError {
  if (error instanceof ImapError) return error;
  const libraryError = error as LibraryError;
  const { code = '', serverResponseCode = '', authenticationFailed, responseText } = libraryError;
  const { message } = libraryError;
  const usesToken = 'accessToken' in account;
  const [problem, text] = SIGN_IN_CODES[serverResponseCode] ?? [];
  if (authenticationFailed && problem)
    return new ImapError(problem, `${host} ${text}${quoted(responseText)}`);
  if (NOT_CONNECTED.test(responseText ?? ''))
    return new ImapError(
      'sign_in_failed',
      `${host} accepts the sign-in, but opens no mailbox. Check that the account has a mailbox and allows IMAP.${quoted(responseText)}`,
    );
  if (authenticationFailed)
    return new ImapError(
      'sign_in_failed',
      usesToken
        ? `${host} rejects the OAuth 2 sign-in as ${account.user}. Check that this is the account that signed in, and that it allows IMAP.${quoted(responseText)}`
        : `${host} rejects the user name or password. Create a new app password.${quoted(responseText)}`,
    );
  if (usesToken && message === UNSUPPORTED)
    return new ImapError('sign_in_failed', `${host} doesn’t support OAuth 2. Set a password.`);
  if (UNREACHABLE.includes(code))
    return new ImapError(
      'unreachable',
      `Can’t connect to ${host} (${code}). Check its name and port.`,
    );
  if (TIMEOUTS.includes(code)) return new ImapError('timeout', `${host} didn’t respond in time.`);
  if (TLS_CODES.test(code) || /starttls|certificate|TLS/i.test(message ?? ''))
    return new ImapError(
      'tls_failed',
      `Can’t make a trusted TLS connection to ${host} (${code || 'TLS'}). Check its certificate.`,
    );
  if (TOO_LARGE.includes(code) || /^Parser|Invalid|Unexpected|MAX_IMAP|MissingTag/.test(code))
    return new ImapError(
      'bad_response',
      `${host} sent a response that is not valid IMAP (${code}).`,
    );
  if (responseText)
    return new ImapError('refused', `${host} rejected the command.${quoted(responseText)}`);
  return new ImapError('closed', `${host} closed the connection${code ? ` (${code})` : ''}.`);
}
