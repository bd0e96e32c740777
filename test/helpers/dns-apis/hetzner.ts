/** The part of the Hetzner Cloud API that reads and changes RRsets of zones, as its reference describes it. */

import type { TestContext } from 'node:test';
import * as v from 'valibot';
import { hetzner } from '../../../src/dns-changes/servers/hetzner.ts';
import { type Answer, type Request, startHarness } from './harness.ts';
import { type Records, RefusedData, requireZoneFileData } from './records.ts';

export const HETZNER_TOKEN = 'hetzner-secret-0123456789abcdef';

const Stored = v.strictObject({ value: v.string(), comment: v.optional(v.string()) });
const Created = v.strictObject({
  name: v.pipe(v.string(), v.regex(/^(?:@|[a-z0-9_*.-]+)$/)),
  type: v.string(),
  ttl: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(60)))),
  records: v.pipe(v.array(Stored), v.minLength(1)),
});
const Records_ = v.strictObject({ records: v.pipe(v.array(Stored), v.minLength(1)) });

const error = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message, details: null } },
});

export interface HetznerOptions {
  /** The token may only read. */
  isReadOnly?: boolean;
  /** The sets are protected. */
  isProtected?: boolean;
  /** The zone is a copy. */
  isSecondary?: boolean;
  /** Actions end so. */
  actionError?: { code: string; message: string };
  /** What comes instead of the state of an action. */
  lostAction?: Answer;
}

export function startHetznerApi(t: TestContext, records: Records, options: HetznerOptions = {}) {
  let actions = 0;
  const action = (status: string): Answer => ({
    status: 201,
    body: {
      action: { id: actions, status, error: status === 'error' ? options.actionError : null },
    },
  });
  const begin = () => {
    actions += 1;
    return action('running');
  };
  return startHarness(t, {
    records,
    origin: 'https://api.hetzner.cloud',
    isWrite: ({ method }) => method !== 'GET',
    open: (context, _, isWrong) =>
      hetzner.open({ api_token: isWrong ? 'wrong-token' : HETZNER_TOKEN }, context),
    answer(request): Answer {
      const { method, path, query, headers, body } = request;
      if (headers.authorization !== `Bearer ${HETZNER_TOKEN}`)
        return error(401, 'unauthorized', 'unable to authenticate');
      if (method !== 'GET' && options.isReadOnly)
        return error(403, 'token_readonly', 'only GET requests are allowed');
      if (path.startsWith('/v1/actions/') && options.lostAction) return options.lostAction;
      if (path === `/v1/actions/${actions}`)
        return action(options.actionError ? 'error' : 'success');
      const zones = records.zones.map((name, index) => ({
        id: index + 1,
        name,
        ttl: 3600,
        mode: options.isSecondary ? 'secondary' : 'primary',
        status: 'ok',
      }));
      if (path === '/v1/zones') {
        const found = zones.filter(({ name }) => name === (query.get('name') ?? name));
        return page(request, 'zones', found);
      }
      const [, id, at, type, act] =
        /^\/v1\/zones\/(\d+)\/rrsets(?:\/([^/]+)\/([A-Z]+)(\/actions\/set_records)?)?$/.exec(
          path,
        ) ?? [];
      const zone = zones.find((one) => `${one.id}` === id)?.name;
      if (!zone) return error(404, 'not_found', 'zone not found');
      const absolute = (name: string) => (name === '@' ? zone : `${name}.${zone}`);
      if (method === 'GET' && at === undefined) {
        const sets = records
          .in(zone)
          .map((set) => ({
            id: `${set.name}/${set.type}`,
            name: set.name === zone ? '@' : set.name.slice(0, -zone.length - 1),
            type: set.type,
            ttl: set.ttl,
            protection: { change: options.isProtected ?? false },
            records: set.data.map((value) => ({ value, comment: '' })),
          }))
          .filter(({ name }) => name === (query.get('name') ?? name));
        return page(request, 'rrsets', sets);
      }
      if (method !== 'DELETE' && headers['content-type'] !== 'application/json')
        return error(415, 'unsupported_media_type', 'not JSON');
      try {
        if (at === undefined) {
          const { name, type: kind, ttl, records: list } = v.parse(Created, JSON.parse(body));
          if (records.find(absolute(name), kind))
            return error(409, 'uniqueness_error', 'an RRSet with this name and type exists');
          return put(absolute(name), kind, ttl ?? 3600, list);
        }
        const name = absolute(decodeURIComponent(at));
        const old = records.find(name, type!);
        if (!old) return error(404, 'not_found', 'rrset not found');
        if (method === 'DELETE') return put(name, type!, 0, []);
        if (method !== 'POST' || !act) return error(405, 'method_not_allowed', 'no');
        return put(name, type!, old.ttl, v.parse(Records_, JSON.parse(body)).records);
      } catch (refused) {
        if (refused instanceof RefusedData || v.isValiError(refused))
          return error(
            422,
            'invalid_input',
            `invalid input in field 'records': ${(refused as Error).message}`,
          );
        throw refused;
      }
    },
  });

  function put(name: string, type: string, ttl: number, list: { value: string }[]): Answer {
    const data = list.map(({ value }) => value);
    for (const one of data) requireZoneFileData(type, one);
    records.put({ name, type, ttl, data });
    return begin();
  }
}

function page({ query }: Request, key: string, items: object[]): Answer {
  const size = Number(query.get('per_page') ?? 25);
  if (size > 50) return error(422, 'invalid_input', 'per_page is too large');
  // Fewer than asked for, so that short lists have several pages.
  const shown = Math.min(size, 3);
  const number = Number(query.get('page') ?? 1);
  const pages = Math.max(1, Math.ceil(items.length / shown));
  const pagination = {
    page: number,
    per_page: shown,
    next_page: number < pages ? number + 1 : null,
    last_page: pages,
  };
  const body = { [key]: items.slice((number - 1) * shown, number * shown), meta: { pagination } };
  return { status: 200, body };
}
