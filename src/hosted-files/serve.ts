/**
 * Answers requests for the hosts of files, before anything else of the service sees them. There, no page, no operation and
 * no cookie of the service exists.
 */

import type { App } from '../app.ts';
import { problemResponse } from '../http/problem.ts';
import { createRequestContext } from '../http/request-context.ts';
import { COMMON_HEADERS, etagOf, matchesAny } from '../http/response.ts';
import { createPathRedactor, type Fetch, toAppError } from '../http/router.ts';
import { AppError } from '../lib/errors.ts';
import { inTrace, readTraceContext } from '../lib/trace-context.ts';
import { findHost } from './hosts.ts';

const redactPath = createPathRedactor([]);

/** `next` gets the requests for all other hosts. */
export function serveHostedFiles(app: App, next: Fetch): Fetch {
  const own = [app.config.BASE_URL, app.config.APP_URL].map((url) => new URL(url).hostname);
  return (request, env) => {
    const { hostname, pathname } = new URL(request.url);
    // A name with the dot of the root is the same name.
    const host = hostname.replace(/\.$/, '');
    // Also for hosts of domains that were removed: their visitors must not get the dashboard.
    if (!/^(?:mta-sts|bimi)\./.test(host) || own.includes(host)) return next(request, env);
    return inTrace(readTraceContext(request.headers), async () => {
      const startedAt = app.clock.now();
      const { requestId } = createRequestContext(request, env, app);
      const response = await respond(app, request, host, pathname).catch((error) =>
        problemResponse(toAppError(error, app, requestId), requestId, COMMON_HEADERS),
      );
      response.headers.set('x-request-id', requestId);
      const { status } = response;
      const isFile = status < 400;
      const method = ['GET', 'HEAD'].includes(request.method) ? 'GET' : 'none';
      app.metrics.httpRequests.inc({ method, route: isFile ? 'hosted file' : 'none', status });
      app.log.info('request', {
        request_id: requestId,
        method: request.method,
        ...(isFile ? { host } : {}),
        path: redactPath(pathname, isFile),
        status,
        ms: app.clock.now() - startedAt,
      });
      return response;
    });
  };
}

async function respond(app: App, request: Request, host: string, path: string): Promise<Response> {
  const file = await (await findHost(app, host))?.(path);
  if (!file) throw new AppError('not_found', 'There is no such file.');
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new AppError('method_not_allowed', 'Use GET, HEAD.', [], { allow: 'GET, HEAD' });
  const { body, type } = file;
  const etag = etagOf(body);
  const headers = {
    ...COMMON_HEADERS,
    etag,
    // RFC 8461 §3.3: a policy from a cache could be older than its id. The URLs of other files change with them.
    'cache-control': type === 'text/plain' ? 'no-cache' : 'public, max-age=3600',
    // Web mail shows the logo. Scripts in it could do nothing even if the check missed them.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
  };
  if (matchesAny(request.headers.get('if-none-match'), etag))
    return new Response(null, { status: 304, headers });
  return new Response(body, { headers: { ...headers, 'content-type': type } });
}
