/**
 * Answers requests for the hosts of files, before anything else of the service sees them. There, no page, no operation and
 * no cookie of the service exists.
 */

import type { App } from '../app.ts';
import { problemResponse } from '../http/problem.ts';
import { COMMON_HEADERS, etagOf, matchesAny } from '../http/response.ts';
import { createPathRedactor, type Fetch, toAppError } from '../http/router.ts';
import { AppError } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { inTrace, readTraceContext } from '../lib/trace-context.ts';
import { filesOf, type HostedFile, hostedFilesOf } from './files.ts';

/** Changes of other nodes, and lost verifications, take effect after this time. */
const REFRESH_MS = 1_000;

/** An earlier name leads to the current file, so that a logo does not vanish before its record is changed. */
const withoutHash = (url: string): string => url.replace(/-[0-9a-f]{16}\.(?=\w+$)/, '.');

/** Reads the files of a domain once, by URL. */
type ReadFiles = () => Promise<Map<string, HostedFile>>;

interface Index {
  readAt: number;
  hosts: Promise<Map<string, ReadFiles>>;
}

const stateOf = memoizePerObject((_: App): { index: Index | null } => ({ index: null }));

/** The next request reads the hosts again. */
export function forgetHosts(app: App): void {
  stateOf(app).index = null;
}

/** Null for a host without files. Requests for unknown hosts share one query in a second. */
export async function findHost(app: App, name: string): Promise<ReadFiles | null> {
  const state = stateOf(app);
  const now = app.clock.now();
  if (state.index === null || Math.abs(now - state.index.readAt) >= REFRESH_MS)
    state.index = { readAt: now, hosts: readHosts(app) };
  return (await state.index.hosts).get(name) ?? null;
}

async function readHosts({ db }: App): Promise<Map<string, ReadFiles>> {
  const rows = await db
    .selectFrom('hosted_files')
    .innerJoin('domains', 'domains.id', 'hosted_files.domain_id')
    .select(['id', 'name'])
    .select((eb) => [
      eb('policy', 'is not', null).as('hasPolicy'),
      eb('logo', 'is not', null).as('hasLogo'),
    ])
    .where('domains.status', '=', 'verified')
    .execute();
  return new Map(
    rows.flatMap(({ id, name, hasPolicy, hasLogo }) => {
      let files: ReturnType<ReadFiles> | undefined;
      const read = () =>
        (files ??= hostedFilesOf(db, id).then(
          (row) => new Map(filesOf(name, row).map((file) => [withoutHash(file.url), file])),
        ));
      return [hasPolicy && `mta-sts.${name}`, hasLogo && `bimi.${name}`].flatMap(
        (host): [string, ReadFiles][] => (host ? [[host, read]] : []),
      );
    }),
  );
}

const redactPath = createPathRedactor([]);

/** `next` gets the requests for all other hosts. */
export function serveHostedFiles(app: App, next: Fetch): Fetch {
  const own = [app.config.BASE_URL, app.config.APP_URL].map((url) => new URL(url).hostname);
  return (request, env) => {
    const { hostname, pathname: path } = new URL(request.url);
    // A name with the dot of the root is the same name.
    const host = hostname.replace(/\.$/, '');
    // Also hosts of domains that were removed: their visitors must not get the dashboard.
    if (!/^(?:mta-sts|bimi)\./.test(host) || own.includes(host)) return next(request, env);
    return inTrace(readTraceContext(request.headers), async () => {
      const startedAt = app.clock.now();
      const requestId = app.newId('req');
      const response = await respond(app, request, host, path).catch((error) =>
        problemResponse(toAppError(error, app, requestId), requestId, COMMON_HEADERS),
      );
      response.headers.set('x-request-id', requestId);
      const { status } = response;
      const isFile = status < 400;
      app.metrics.httpRequests.inc({ method: 'GET', route: isFile ? 'file' : 'none', status });
      app.log.info('request', {
        request_id: requestId,
        method: request.method,
        ...(isFile && { host }),
        path: redactPath(path, isFile),
        status,
        ms: app.clock.now() - startedAt,
      });
      return response;
    });
  };
}

async function respond(app: App, request: Request, host: string, path: string) {
  const files = await (await findHost(app, host))?.();
  const file = files?.get(withoutHash(`https://${host}${path}`));
  if (!file) throw new AppError('not_found', 'File not found.');
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new AppError('method_not_allowed', 'Use GET, HEAD.', [], { allow: 'GET, HEAD' });
  const { body, type } = file;
  const etag = etagOf(body);
  const headers = {
    ...COMMON_HEADERS,
    'content-type': type,
    etag,
    // RFC 8461 §3.3: a policy from a cache could be older than its id.
    'cache-control': file.check === 'mta_sts' ? 'no-cache' : 'public, max-age=3600',
    // Web mail shows the logo. Scripts in it could do nothing even if the check missed them.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
  };
  const isKnown = matchesAny(request.headers.get('if-none-match'), etag);
  return new Response(isKnown ? null : body, { status: isKnown ? 304 : 200, headers });
}
