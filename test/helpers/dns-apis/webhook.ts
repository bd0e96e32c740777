/** A webhook provider of ExternalDNS with a provider in memory, of the shape of its `provider/webhook/api`. */

import type { TestContext } from 'node:test';
import * as v from 'valibot';
import { webhook } from '../../../src/dns-changes/servers/webhook.ts';
import { type Answer, startHarness } from './harness.ts';
import {
  plainValue,
  type Records,
  requireZoneFileData,
  type StoredSet,
  zoneData,
} from './records.ts';

const MEDIA_TYPE = 'application/external.dns.webhook+json;version=1';

const Endpoint = v.strictObject({
  dnsName: v.pipe(v.string(), v.regex(/[^.]$/)),
  targets: v.array(v.string()),
  recordType: v.string(),
  setIdentifier: v.optional(v.string()),
  recordTTL: v.optional(v.pipe(v.number(), v.integer())),
  labels: v.optional(v.record(v.string(), v.string())),
  providerSpecific: v.optional(
    v.array(v.strictObject({ name: v.string(), value: v.optional(v.string()) })),
  ),
});
type Endpoint = v.InferOutput<typeof Endpoint>;
const Changes = v.strictObject({
  create: v.optional(v.array(Endpoint), []),
  updateOld: v.optional(v.array(Endpoint), []),
  updateNew: v.optional(v.array(Endpoint), []),
  delete: v.optional(v.array(Endpoint), []),
});

export interface WebhookOptions {
  /** Its texts are without quotation marks. */
  isPlain?: boolean;
  filter?: object;
  settings?: Record<string, string>;
  /** What the provider supports. */
  types?: string[];
}

export function startWebhook(t: TestContext, records: Records, options: WebhookOptions = {}) {
  const { isPlain = false, types = ['A', 'AAAA', 'CNAME', 'TXT', 'MX', 'NS', 'CAA', 'TLSA'] } =
    options;
  const { filter = { include: records.zones }, settings } = options;
  const targetOf = (type: string, data: string) =>
    type === 'TXT' && !isPlain ? data : plainValue(type, data);
  const present = ({ name, type, ttl, data }: StoredSet): Endpoint => ({
    dnsName: name,
    targets: data.map((one) => targetOf(type, one)),
    recordType: type,
    recordTTL: ttl,
    labels: {},
    providerSpecific: [{ name: 'webhook/comment', value: 'kept' }],
  });
  const store = ({ dnsName, recordType, targets, recordTTL = 300 }: Endpoint) => {
    const data = targets.map((target) => {
      if (recordType !== 'TXT') return `${target.replace(/\.$/, '')}`;
      return isPlain ? zoneData('TXT', target) : target;
    });
    const texts = data.map((one) => (recordType === 'TXT' ? one : zoneData(recordType, one)));
    for (const text of texts) requireZoneFileData(recordType, text);
    records.put({ name: dnsName, type: recordType, ttl: recordTTL, data: texts });
  };
  return startHarness(t, {
    records,
    hasCredentials: false,
    isWrite: ({ method, path }) => method === 'POST' && path === '/records',
    open: (context, url) => webhook.open({ url, ...settings }, context),
    answer({ method, path, headers, body }): Answer {
      const json = (value: unknown): Answer => ({
        status: 200,
        body: JSON.stringify(value),
        headers: { 'content-type': MEDIA_TYPE },
      });
      if (method === 'GET' && headers.accept !== MEDIA_TYPE)
        return {
          status: 406,
          body: 'client must provide a valid versioned media type in the accept header',
        };
      if (method === 'POST' && headers['content-type'] !== MEDIA_TYPE)
        return { status: 415, body: 'client must provide a content type' };
      if (method === 'GET' && path === '/') return json(filter);
      if (method === 'GET' && path === '/records')
        return json(records.sets.filter(({ type }) => types.includes(type)).map(present));
      if (method !== 'POST') return { status: 400, body: '' };
      if (path === '/adjustendpoints') {
        const list = v.safeParse(v.array(Endpoint), JSON.parse(body));
        if (!list.success) return { status: 400, body: '' };
        return json(list.output.filter(({ recordType }) => types.includes(recordType)));
      }
      if (path !== '/records') return { status: 404, body: '404 page not found' };
      const parsed = v.safeParse(Changes, JSON.parse(body));
      if (!parsed.success) return { status: 400, body: '' };
      const { create, updateOld, updateNew, delete: gone } = parsed.output;
      try {
        for (const one of create)
          if (records.find(one.dnsName, one.recordType)) throw new Error('it exists');
        for (const one of [...updateOld, ...gone])
          if (!records.find(one.dnsName, one.recordType)) throw new Error('there is none');
        if (updateOld.length !== updateNew.length) throw new Error('not in pairs');
        for (const one of gone) store({ ...one, targets: [] });
        for (const one of [...create, ...updateNew]) {
          if (
            one.recordType === 'TXT' &&
            !isPlain &&
            !one.targets.every((text) => text.startsWith('"'))
          )
            throw new Error('not quoted');
          store(one);
        }
      } catch {
        return { status: 500, body: '' };
      }
      return { status: 204, body: '' };
    },
  });
}
