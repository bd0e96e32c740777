/** deSEC, by its API. https://desec.readthedocs.io/en/latest/dns/rrsets.html */

import * as v from 'valibot';
import type { ServerContext, ServerKind } from '../server.ts';
import { tokenField } from './fields.ts';
import { allPages, httpApi, readJson } from './http-api.ts';
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

export const DESEC_URL = 'https://desec.io/api/v1/domains/';

export const desec: ServerKind = {
  name: 'deSEC',
  hint: 'Changes records through the API of deSEC, with a token that is limited to your domains.',
  fields: [
    tokenField({
      label: 'API token',
      hint: 'A token that may write RRsets of these domains.',
      documentation: 'A deSEC token that may write RRsets of the domains.',
      example: 'desec-token-0123456789abcdef',
    }),
  ],
  open: (settings, context) => zoneServer(desecApi(settings.api_token!, context)),
};

const Domain = v.object({ name: v.string(), minimum_ttl: v.number() });
const RrSet = v.object({
  name: v.string(),
  type: v.string(),
  ttl: v.number(),
  records: v.array(v.string()),
});

interface Domain extends Zone {
  minTtl: number;
}

function desecApi(token: string, context: ServerContext) {
  const name = 'deSEC';
  const send = httpApi(
    {
      name,
      secrets: [token],
      headers: { authorization: `Token ${token}` },
      advice: {
        credentials:
          'deSEC rejects the token. It may be deleted, expired, or limited to other networks (allowed_subnets).',
        permission:
          'The token may not write these records. Give it a policy with perm_write for the domain.',
      },
      // `{"detail": "…"}`, or an array with an object of field names for each set.
      said: (body) => /"((?:[^"\\]|\\.){4,})"(?!\s*:)/.exec(body)?.[1],
      refusal(code, said) {
        if (code === 404)
          return ['no_such_zone', `The account at deSEC does not have this domain.${said}`];
        if (code !== 400) return undefined;
        return [
          'invalid_record',
          `deSEC rejects the records, and has changed nothing. Fix what it names.${said}`,
        ];
      },
    },
    context,
  );

  const list = <T>(url: string, item: v.GenericSchema<unknown, T>): Promise<T[]> =>
    allPages<T, string>(name, url, async (page) => {
      const response = await send({ url: page });
      const next = /<([^>]*)>;\s*rel="next"/.exec(response.headers.link ?? '')?.[1] ?? null;
      // The token goes nowhere else.
      const isOwn = next?.startsWith(DESEC_URL) === true;
      return [readJson(name, v.array(item), response), isOwn ? next : null];
    });

  return {
    name,
    // deSEC counts requests: 50 a minute (rate limit `dns_api_cheap`).
    isWhole: true,
    noZones: 'The token has access to no domain at deSEC. Create the domain there first.',
    async zones(zone?: string): Promise<Domain[]> {
      const query = zone === undefined ? '' : `&owns_qname=${encodeURIComponent(zone)}`;
      return (await list(`${DESEC_URL}?cursor=${query}`, Domain)).map((domain) => ({
        id: domain.name,
        name: plainName(domain.name),
        minTtl: domain.minimum_ttl,
      }));
    },
    async entries({ id }: Domain): Promise<Entry<string[]>[]> {
      const sets = await list(`${DESEC_URL}${encodeURIComponent(id)}/rrsets/?cursor=`, RrSet);
      return sets.map(({ name: owner, type, ttl, records }) => ({
        name: plainName(owner),
        type,
        ttl,
        values: valuesOf(type, records),
        raw: records,
      }));
    },
    /** One set, in the bulk form, which creates, replaces and deletes alike. */
    async write({ zone, before, after, current }: Replacement<Domain, string[]>) {
      const { id, minTtl } = zone;
      const subname = relativeName(before.name, zone.name).replace('@', '');
      const records = dataAfter({ current, after }, encodedData(after));
      const ttl = current.length > 0 ? after.ttl : Math.max(after.ttl, minTtl);
      await send({
        method: 'PATCH',
        changes: true,
        url: `${DESEC_URL}${encodeURIComponent(id)}/rrsets/`,
        body: JSON.stringify([{ subname, type: before.type, ttl, records }]),
      });
    },
  };
}
