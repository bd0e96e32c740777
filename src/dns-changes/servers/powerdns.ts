/** PowerDNS Authoritative Server, by its HTTP API. https://doc.powerdns.com/authoritative/http-api/ */

import * as v from 'valibot';
import { absoluteName } from '../presentation.ts';
import type { ServerContext, ServerKind } from '../server.ts';
import { tokenField, urlField } from './fields.ts';
import { httpApi, parsedJson } from './http-api.ts';
import { plainName, type Zone, type ZoneApi, zoneServer } from './zone-server.ts';

export const powerdns: ServerKind = {
  name: 'PowerDNS API',
  hint: 'Changes records through the HTTP API of your PowerDNS server. Dynamic updates work with PowerDNS, too.',
  fields: [
    urlField('The URL of the PowerDNS web server, without /api.', 'https://ns1.example.com:8081'),
    tokenField('The value of api-key in pdns.conf.', 'api_key', 'API key'),
  ],
  open: (settings, context) => zoneServer(powerdnsApi(settings, context)),
};

const ZoneItem = v.object({ id: v.string(), name: v.string(), kind: v.string() });
const Content = v.object({ content: v.string(), disabled: v.optional(v.boolean(), false) });
const Sets = v.object({
  rrsets: v.array(
    v.object({ name: v.string(), type: v.string(), ttl: v.number(), records: v.array(Content) }),
  ),
});
/** Kinds of zones that are copies of those of another server. */
const COPIES = ['Slave', 'Secondary', 'Consumer'];

function powerdnsApi(
  { url = '', api_key = '' }: Record<string, string>,
  context: ServerContext,
): ZoneApi<Zone, v.InferOutput<typeof Content>[]> {
  const name = new URL(url).host;
  const send = httpApi(
    {
      name,
      url,
      secret: api_key,
      headers: { 'x-api-key': api_key },
      advice: {
        401: `${name} rejects the API key. Enter the value of api-key in pdns.conf.`,
        403: `${name} does not allow this. Check webserver-allow-from in pdns.conf.`,
        404: `${name} has no API or no such zone. Set api=yes in pdns.conf, and enter the URL without /api.`,
      },
      said: (body) => parsedJson(v.object({ error: v.string() }), body)?.error,
    },
    context,
  );
  const zonesUrl = `${url}/api/v1/servers/localhost/zones`;
  /** With a condition on a name, if there is one. */
  const urlOf = (base: string, key: string, at?: string) =>
    at === undefined ? base : `${base}?${key}=${encodeURIComponent(absoluteName(at))}`;
  const zoneUrl = ({ id }: Zone) => `${zonesUrl}/${encodeURIComponent(id)}`;

  return {
    name,
    noZones: `${name} has no primary zone. Create the zone there first.`,
    async zones(zone) {
      const { json } = await send(urlOf(zonesUrl, 'zone', zone));
      return json(v.array(ZoneItem))
        .filter(({ kind }) => !COPIES.includes(kind))
        .map((one) => ({ id: one.id, name: plainName(one.name) }));
    },
    async entries(zone, { name: at }) {
      // Versions before 4.7 ignore the name.
      const { json } = await send(urlOf(zoneUrl(zone), 'rrset_name', at));
      return json(Sets).rrsets.map(({ records, ...set }) => ({
        ...set,
        data: records.filter(({ disabled }) => !disabled).map(({ content }) => content),
        raw: records,
      }));
    },
    write({ zone, name: at, type, ttl, current, data }) {
      const records = [
        ...data().map((content) => ({ content, disabled: false })),
        // They are not in DNS, and stay.
        ...current.flatMap(({ raw }) => raw!.filter(({ disabled }) => disabled)),
      ];
      const rest =
        records.length === 0 ? { changetype: 'DELETE' } : { changetype: 'REPLACE', ttl, records };
      const body = { rrsets: [{ name: absoluteName(at), type, ...rest }] };
      return send(zoneUrl(zone), { method: 'PATCH', body });
    },
  };
}
