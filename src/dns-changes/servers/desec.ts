/** deSEC, by its API. https://desec.readthedocs.io/en/latest/dns/rrsets.html */

import * as v from 'valibot';
import type { ServerContext, ServerKind } from '../server.ts';
import { tokenField } from './fields.ts';
import { allPages, httpApi } from './http-api.ts';
import { type Zone, type ZoneApi, zoneServer } from './zone-server.ts';

export const DESEC_URL = 'https://desec.io/api/v1/domains/';

export const desec: ServerKind = {
  name: 'deSEC',
  hint: 'Changes records through the API of deSEC, with a token that is limited to your domains.',
  fields: [tokenField('A deSEC token that may write RRsets of these domains.')],
  open: (settings, context) => zoneServer(desecApi(settings.api_token!, context)),
};

const Domain = v.object({ name: v.string(), minimum_ttl: v.number() });
const RrSet = v.object({
  name: v.string(),
  type: v.string(),
  ttl: v.number(),
  records: v.array(v.string()),
});

function desecApi(token: string, context: ServerContext): ZoneApi<Zone & { minTtl: number }> {
  const name = 'deSEC';
  const send = httpApi(
    {
      name,
      secret: token,
      headers: { authorization: `Token ${token}` },
      advice: {
        401: 'deSEC rejects the token. It may be deleted, expired, or limited to other networks (allowed_subnets).',
        403: 'The token may not write these records. Give it a policy with perm_write for the domain.',
        404: 'The account at deSEC does not have this domain.',
      },
      // `{"detail": "…"}`, or an array with an object of field names for each set.
      said: (body) => /"((?:[^"\\]|\\.){4,})"(?!\s*:)/.exec(body)?.[1],
    },
    context,
  );

  const list = <T>(path: string, item: v.GenericSchema<unknown, T>): Promise<T[]> =>
    allPages<T, string>(name, DESEC_URL + path, async (url) => {
      const { headers, json } = await send(url);
      const next = /<([^>]*)>;\s*rel="next"/.exec(headers.link ?? '')?.[1];
      // The token goes nowhere else.
      return [json(v.array(item)), next?.startsWith(DESEC_URL) ? next : null];
    });

  return {
    name,
    // deSEC counts requests: 50 a minute (rate limit `dns_api_cheap`).
    listsAllZones: true,
    isWhole: true,
    noZones: 'The token has access to no domain at deSEC. Create the domain there first.',
    zones: async () =>
      (await list('?cursor=', Domain)).map(({ name: id, minimum_ttl }) => ({
        id,
        name: id,
        minTtl: minimum_ttl,
      })),
    entries: async ({ id }) =>
      (await list(`${encodeURIComponent(id)}/rrsets/?cursor=`, RrSet)).map(
        ({ records, ...set }) => ({ ...set, data: records }),
      ),
    /** One set, in the bulk form, which creates, replaces and deletes alike. */
    write({ zone, type, relative, current, data, ...after }) {
      const ttl = current.length > 0 ? after.ttl : Math.max(after.ttl, zone.minTtl);
      const subname = relative === '@' ? '' : relative;
      return send(`${DESEC_URL}${encodeURIComponent(zone.id)}/rrsets/`, {
        method: 'PATCH',
        body: [{ subname, type, ttl, records: data() }],
      });
    },
  };
}
