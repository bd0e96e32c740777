/**
 * Any provider for which there is an ExternalDNS webhook, by that protocol.
 * https://kubernetes-sigs.github.io/external-dns/latest/docs/tutorials/webhook-provider/
 */

import * as v from 'valibot';
import { quotedStrings, valueOfZoneFile } from '../presentation.ts';
import { publicRecords } from '../public-records.ts';
import { DEFAULT_TTL, DnsServerError, type ServerContext, type ServerKind } from '../server.ts';
import { urlField } from './fields.ts';
import { httpApi, readJson } from './http-api.ts';
import { splitNames, ZONES_FIELD } from './rfc2136-fields.ts';
import { type Entry, plainName, type Replacement, type Zone, zoneServer } from './zone-server.ts';

const QUOTES = ['automatic', 'quoted', 'plain'];

export const webhook: ServerKind = {
  name: 'ExternalDNS webhook',
  hint: 'Changes records through a webhook provider of ExternalDNS, which exist for tens of DNS services. Kubernetes is not needed.',
  fields: [
    urlField({
      label: 'URL of the webhook',
      hint: 'Where the webhook provider listens.',
      placeholder: 'http://127.0.0.1:8888',
      documentation: 'Where the webhook provider of ExternalDNS listens.',
      example: 'https://webhook.example.com:8888',
    }),
    {
      ...ZONES_FIELD,
      hint: 'The zones that the webhook can change, separated by commas. If empty, those of its domain filter, or what DNS says.',
    },
    {
      name: 'txt_quotes',
      kind: 'choice',
      isSecret: false,
      isRequired: true,
      choices: QUOTES,
      label: 'Quotation marks around texts',
      hint: 'Webhooks differ in this. Automatic does as the webhook itself does in the texts that it lists.',
      documentation:
        'Whether texts are sent in quotation marks. `automatic`: as in the texts that the webhook lists.',
      example: 'automatic',
      schema: v.picklist(QUOTES, `must be one of ${QUOTES.join(', ')}`),
    },
  ],
  open: (settings, context) => zoneServer(webhookApi(settings, context)),
};

const MEDIA_TYPE = 'application/external.dns.webhook+json;version=1';

const DomainFilter = v.object({
  include: v.nullish(v.array(v.string()), []),
  exclude: v.nullish(v.array(v.string()), []),
});
const Endpoint = v.looseObject({
  dnsName: v.string(),
  recordType: v.string(),
  targets: v.nullish(v.array(v.string()), []),
  recordTTL: v.optional(v.number()),
  setIdentifier: v.optional(v.string()),
});
type Endpoint = v.InferOutput<typeof Endpoint>;
const Endpoints = v.nullish(v.array(Endpoint), []);

/** Every provider lists these. What one does not list may exist nevertheless. */
const COMMON_TYPES = ['A', 'AAAA', 'CNAME', 'TXT'];

function webhookApi(settings: Record<string, string>, context: ServerContext) {
  const { url = '', zones: own = '', txt_quotes: quotes } = settings;
  const name = new URL(url).host;
  const failed = `The webhook at ${name} failed to do this. The reason is in its log.`;
  const send = httpApi(
    {
      name,
      url,
      secrets: [],
      headers: { accept: MEDIA_TYPE },
      advice: {
        credentials: `${name} wants a password, which the protocol of ExternalDNS does not have. Connect to the webhook itself.`,
        permission: `${name} does not allow requests from this service. Allow them there.`,
      },
      refusal(code) {
        // A provider answers so whatever went wrong.
        if (code === 500) return ['server_failed', failed];
        return [404, 405, 406, 415].includes(code)
          ? ['bad_response', `There is no ExternalDNS webhook of version 1 at ${url}.`]
          : undefined;
      },
    },
    context,
  );

  async function ask<T>(path: string, schema: v.GenericSchema<unknown, T>, body?: unknown) {
    const response = await send({
      url: url + path,
      ...(body !== undefined && {
        method: 'POST',
        headers: { 'content-type': MEDIA_TYPE },
        body: JSON.stringify(body),
      }),
    });
    if (response.headers['content-type']?.replaceAll(' ', '') === MEDIA_TYPE)
      return readJson(name, schema, response);
    throw new DnsServerError(
      'bad_response',
      `There is no ExternalDNS webhook of version 1 at ${url}.`,
    );
  }

  const endpoints = () => ask('/records', Endpoints);
  const isQuoted = (texts: string[]) => texts.some((text) => text.startsWith('"'));

  return {
    name,
    isWhole: true,
    noZones: null,
    async zones(zone?: string): Promise<Zone[]> {
      const filter = await ask('/', DomainFilter);
      const declared =
        own === '' ? filter.include.map((one) => one.replace(/^\./, '')) : splitNames(own);
      const isExcluded = (one: string) =>
        filter.exclude.some(
          (each) => each !== '' && `.${one}`.endsWith(`.${plainName(each).replace(/^\./, '')}`),
        );
      const named = declared.map(plainName).filter((one) => one !== '' && !isExcluded(one));
      const isOpen = declared.length === 0 && zone !== undefined && !isExcluded(zone);
      const found = isOpen && (await publicRecords(context.resolver).zoneOf(zone)) === zone;
      return [...named, ...(found ? [zone] : [])].map((one) => ({ id: one, name: one }));
    },
    entries: async (): Promise<Entry<Endpoint>[]> =>
      (await endpoints()).map((raw) => ({
        name: plainName(raw.dnsName),
        type: raw.recordType,
        ttl: raw.recordTTL || DEFAULT_TTL,
        values: raw.targets.map((target) => valueOfZoneFile(raw.recordType, target)),
        raw,
        ...(raw.setIdentifier && {
          locked: `${raw.recordType} at ${raw.dnsName} has a routing policy. Change it at the provider.`,
        }),
      })),
    /** Providers have no conditions and no transactions, so each request changes one set. */
    async write({ before, after, current }: Replacement<Zone, Endpoint>) {
      const { name: dnsName, type: recordType } = before;
      const listed = await endpoints();
      if (
        !COMMON_TYPES.includes(recordType) &&
        !listed.some((one) => one.recordType === recordType)
      )
        throw new DnsServerError(
          'refused',
          `The webhook at ${name} lists no ${recordType} records, so it may not manage them. Publish this record at the provider.`,
        );
      const texts = listed
        .filter((one) => one.recordType === 'TXT')
        .flatMap(({ targets }) => targets);
      // The registry of ExternalDNS sends its own texts in quotation marks.
      const inQuotes =
        quotes === 'quoted' || (quotes !== 'plain' && (texts.length === 0 || isQuoted(texts)));
      const stored = new Map(
        current.flatMap(({ values, raw }) => values.map((value, i) => [value, raw.targets[i]!])),
      );
      const encode = (value: string) =>
        recordType === 'TXT' && inQuotes ? quotedStrings(value) : value;
      const targets = after.values.map((value) => stored.get(value) ?? encode(value));
      const [old] = current.map(({ raw }) => raw);
      const wanted = {
        ...old,
        dnsName,
        recordType,
        targets,
        recordTTL: old?.recordTTL ?? after.ttl,
      };
      const adjusted = targets.length > 0 ? await ask('/adjustendpoints', Endpoints, [wanted]) : [];
      if (targets.length > 0 && adjusted.length === 0)
        throw new DnsServerError(
          'refused',
          `The provider behind ${name} does not support this ${recordType} record. Publish it at the provider.`,
        );
      const changes = !old
        ? { create: adjusted }
        : targets.length === 0
          ? { delete: [old] }
          : { updateOld: [old], updateNew: adjusted };
      await send({
        method: 'POST',
        changes: true,
        url: `${url}/records`,
        headers: { 'content-type': MEDIA_TYPE },
        body: JSON.stringify(changes),
      });
    },
  };
}
