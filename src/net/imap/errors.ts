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
}

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
  const { code = '', authenticationFailed, responseText, message } = error as LibraryError;
  const usesToken = 'accessToken' in account;
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
