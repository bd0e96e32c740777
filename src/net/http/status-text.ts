/** What a status means to a client whose request should have been accepted, and what to do (RFC 9110 §15). */

const TEXTS: Record<number, string> = {
  400: 'the server rejected the content of the request',
  401: 'the server requires a valid token or password',
  403: 'the server does not allow this; check the token and its permissions',
  404: 'the server found nothing at this URL; check the URL',
  405: 'the server does not accept this method; check the URL',
  410: 'this URL no longer exists; check the URL',
  413: 'the request is too long for the server',
  415: 'the server does not accept this content type',
  422: 'the server rejected the content of the request',
  429: 'too many messages in a short time',
  500: 'the server had an internal error',
  502: 'the server is not reachable behind its proxy',
  503: 'the server is unavailable',
  504: 'the server did not respond to its proxy in time',
};

export function statusText(code: number): string {
  if (code >= 300 && code < 400)
    return 'redirects are not followed; enter the URL that it redirects to';
  return TEXTS[code] ?? 'only 2xx counts as success';
}
