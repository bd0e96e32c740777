/** Responds at the hosts of files. There, no page, no operation and no cookie of the service exists. */

import type { App } from '../app.ts';
import type { RequestContext } from '../http/request-context.ts';
import { etagOf, matchesAny } from '../http/response.ts';
import { createRouter, type Fetch } from '../http/router.ts';
import { AppError } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';
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

/** A name with the dot of the root is the same name. */
const hostOf = ({ url }: Request): string => new URL(url).hostname.replace(/\.$/, '');

/** `next` gets the requests for all other hosts. */
export function serveHostedFiles(app: App, next: Fetch): Fetch {
  const own = [app.config.BASE_URL, app.config.APP_URL].map((url) => new URL(url).hostname);
  const serve = createRouter({
    app,
    routes: [],
    identify: async () => null,
    reauthorize: () => Promise.reject(new Error('Files have no callers')),
    respond: (context) => respond(app, context),
  });
  return (request, env) => {
    const host = hostOf(request);
    // Also hosts of domains that were removed: their visitors must not get the dashboard.
    const isForFiles = /^(?:mta-sts|bimi)\./.test(host) && !own.includes(host);
    return (isForFiles ? serve : next)(request, env);
  };
}

async function respond(app: App, { request, pathname }: RequestContext): Promise<Response> {
  const host = hostOf(request);
  const files = await (await findHost(app, host))?.();
  const file = files?.get(withoutHash(`https://${host}${pathname}`));
  if (!file) throw new AppError('not_found', 'File not found.');
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new AppError('method_not_allowed', 'Use GET, HEAD.', [], { allow: 'GET, HEAD' });
  const etag = etagOf(file.body);
  const isKnown = matchesAny(request.headers.get('if-none-match'), etag);
  return new Response(isKnown ? null : file.body, {
    status: isKnown ? 304 : 200,
    headers: {
      'content-type': file.type,
      etag,
      // RFC 8461 §3.3: a policy from a cache could be older than its id.
      'cache-control': file.check === 'mta_sts' ? 'no-cache' : 'public, max-age=3600',
      // Web mail shows the logo. Scripts in it could do nothing even if the check missed them.
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
    },
  });
}
