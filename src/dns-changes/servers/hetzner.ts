/** Hetzner, by the Cloud API. https://docs.hetzner.cloud/reference/cloud#zones */

import { setTimeout } from 'node:timers/promises';
import * as v from 'valibot';
import { DnsServerError, type ServerContext, type ServerKind } from '../server.ts';
import { tokenField } from './fields.ts';
import { allPages, httpApi, parsedJson, type Refusal, readJson } from './http-api.ts';
import {
  dataAfter,
  type Entry,
  encodedData,
  plainName,
  type Replacement,
  relativeName,
  valuesOf,
  type Zone,
  zoneServer,
} from './zone-server.ts';

export const HETZNER_URL = 'https://api.hetzner.cloud/v1';
const PAGE_SIZE = '50';
/** Actions take a second or two, and are asked for less and less often. */
const POLL_MS = 100;
const MAX_POLLS = 15;

export const hetzner: ServerKind = {
  name: 'Hetzner',
  hint: 'Changes records through the Hetzner Cloud API. Zones of the old DNS Console must be moved to the Hetzner Console first.',
  fields: [
    tokenField({
      label: 'API token',
      hint: 'A token with the permission Read & Write, of a project that has only these zones.',
      documentation: 'A token of the Hetzner Cloud API with the permission Read & Write.',
      example: 'hetzner-token-0123456789abcdefghijklmnop',
    }),
  ],
  open: (settings, context) => zoneServer(hetznerApi(settings.api_token!, context)),
};

const ZoneItem = v.object({
  id: v.number(),
  name: v.string(),
  mode: v.string(),
  ttl: v.number(),
});
const Stored = v.object({ value: v.string(), comment: v.nullish(v.string()) });
type Stored = v.InferOutput<typeof Stored>;
const RrSet = v.object({
  name: v.string(),
  type: v.string(),
  ttl: v.nullish(v.number()),
  protection: v.optional(v.object({ change: v.boolean() })),
  records: v.array(Stored),
});
const Meta = v.object({ pagination: v.object({ next_page: v.nullish(v.number()) }) });
const Fault = v.object({ code: v.string(), message: v.string() });
const Action = v.object({
  action: v.object({ id: v.number(), status: v.string(), error: v.nullish(Fault) }),
});

interface HetznerZone extends Zone {
  ttl: number;
}

const REFUSALS: Record<string, NonNullable<Refusal>> = {
  token_readonly: [
    'refused',
    'The token may only read. Create one with the permission Read & Write.',
  ],
  uniqueness_error: [
    'changed',
    'Somebody has just added these records at Hetzner. Nothing was written. Make a new plan.',
  ],
  conflict: [
    'changed',
    'The records have just changed at Hetzner. Nothing was written. Make a new plan.',
  ],
  locked: ['rate_limited', 'Hetzner is applying another change to this zone. Try again.'],
  protected: ['refused', 'These records are protected at Hetzner. Remove the protection there.'],
  incorrect_zone_mode: [
    'refused',
    'Hetzner only copies this zone from another server. Change it on that server.',
  ],
  not_found: ['no_such_zone', 'The project of the token does not have this zone at Hetzner.'],
  invalid_input: [
    'invalid_record',
    'Hetzner rejects the records, and has changed nothing. Fix what it names.',
  ],
};

function hetznerApi(token: string, context: ServerContext) {
  const name = 'Hetzner';
  const faultOf = (body: string) => {
    const parsed = v.safeParse(v.object({ error: Fault }), parsedJson(body));
    return parsed.success ? parsed.output.error : null;
  };
  const refusalOf = (code: string, said: string): Refusal => {
    const found = Object.hasOwn(REFUSALS, code) ? REFUSALS[code]! : undefined;
    return found && [found[0], found[1] + said];
  };
  const send = httpApi(
    {
      name,
      secrets: [token],
      headers: { authorization: `Bearer ${token}` },
      advice: {
        credentials:
          'Hetzner rejects the token. Tokens of the old DNS Console do not work: create one in the project of the zone.',
        permission: 'The token has no permission for this. Create one with Read & Write.',
      },
      said: (body) => faultOf(body)?.message,
      refusal: (_, said, body) => refusalOf(faultOf(body)?.code ?? '', said),
    },
    context,
  );

  const list = <T>(path: string, key: string, query: object, item: v.GenericSchema<unknown, T>) =>
    allPages<T, number>(name, 1, async (page) => {
      const search = new URLSearchParams({ ...query, page: `${page}`, per_page: PAGE_SIZE });
      const schema = v.object({ [key]: v.array(item), meta: Meta });
      const found = readJson(name, schema, await send({ url: `${HETZNER_URL}${path}?${search}` }));
      return [
        found[key] as T[],
        (found.meta as v.InferOutput<typeof Meta>).pagination.next_page ?? null,
      ];
    });

  /** Waits until the change is made. */
  async function run(method: 'POST' | 'DELETE', path: string, body?: object) {
    const changes = true;
    const text = body && JSON.stringify(body);
    let response = await send({ method, changes, url: HETZNER_URL + path, body: text });
    for (let polls = 0; polls < MAX_POLLS; polls += 1) {
      const { id, status, error } = readJson(name, Action, response, changes).action;
      if (status === 'success') return;
      if (status === 'error') {
        const [problem, message] = refusalOf(error?.code ?? '', '') ?? [];
        const words = message ?? `Hetzner could not make the change: ${error?.message ?? status}.`;
        throw new DnsServerError(problem ?? 'server_failed', words, { mayHaveChanged: true });
      }
      await setTimeout(POLL_MS * (polls + 1), undefined, { signal: context.signal }).catch(
        () => {},
      );
      response = await send({ changes, url: `${HETZNER_URL}/actions/${id}` });
    }
    const words = 'Hetzner has accepted the change, but not completed it in time.';
    throw new DnsServerError('timeout', words, { mayHaveChanged: true });
  }

  return {
    name,
    noZones:
      'The project of the token has no primary zone at Hetzner. Create the zone there first.',
    async zones(zone?: string): Promise<HetznerZone[]> {
      const found = await list('/zones', 'zones', zone ? { name: zone } : {}, ZoneItem);
      return found
        .filter(({ mode }) => mode === 'primary')
        .map(({ id, name: one, ttl }) => ({ id: `${id}`, name: plainName(one), ttl }));
    },
    async entries({ id, name: zone, ttl: zoneTtl }: HetznerZone, { name: at }: { name?: string }) {
      const query = at === undefined ? {} : { name: relativeName(at, zone) };
      const sets = await list(`/zones/${id}/rrsets`, 'rrsets', query, RrSet);
      return sets.map(
        ({ name: owner, type, ttl, records, protection }): Entry<Stored[]> => ({
          name: owner === '@' ? zone : `${plainName(owner)}.${zone}`,
          type,
          ttl: ttl ?? zoneTtl,
          values: valuesOf(
            type,
            records.map(({ value }) => value),
          ),
          raw: records,
          ...(protection?.change && { locked: REFUSALS.protected![1] }),
        }),
      );
    },
    /** Only adding the first records is conditional: it fails if there are any. */
    async write({ zone, before, after, current }: Replacement<HetznerZone, Stored[]>) {
      const encode = encodedData(after);
      const records = dataAfter({ current, after }, (value): Stored => ({ value: encode(value) }));
      const { type } = before;
      const at = relativeName(before.name, zone.name);
      const path = `/zones/${zone.id}/rrsets`;
      const own = `${path}/${encodeURIComponent(at)}/${type}`;
      if (current.length === 0)
        await run('POST', path, { name: at, type, ttl: after.ttl, records });
      else if (records.length === 0) await run('DELETE', own);
      else await run('POST', `${own}/actions/set_records`, { records });
    },
  };
}
