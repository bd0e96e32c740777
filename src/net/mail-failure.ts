/** Why a mail could not be handed over, and whether it is worth another try. */

import { printable } from '../lib/log.ts';
import { connectionFailure } from './connection-failure.ts';
import { tlsProblem } from './start-tls.ts';

interface MailFailure {
  /** Whether the same mail may go through later. */
  temporary: boolean;
  /** Half a sentence of ours that names neither server nor mail. */
  fault: string;
  /** The fault with what the server said, cut, without links, tokens or the password. */
  reason: string;
  /** The server works; it is this mail that it did not take. */
  aboutMail: boolean;
}

/** What nodemailer's errors say beside their message. */
interface MailError {
  code?: string;
  originalCode?: string;
  command?: string;
  response?: string;
  responseCode?: number;
}

const REFUSED: Record<string, string> = {
  'MAIL FROM': 'it refused the sender',
  'RCPT TO': 'it refused the recipient',
  DATA: 'it refused the message',
};

/** The time for the whole of it is up. */
export class MailTooSlow extends Error {}

/**
 * A refusal with 5xx of this recipient or this message is for good. Everything else may be mended: by
 * time, or, where it refuses the sender or the password, by the operator.
 */
export function mailFailure(thrown: unknown, secrets: string[]): MailFailure {
  const error = thrown as MailError;
  const { response, responseCode: code = 0 } = error;
  // 421 says that the server is closing, whatever it was asked (RFC 5321 §3.8).
  const command = code === 421 ? '' : (error.command ?? '');
  if (thrown instanceof MailTooSlow) return failure('it did not answer in time');
  if (error.code === 'EENVELOPE' && command === 'API')
    return {
      ...failure('the address of the recipient is none'),
      temporary: false,
      aboutMail: true,
    };
  if (error.code === 'EAUTH')
    return failure('it did not accept the user name and password', statusOf(response));
  if (error.code === 'ETLS') return failure(tlsFault(error), statusOf(response));
  if (!response) return failure(connectionFault(error));
  const aboutMail = command === 'RCPT TO' || command === 'DATA';
  return {
    ...failure(REFUSED[command] ?? 'it refused the session', quoted(response, secrets)),
    // 503 is about the order of the commands, not about the mail (RFC 5321 §4.2.3).
    temporary: !(aboutMail && code >= 500 && code !== 503),
    aboutMail,
  };
}

const failure = (fault: string, said = ''): MailFailure => ({
  temporary: true,
  fault,
  reason: said === '' ? fault : `${fault}: ${said}`,
  aboutMail: false,
});

function tlsFault({ originalCode, response }: MailError): string {
  return response ? 'it offers no TLS' : tlsProblem({ code: originalCode });
}

/** A certificate is refused on a socket like any other, and only its code tells. */
function connectionFault({ code, originalCode }: MailError): string {
  if (code === 'ETIMEDOUT') return 'it did not answer in time';
  if (code === 'ECONNECTION' && !originalCode) return 'it closed the connection';
  const cause = originalCode ?? code ?? '';
  return /^ERR_(?:SSL|TLS)|CERT|^UNABLE_TO/.test(cause)
    ? tlsProblem({ code: cause })
    : connectionFailure({ code: cause });
}

/** `535 5.7.8` alone: what stands behind it may repeat what was sent. */
const statusOf = (response = ''): string =>
  /^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?/.exec(response)?.[0].replace('-', ' ') ?? '';

const MAX_READ = 1000;
const MAX_QUOTED = 200;

/** Servers repeat what they dislike: links and tokens of the mail are not kept outside of it. */
function quoted(response: string, secrets: string[]): string {
  let text = printable(response.slice(0, MAX_READ).replace(/\s+/g, ' ')).trim();
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '…');
  return text
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S*/gi, '…')
    .replace(/(?:[\w-]+\.)+[\w-]+\/\S*/g, '…')
    .replace(/[\w+/=-]{24,}/g, '…')
    .slice(0, MAX_QUOTED)
    .toWellFormed();
}
