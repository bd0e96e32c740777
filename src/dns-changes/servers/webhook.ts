/**
 * Any provider for which there is an ExternalDNS webhook.
 * https://kubernetes-sigs.github.io/external-dns/latest/docs/tutorials/webhook-provider/
 */

import * as v from 'valibot';
import { quotedStrings } from '../presentation.ts';
import { publicRecords } from '../public-records.ts';
import { DEFAULT_TTL, DnsServerError, type ServerContext, type ServerKind } from '../server.ts';
import { splitNames, urlField, ZONES_FIELD } from './fields.ts';
import { httpApi } from './http-api.ts';
import { type Zone, type ZoneApi, zoneServer } from './zone-server.ts';

export const webhook: ServerKind = {
  name: 'ExternalDNS webhook',
  hint: 'Changes records through an ExternalDNS webhook provider, of which there are dozens. Works without Kubernetes.',
  fields: [
    urlField('Where the ExternalDNS webhook provider listens.', 'http://127.0.0.1:8888'),
    {
      ...ZONES_FIELD,
      hint: 'The zones that the webhook can change, separated by commas. If empty, the zones in its domain filter, or as DNS says.',
    },
  ],
  open: (settings, context) => zoneServer(webhookApi(settings, context)),
};

const MEDIA_TYPE = 'application/external.dns.webhook+json;version=1';

const Names = v.nullish(v.array(v.string()), []);
const DomainFilter = v.object({ include: Names, exclude: Names });
const Endpoint = v.looseObject({
  dnsName: v.string(),
  recordType: v.string(),
  targets: Names,
  recordTTL: v.optional(v.number()),
  setIdentifier: v.optional(v.string()),
});
type Endpoint = v.InferOutput<typeof Endpoint>;
const Endpoints = v.nullish(v.array(Endpoint), []);

/** Every provider lists these. What one does not list may exist nevertheless. */
const COMMON_TYPES = ['A', 'AAAA', 'CNAME', 'TXT'];

function webhookApi(
  { url = '', zones: own = '' }: Record<string, string>,
  context: ServerContext,
): ZoneApi<Zone, Endpoint> {
  const name = new URL(url).host;
  const noWebhook = `There is no ExternalDNS webhook of version 1 at ${url}.`;
  const send = httpApi(
    {
      name,
      url,
      headers: { accept: MEDIA_TYPE, 'content-type': MEDIA_TYPE },
      advice: {
        401: `${name} requires a password, which the protocol does not support.`,
        403: `${name} does not allow requests from this service.`,
      },
      refusal(code) {
        // A provider answers so whatever went wrong.
        if (code === 500)
          return ['server_failed', `The webhook at ${name} failed. The reason is in its log.`];
        return [404, 405, 406, 415].includes(code) ? ['bad_response', noWebhook] : undefined;
      },
    },
    context,
  );

  const post = (path: string, body: object) => send(url + path, { method: 'POST', body });

  async function read<T>(schema: v.GenericSchema<unknown, T>, work: ReturnType<typeof send>) {
    const { headers, json } = await work;
    if (headers['content-type']?.replaceAll(' ', '') === MEDIA_TYPE) return json(schema);
    throw new DnsServerError('bad_response', noWebhook);
  }

  const refused = (why: string) =>
    new DnsServerError('refused', `The webhook at ${name} ${why} Publish it at the provider.`);

  const endpoints = () => read(Endpoints, send(`${url}/records`));

  return {
    name,
    isWhole: true,
    noZones: null,
    async zones(zone) {
      const { include, exclude } = await read(DomainFilter, send(`${url}/`));
      const plain = (names: string[]) =>
        names.map((one) => one.toLowerCase().replace(/^\.|\.$/g, '')).filter(Boolean);
      const isAllowed = (one: string) =>
        !plain(exclude).some((above) => `.${one}`.endsWith(`.${above}`));
      const named = plain(own === '' ? include : splitNames(own)).filter(isAllowed);
      const isOpen = include.length === 0 && own === '' && zone !== undefined && isAllowed(zone);
      const isFound = isOpen && (await publicRecords(context.resolver).zoneOf(zone)) === zone;
      return [...named, ...(isFound ? [zone] : [])].map((one) => ({ id: one, name: one }));
    },
    entries: async () =>
      (await endpoints()).map((raw) => ({
        name: raw.dnsName,
        type: raw.recordType,
        ttl: raw.recordTTL || DEFAULT_TTL,
        data: raw.targets,
        raw,
        locked:
          raw.setIdentifier &&
          `${raw.recordType} at ${raw.dnsName} has a routing policy. Change it at the provider.`,
      })),
    /** Providers have no conditions and no transactions, so each request changes one set. */
    async write({ name: dnsName, type: recordType, ttl, current, data }) {
      const listed = await endpoints();
      const isListed = listed.some((one) => one.recordType === recordType);
      if (!isListed && !COMMON_TYPES.includes(recordType))
        throw refused(`lists no ${recordType} records, so it may not manage them.`);
      const [old, another] = current.map(({ raw }) => raw!);
      if (another) throw refused(`lists the ${recordType} records at ${dnsName} in several parts.`);
      // A provider that wants quotation marks lists no text without them. The registry of ExternalDNS sends them to all.
      const isQuoted = listed
        .flatMap((one) => (one.recordType === 'TXT' ? one.targets : []))
        .every((text) => text.startsWith('"'));
      const targets = data((type, value) =>
        type === 'TXT' && isQuoted ? quotedStrings(value) : value,
      );
      if (targets.length === 0) return post('/records', { delete: [old] });
      const wanted = { ...(old ?? { recordTTL: ttl }), dnsName, recordType, targets };
      const adjusted = await read(Endpoints, post('/adjustendpoints', [wanted]));
      if (adjusted.length === 0) throw refused(`does not support this ${recordType} record.`);
      const changes = old ? { updateOld: [old], updateNew: adjusted } : { create: adjusted };
      return post('/records', changes);
    },
  };
}
