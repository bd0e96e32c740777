/** The part of the API of deSEC that reads and changes RRsets, as its documentation describes it. */

import type { TestContext } from 'node:test';
import * as v from 'valibot';
import { DESEC_URL, desec } from '../../../src/dns-changes/servers/desec.ts';
import { type Answer, type Request, startHarness } from './harness.ts';
import { type Records, RefusedData, requireZoneFileData } from './records.ts';

const TOKEN = 'desec-secret-0123456789';
const PAGE_SIZE = 3;
const MIN_TTL = 3600;

const Bulk = v.array(
  v.strictObject({
    subname: v.string(),
    type: v.pipe(v.string(), v.regex(/^[A-Z]+$/)),
    ttl: v.pipe(v.number(), v.integer(), v.maxValue(86_400)),
    records: v.array(v.string()),
  }),
);

export const startDesecApi = (t: TestContext, records: Records) =>
  startHarness(t, {
    records,
    origin: 'https://desec.io',
    isWrite: ({ method }) => method === 'PATCH',
    open: (context, _, isWrong) =>
      desec.open({ api_token: isWrong ? 'wrong-token' : TOKEN }, context),
    answer(request): Answer {
      const { method, path, query, headers, body } = request;
      if (headers.authorization !== `Token ${TOKEN}`)
        return { status: 401, body: { detail: 'Invalid token.' } };
      if (path === '/api/v1/domains/') {
        const name = query.get('owns_qname');
        const found =
          name === null
            ? records.zones
            : records.zones.filter((zone) => zone === records.zoneOf(name));
        return page(
          request,
          found.map((zone) => ({ name: zone, minimum_ttl: MIN_TTL, published: null })),
        );
      }
      const [, zone = ''] = /^\/api\/v1\/domains\/([^/]+)\/rrsets\/$/.exec(path) ?? [];
      if (!records.zones.includes(zone)) return { status: 404, body: { detail: 'Not found.' } };
      const subname = (name: string) => (name === zone ? '' : name.slice(0, -zone.length - 1));
      if (method === 'GET')
        return page(
          request,
          records.in(zone).map(({ name, type, ttl, data }) => ({
            name: `${name}.`,
            subname: subname(name),
            domain: zone,
            type,
            ttl,
            records: data,
          })),
        );
      if (headers['content-type'] !== 'application/json')
        return { status: 415, body: { detail: 'Unsupported media type.' } };
      const bulk = v.safeParse(Bulk, JSON.parse(body));
      if (method !== 'PATCH' || !bulk.success)
        return { status: 400, body: [{ non_field_errors: ['This field is required.'] }] };
      try {
        for (const set of bulk.output) {
          const name = set.subname === '' ? zone : `${set.subname}.${zone}`;
          const old = records.find(name, set.type);
          if (set.records.length > 0 && set.ttl < MIN_TTL && set.ttl !== old?.ttl)
            throw new RefusedData(`Ensure this value is greater than or equal to ${MIN_TTL}.`);
          for (const data of set.records) requireZoneFileData(set.type, data);
          records.put({ name, type: set.type, ttl: set.ttl, data: set.records });
        }
      } catch (refused) {
        if (!(refused instanceof RefusedData)) throw refused;
        return { status: 400, body: [{ records: [refused.message] }] };
      }
      return { status: 200, body: [] };
    },
  });

/** Without `cursor`, a list that is too long is refused. */
function page({ query, path }: Request, items: object[]): Answer {
  const cursor = query.get('cursor');
  if (cursor === null && items.length > PAGE_SIZE)
    return { status: 400, body: { detail: 'Pagination required.' } };
  const from = Number(cursor ?? '');
  const others = new URLSearchParams(query);
  others.set('cursor', String(from + PAGE_SIZE));
  const base = DESEC_URL.replace('/api/v1/domains/', path);
  const next = from + PAGE_SIZE < items.length ? `, <${base}?${others}>; rel="next"` : '';
  const link = `<${base}?cursor=>; rel="first"${next}`;
  return { status: 200, body: items.slice(from, from + PAGE_SIZE), headers: { link } };
}
