/** Hetzner, by the Cloud API. https://docs.hetzner.cloud/reference/cloud#zones */

import { setTimeout } from 'node:timers/promises';
import * as v from 'valibot';
import { quoted } from '../../net/account-error.ts';
import { relativeName } from '../presentation.ts';
import { DnsServerError, type ServerContext, type ServerKind } from '../server.ts';
import { tokenField } from './fields.ts';
import { allPages, httpApi, parsedJson, type Refusal } from './http-api.ts';
import { type Zone, type ZoneApi, zoneServer } from './zone-server.ts';

const HETZNER_URL = 'https://api.hetzner.cloud/v1';
/** Actions take a second or two, and are asked for less and less often. */
const POLL_MS = 100;
const MAX_POLLS = 15;

export const hetzner: ServerKind = {
  name: 'Hetzner',
  hint: 'Changes records through the Hetzner Cloud API. Zones of the old DNS Console must be moved to the Hetzner Console first.',
  fields: [
    tokenField('A token with the permission Read & Write, of a project that has only these zones.'),
  ],
  open: (settings, context) => zoneServer(hetznerApi(settings.api_token!, context)),
};

const ZoneItem = v.object({ id: v.number(), name: v.string(), mode: v.string(), ttl: v.number() });
/** `value`, and perhaps a comment. */
const Item = v.looseObject({ value: v.string() });
const RrSet = v.object({
  name: v.string(),
  type: v.string(),
  ttl: v.nullish(v.number()),
  protection: v.optional(v.object({ change: v.boolean() })),
  records: v.array(Item),
});
const Meta = v.object({
  meta: v.object({ pagination: v.object({ next_page: v.nullish(v.number()) }) }),
});
const Fault = v.object({ error: v.object({ code: v.string(), message: v.string() }) });
const Action = v.object({
  action: v.object({ id: v.number(), status: v.string(), error: v.nullish(Fault.entries.error) }),
});

const PROTECTED = 'These records are protected at Hetzner. Remove the protection there.';
/** By the codes of errors. */
const REFUSALS: Record<string, Refusal> = {
  uniqueness_error: 'changed',
  conflict: 'changed',
  locked: ['rate_limited', 'Hetzner is applying another change to this zone.'],
  protected: ['refused', PROTECTED],
};

function hetznerApi(
  token: string,
  context: ServerContext,
): ZoneApi<Zone & { ttl: number }, v.InferOutput<typeof Item>[]> {
  const name = 'Hetzner';
  const faultOf = (body: string) => parsedJson(Fault, body)?.error;
  const send = httpApi(
    {
      name,
      secret: token,
      headers: { authorization: `Bearer ${token}` },
      advice: {
        401: 'Hetzner rejects the token. Tokens of the old DNS Console do not work: create one in the project of the zone.',
        403: 'The token may only read, or not do this. Create one with Read & Write.',
        404: 'The project of the token does not have this zone at Hetzner.',
      },
      said: (body) => faultOf(body)?.message,
      refusal: (_, body) => REFUSALS[faultOf(body)?.code ?? ''],
    },
    context,
  );

  const list = <T>(key: string, path: string, query: object, item: v.GenericSchema<unknown, T>) =>
    allPages<T, number>(name, 1, async (page) => {
      const search = new URLSearchParams({ ...query, page: `${page}`, per_page: '50' });
      const { json } = await send(`${HETZNER_URL}${path}?${search}`);
      const found = json(v.object({ [key]: v.array(item) }));
      return [found[key]!, json(Meta).meta.pagination.next_page ?? null];
    });

  /** Waits until the change is made. */
  async function run(path: string, body?: object) {
    let response = await send(HETZNER_URL + path, { method: body ? 'POST' : 'DELETE', body });
    for (let polls = 1; ; polls += 1) {
      const { id, status, error } = response.json(Action).action;
      if (status === 'success') return;
      if (status === 'error' || polls > MAX_POLLS)
        throw notCompleted(quoted(error?.message ?? status));
      await setTimeout(POLL_MS * polls, undefined, { signal: context.signal }).catch(() => {});
      // Whatever comes instead of the state, the change may be made.
      response = await send(`${HETZNER_URL}/actions/${id}`).catch(({ message }: Error) => {
        throw notCompleted(` ${message}`);
      });
    }
  }
  const notCompleted = (why: string) =>
    new DnsServerError('server_failed', `Hetzner has not completed the change.${why}`, {
      mayHaveChanged: true,
    });

  return {
    name,
    noZones:
      'The project of the token has no primary zone at Hetzner. Create the zone there first.',
    async zones(zone) {
      const found = await list('zones', '/zones', zone ? { name: zone } : {}, ZoneItem);
      return found
        .filter(({ mode }) => mode === 'primary')
        .map(({ id, ...one }) => ({ ...one, id: `${id}` }));
    },
    async entries({ id, name: zone, ttl }, { name: at }) {
      const query = at === undefined ? {} : { name: relativeName(at, zone) || '@' };
      const sets = await list('rrsets', `/zones/${id}/rrsets`, query, RrSet);
      return sets.map((set) => ({
        ...set,
        name: set.name === '@' ? zone : `${set.name}.${zone}`,
        ttl: set.ttl ?? ttl,
        data: set.records.map(({ value }) => value),
        raw: set.records,
        locked: set.protection?.change && PROTECTED,
      }));
    },
    /** Only adding the first records is conditional: it fails if there are any. */
    write({ zone, type, ttl, relative: name, current, data }) {
      const stored = current.flatMap(({ raw }) => raw!);
      const records = data().map(
        (value) => stored.find((record) => record.value === value) ?? { value },
      );
      const path = `/zones/${zone.id}/rrsets`;
      if (current.length === 0) return run(path, { name, type, ttl, records });
      const own = `${path}/${encodeURIComponent(name)}/${type}`;
      return records.length === 0 ? run(own) : run(`${own}/actions/set_records`, { records });
    },
  };
}
