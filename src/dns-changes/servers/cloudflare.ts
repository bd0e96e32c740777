/** Cloudflare: API v4 with a scoped API token. */

import * as v from 'valibot';
import { parseMx } from '../../net/dns/resolver.ts';
import {
  caaData,
  normalizedValue,
  quotedStrings,
  tlsaData,
  unquotedText,
} from '../presentation.ts';
import {
  DEFAULT_TTL,
  DnsServerError,
  hasSameValues,
  type NameServer,
  type RecordSet,
  type ServerContext,
  type ServerKind,
  WILDCARD_TYPES,
} from '../server.ts';
import { cloudflareApi } from './cloudflare-api.ts';

export const cloudflare: ServerKind = {
  name: 'Cloudflare',
  hint: 'Changes records through the Cloudflare API, with a token that is limited to your zones.',
  fields: [
    {
      name: 'api_token',
      kind: 'text',
      isSecret: true,
      isRequired: true,
      label: 'API token',
      hint: 'An API token with the permissions Zone.Zone:Read and Zone.DNS:Edit, for these zones only. It is not shown again.',
      documentation:
        'A Cloudflare API token with the permissions Zone.Zone:Read and Zone.DNS:Edit. Responses never include it.',
      example: 'cf-token-0123456789abcdefghijklmnopqrstuvwxyz',
      schema: v.pipe(
        v.string('must be a string'),
        v.trim(),
        v.regex(
          /^[\x21-\x7e]{20,400}$/,
          'must be an API token, 20 to 400 characters without spaces',
        ),
      ),
    },
  ],
  open: (settings, context) => new CloudflareServer(settings, context),
};

const Zone = v.object({ id: v.pipe(v.string(), v.regex(/^\w{1,64}$/)), name: v.string() });
const StoredRecord = v.object({
  id: v.pipe(v.string(), v.regex(/^\w{1,64}$/)),
  type: v.string(),
  name: v.string(),
  content: v.nullish(v.string(), ''),
  priority: v.nullish(v.number()),
  ttl: v.number(),
  proxied: v.nullish(v.boolean(), false),
});
type StoredRecord = v.InferOutput<typeof StoredRecord>;

class CloudflareServer implements NameServer {
  readonly #api: ReturnType<typeof cloudflareApi>;

  constructor(settings: Record<string, string>, context: ServerContext) {
    this.#api = cloudflareApi(settings.api_token!, context);
  }

  /** Zones that are not active yet have no effect. */
  #activeZones(query: Record<string, string>) {
    return this.#api.list('/zones', { ...query, status: 'active' }, Zone);
  }

  async #zoneId(name: string): Promise<string> {
    const zone = (await this.#activeZones({ name })).find((one) => one.name === name);
    if (zone) return zone.id;
    throw new DnsServerError(
      'no_such_zone',
      `The API token has no access to the zone ${name}, or the zone is not active at Cloudflare.`,
    );
  }

  #recordsOf(id: string, query: Record<string, string>) {
    return this.#api.list(`/zones/${id}/dns_records`, query, StoredRecord);
  }

  /** Of all types if none is given. */
  async #recordsAt(id: string, name: string, type?: string): Promise<StoredRecord[]> {
    const records = await this.#recordsOf(id, { ...(type && { type }), 'name.exact': name });
    return records.filter(
      (record) => record.name.toLowerCase() === name && (type ?? record.type) === record.type,
    );
  }

  async zoneOf(name: string): Promise<string | null> {
    for (let at = name; at.includes('.'); at = at.slice(at.indexOf('.') + 1)) {
      const zone = (await this.#activeZones({ name: at })).find((one) => one.name === at);
      if (!zone) continue;
      const delegations = namesBelow(at, name).map((below) =>
        this.#recordsAt(zone.id, below, 'NS'),
      );
      return (await Promise.all(delegations)).flat().length > 0 ? null : at;
    }
    return null;
  }

  async wildcardTypes(zone: string, name: string): Promise<string[]> {
    const id = await this.#zoneId(zone);
    for (const at of [...namesBelow(zone, name), zone]) {
      if (at !== name) {
        const types = (await this.#recordsAt(id, `*.${at}`)).map(({ type }) => type);
        if (types.length > 0) return WILDCARD_TYPES.filter((type) => types.includes(type));
      }
      // A wildcard does not apply to names that exist, nor below them.
      if (at === zone || (await this.#recordsAt(id, at)).length > 0) return [];
      if ((await this.#recordsOf(id, { 'name.endswith': `.${at}` })).length > 0) return [];
    }
    return [];
  }

  async read(zone: string, name: string, type: string): Promise<RecordSet> {
    // Cloudflare resolves an alias of the zone itself, and publishes other records beside it.
    if (type === 'CNAME' && name === zone) return setOf(name, type, []);
    return setOf(name, type, await this.#recordsAt(await this.#zoneId(zone), name, type));
  }

  /** Cloudflare has no conditions, so the records are compared right before: two requests, not one. */
  async replace(zone: string, before: RecordSet, after: RecordSet): Promise<void> {
    const { name, type } = before;
    const id = await this.#zoneId(zone);
    const current = await this.#recordsAt(id, name, type);
    if (!hasSameValues(setOf(name, type, current), before))
      throw new DnsServerError(
        'changed',
        `${type} at ${name} has changed since the plan was made. Nothing was written. Make a new plan.`,
      );
    await this.#requireNoProxy(id, before);
    const removed = current.filter((record) => !after.values.includes(textOf(record)));
    if (removed.some((record) => type === 'TXT' && textOf(record).includes('\ufffd')))
      throw new DnsServerError(
        'invalid_record',
        `A record at ${name} contains bytes that are not text, so this change could not be undone. Change it at Cloudflare.`,
      );
    const values = current.map(textOf);
    const added = after.values.filter((value) => !values.includes(value));
    const record = (value: string, ttl: number) => ({ name, type, ttl, ...contentOf(type, value) });
    // A record that changes its value keeps its TTL, its comment and its tags.
    const changed = Math.min(removed.length, added.length);
    const isAutomatic = current.some(({ ttl }) => ttl === AUTOMATIC_TTL);
    await this.#api.post(`/zones/${id}/dns_records/batch`, {
      deletes: removed.slice(changed).map((one) => ({ id: one.id })),
      patches: removed
        .slice(0, changed)
        .map((one, index) => ({ id: one.id, ...record(added[index]!, one.ttl) })),
      posts: added
        .slice(changed)
        .map((value) => record(value, isAutomatic ? AUTOMATIC_TTL : after.ttl)),
    });
    // Cloudflare has said that the records have changed, even if they cannot be read now.
    const result = await this.#recordsAt(id, name, type).then(
      (records) => setOf(name, type, records),
      () => after,
    );
    if (!hasSameValues(result, after))
      throw new DnsServerError(
        'server_failed',
        `Cloudflare accepted the change, but ${type} at ${name} is not what was sent.`,
        { mayHaveChanged: true },
      );
  }

  /** An address beside a proxied one would be a further web server behind the proxy, not what DNS answers with. */
  async #requireNoProxy(id: string, { name, type }: RecordSet): Promise<void> {
    if (type !== 'A' && type !== 'AAAA') return;
    if ((await this.#recordsAt(id, name)).some(({ proxied }) => proxied))
      throw new DnsServerError(
        'refused',
        `Cloudflare proxies ${name}, so DNS does not show its addresses. Use another name for the mail server, or turn off the proxy of this one at Cloudflare.`,
      );
  }

  async check() {
    const zones = await this.#activeZones({});
    if (zones.length === 0)
      throw new DnsServerError(
        'refused',
        'The API token has access to no active zone. Give it Zone.Zone:Read and Zone.DNS:Edit for your zones.',
      );
    // Reading records needs a permission of its own.
    await this.#recordsAt(zones[0]!.id, zones[0]!.name, 'NS');
    return { zones: zones.map(({ name }) => name) };
  }
}

/** The name and those above it, as far as they are below the zone. */
const namesBelow = (zone: string, name: string): string[] =>
  name === zone ? [] : [name, ...namesBelow(zone, name.slice(name.indexOf('.') + 1))];

/** Cloudflare’s own choice, the default of its records. Resolvers get 300 seconds. */
const AUTOMATIC_TTL = 1;
const secondsOf = ({ ttl }: StoredRecord): number => (ttl === AUTOMATIC_TTL ? 300 : ttl);

const setOf = (name: string, type: string, records: StoredRecord[]): RecordSet => ({
  name,
  type,
  values: records.map(textOf),
  ttl: records.length > 0 ? Math.min(...records.map(secondsOf)) : DEFAULT_TTL,
});

function textOf({ type, content, priority }: StoredRecord): string {
  if (type === 'TXT') return unquotedText(content);
  if (type === 'MX') return `${priority ?? 0} ${content.toLowerCase()}`;
  return type === 'TLSA' || type === 'CNAME'
    ? content.toLowerCase()
    : normalizedValue(type, content);
}

/** What a request says about the value of a record. */
function contentOf(type: string, value: string): object {
  if (type === 'TXT') return { content: quotedStrings(value) };
  if (type === 'MX') {
    const { preference, exchange } = parseMx(value);
    return { content: exchange, priority: preference };
  }
  const data = type === 'CAA' ? caaData(value) : type === 'TLSA' ? tlsaData(value) : null;
  return data === null ? { content: value } : { data };
}
