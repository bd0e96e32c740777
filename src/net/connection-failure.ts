/** Why a connection to a server of the operator's failed, as half a sentence for people. */

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'it refused the connection',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  EHOSTUNREACH: 'it could not be reached',
  ENETUNREACH: 'it could not be reached',
  ETIMEDOUT: 'it could not be reached',
  ENOTFOUND: 'its name could not be found',
  EAI_AGAIN: 'its name could not be found',
};

/** From the `code` of a socket's or a request's error; names no address of the operator's network. */
export function connectionFailure(error: unknown): string {
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  if (code.startsWith('HPE_')) return 'what it answered is no HTTP';
  return REASONS[code] ?? 'the connection failed';
}
