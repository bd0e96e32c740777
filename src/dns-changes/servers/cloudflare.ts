/** Cloudflare: API v4 with a scoped API token. https://developers.cloudflare.com/api/resources/dns/ */

import * as v from 'valibot';
import { cloudflareContent } from '../presentation.ts';
import { DnsServerError, type ServerContext, type ServerKind } from '../server.ts';
import { tokenField } from './fields.ts';
import { allPages, httpApi, parsedJson } from './http-api.ts';
import { type Stored, type ZoneApi, zoneServer } from './zone-server.ts';

const CLOUDFLARE_URL = 'https://api.cloudflare.com/client/v4';
/** The most that the list of zones allows. */
const PAGE_SIZE = '50';

const NEEDS = 'Zone.Zone:Read and Zone.DNS:Edit';

export const cloudflare: ServerKind = {
  name: 'Cloudflare',
  hint: 'Changes records through the Cloudflare API, with a token that is limited to your zones.',
  fields: [tokenField(`An API token with the permissions ${NEEDS}, for these zones only.`)],
  open: (settings, context) => zoneServer(cloudflareApi(settings.api_token!, context)),
};

const Refused = v.object({
  errors: v.array(v.object({ code: v.number(), message: v.string() })),
});
const Answer = v.object({
  success: v.literal(true),
  result: v.unknown(),
  result_info: v.nullish(v.object({ total_pages: v.optional(v.number()) })),
});
const Id = v.pipe(v.string(), v.regex(/^\w{1,64}$/));
const ZoneItem = v.object({ id: Id, name: v.string() });
const StoredRecord = v.object({
  id: Id,
  type: v.string(),
  name: v.string(),
  content: v.nullish(v.string(), ''),
  priority: v.nullish(v.number()),
  ttl: v.number(),
  proxied: v.nullish(v.boolean(), false),
});
type StoredRecord = v.InferOutput<typeof StoredRecord>;

/** A record is not there, there already, or in conflict with another: the zone is no longer as it was read. */
const CONFLICTS = [81044, 81053, 81054, 81057, 81058];
const INVALID_HEADER = 6003;
/** Cloudflare’s own choice, the default of its records. Resolvers get 300 seconds. */
const AUTOMATIC_TTL = 1;

function cloudflareApi(
  token: string,
  context: ServerContext,
): ZoneApi<v.InferOutput<typeof ZoneItem>, StoredRecord> {
  const name = 'Cloudflare';
  const errorsOf = (body: string) => parsedJson(Refused, body)?.errors ?? [];
  const advice = {
    401: 'Cloudflare rejects the API token. It may be revoked, expired, or limited to other IP addresses.',
    403: `The API token has no permission for this. It needs ${NEEDS} for the zone.`,
  };
  const send = httpApi(
    {
      name,
      secret: token,
      headers: { authorization: `Bearer ${token}` },
      advice,
      said: (body) => errorsOf(body)[0]?.message,
      refusal(_, body) {
        const codes = errorsOf(body).map(({ code }) => code);
        if (codes.includes(INVALID_HEADER)) return ['bad_credentials', advice[401]];
        return codes.some((one) => CONFLICTS.includes(one)) ? 'changed' : undefined;
      },
    },
    context,
  );

  const list = <T>(path: string, query: object, item: v.GenericSchema<unknown, T>): Promise<T[]> =>
    allPages<T, number>(name, 1, async (page) => {
      const search = new URLSearchParams({ ...query, per_page: PAGE_SIZE, page: `${page}` });
      const { json } = await send(`${CLOUDFLARE_URL}${path}?${search}`);
      const { result, result_info } = json(v.object({ ...Answer.entries, result: v.array(item) }));
      return [result, page < (result_info?.total_pages ?? 1) ? page + 1 : null];
    });

  return {
    name,
    flattensApex: true,
    noZones: `The API token has access to no active zone. Give it ${NEEDS} for your zones.`,
    zones: (zone) => list('/zones', { ...(zone && { name: zone }), status: 'active' }, ZoneItem),
    async entries({ id }, { name: at, below }) {
      const query = at === undefined ? { 'name.endswith': `.${below}` } : { 'name.exact': at };
      return (await list(`/zones/${id}/dns_records`, query, StoredRecord)).map(storedOf);
    },
    /** One transaction, but without conditions. */
    async write({ zone, name: at, type, ttl, values: wanted, current, atName }) {
      // An address beside a proxied one would be a further web server behind the proxy, not what DNS answers with.
      if ((type === 'A' || type === 'AAAA') && atName.some(({ raw }) => raw!.proxied))
        throw new DnsServerError(
          'refused',
          `Cloudflare proxies ${at}, so DNS does not show its addresses. Use another name for the mail server, or turn off the proxy of this one at Cloudflare.`,
        );
      const removed = current.filter(({ values }) => !wanted.includes(values[0]!));
      const there = current.flatMap(({ values }) => values);
      const added = wanted.filter((value) => !there.includes(value));
      const record = (value: string, seconds: number) => ({
        name: at,
        type,
        ttl: seconds,
        ...cloudflareContent(type, value),
      });
      // A record that changes its value keeps its TTL, its comment and its tags.
      const changed = Math.min(removed.length, added.length);
      const isAutomatic = current.some(({ raw }) => raw!.ttl === AUTOMATIC_TTL);
      const { json } = await send(`${CLOUDFLARE_URL}/zones/${zone.id}/dns_records/batch`, {
        method: 'POST',
        body: {
          deletes: removed.slice(changed).map(({ raw }) => ({ id: raw!.id })),
          patches: removed
            .slice(0, changed)
            .map(({ raw }, index) => ({ id: raw!.id, ...record(added[index]!, raw!.ttl) })),
          posts: added
            .slice(changed)
            .map((value) => record(value, isAutomatic ? AUTOMATIC_TTL : ttl)),
        },
      });
      json(Answer);
    },
  };
}

const storedOf = (raw: StoredRecord): Stored<StoredRecord> => ({
  ...raw,
  ttl: raw.ttl === AUTOMATIC_TTL ? 300 : raw.ttl,
  data: [raw.type === 'MX' ? `${raw.priority ?? 0} ${raw.content}` : raw.content],
  raw,
});
