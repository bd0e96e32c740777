/** PowerDNS Authoritative Server, by its HTTP API. https://doc.powerdns.com/authoritative/http-api/ */

import * as v from 'valibot';
import { absoluteName } from '../presentation.ts';
import type { ServerContext, ServerKind } from '../server.ts';
import { tokenField, urlField } from './fields.ts';
import { httpApi, parsedJson, readJson } from './http-api.ts';
import {
  dataAfter,
  type Entry,
  encodedData,
  plainName,
  type Replacement,
  valuesOf,
  type Zone,
  zoneServer,
} from './zone-server.ts';

export const powerdns: ServerKind = {
  name: 'PowerDNS API',
  hint: 'Changes records through the HTTP API of your PowerDNS server. Dynamic updates work with PowerDNS too.',
  fields: [
    urlField({
      label: 'URL of the API',
      hint: 'The web server of PowerDNS, without /api.',
      placeholder: 'https://ns1.example.com:8081',
      documentation: 'The web server of PowerDNS, without `/api`.',
      example: 'https://ns1.example.com:8081',
    }),
    tokenField(
      {
        label: 'API key',
        hint: 'The value of api-key in pdns.conf.',
        documentation: 'The value of `api-key` in `pdns.conf`.',
        example: 'pdns-key-0123456789abcdef',
      },
      'api_key',
    ),
  ],
  open: (settings, context) => zoneServer(powerdnsApi(settings, context)),
};

const ZoneItem = v.object({ id: v.string(), name: v.string(), kind: v.string() });
const Content = v.object({ content: v.string(), disabled: v.optional(v.boolean(), false) });
type Content = v.InferOutput<typeof Content>;
const Sets = v.object({
  rrsets: v.array(
    v.object({ name: v.string(), type: v.string(), ttl: v.number(), records: v.array(Content) }),
  ),
});
/** Zones that are copies of those of another server. */
const COPIES = ['Slave', 'Secondary', 'Consumer'];

function powerdnsApi({ url = '', api_key = '' }: Record<string, string>, context: ServerContext) {
  const name = new URL(url).host;
  const send = httpApi(
    {
      name,
      url,
      secrets: [api_key],
      headers: { 'x-api-key': api_key },
      advice: {
        credentials: `${name} rejects the API key. Enter the value of api-key in pdns.conf.`,
        permission: `${name} does not allow this. Check webserver-allow-from in pdns.conf.`,
      },
      said(body) {
        const parsed = v.safeParse(v.object({ error: v.string() }), parsedJson(body));
        return parsed.success ? parsed.output.error : undefined;
      },
      refusal(code, said) {
        if (code === 404)
          return [
            'no_such_zone',
            `${name} has no API or no such zone. Set api=yes in pdns.conf, and enter the URL without /api.${said}`,
          ];
        if (code !== 422) return undefined;
        return [
          'invalid_record',
          `PowerDNS rejects the records, and has changed nothing. Fix what it names.${said}`,
        ];
      },
    },
    context,
  );
  const zonesUrl = `${url}/api/v1/servers/localhost/zones`;
  const urlOf = ({ id }: Zone) => `${zonesUrl}/${encodeURIComponent(id)}`;

  return {
    name,
    noZones: `${name} has no primary zone. Create the zone there first.`,
    async zones(zone?: string): Promise<Zone[]> {
      const query = zone === undefined ? '' : `?zone=${encodeURIComponent(absoluteName(zone))}`;
      const found = readJson(name, v.array(ZoneItem), await send({ url: zonesUrl + query }));
      return found
        .filter(({ kind }) => !COPIES.includes(kind))
        .map(({ id, name: one }) => ({ id, name: plainName(one) }));
    },
    async entries(zone: Zone, { name: at }: { name?: string }): Promise<Entry<Content[]>[]> {
      // Versions before 4.7 ignore the name.
      const query = at === undefined ? '' : `?rrset_name=${encodeURIComponent(absoluteName(at))}`;
      const { rrsets } = readJson(name, Sets, await send({ url: urlOf(zone) + query }));
      return rrsets.map(({ name: owner, type, ttl, records }) => {
        // Disabled records are not in DNS, and stay with the others.
        const raw = [...records].sort((a, b) => Number(a.disabled) - Number(b.disabled));
        const served = raw.filter(({ disabled }) => !disabled);
        const data = served.map(({ content }) => content);
        return { name: plainName(owner), type, ttl, values: valuesOf(type, data), raw };
      });
    },
    async write({ zone, before, after, current }: Replacement<Zone, Content[]>) {
      const encode = encodedData(after);
      const records = [
        ...dataAfter({ current, after }, (value) => ({ content: encode(value), disabled: false })),
        ...current.flatMap(({ raw }) => raw.filter(({ disabled }) => disabled)),
      ];
      const set = { name: absoluteName(before.name), type: before.type };
      const change =
        records.length === 0
          ? { ...set, changetype: 'DELETE' }
          : { ...set, changetype: 'REPLACE', ttl: after.ttl, records };
      const body = JSON.stringify({ rrsets: [change] });
      await send({ method: 'PATCH', changes: true, url: urlOf(zone), body });
    },
  };
}
