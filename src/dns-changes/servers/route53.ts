/** Amazon Route 53. https://docs.aws.amazon.com/Route53/latest/APIReference/Welcome.html */

import { parseDocument } from 'htmlparser2';
import * as v from 'valibot';
import { type AwsCredentials, signedHeaders } from '../../net/aws-signature.ts';
import { absoluteName, quotedStrings, valueOfZoneFile, zoneFileData } from '../presentation.ts';
import { DEFAULT_TTL, type ServerContext, type ServerKind } from '../server.ts';
import { tokenField } from './fields.ts';
import { allPages, httpApi } from './http-api.ts';
import {
  dataAfter,
  type Entry,
  plainName,
  type Replacement,
  type Zone,
  zoneServer,
} from './zone-server.ts';

export const ROUTE53_URL = 'https://route53.amazonaws.com/2013-04-01';
const PAGE_SIZE = '300';
const ZONES_PER_PAGE = '100';

export const route53: ServerKind = {
  name: 'Amazon Route 53',
  hint: 'Changes records of public hosted zones, with the access key of an IAM user that may do nothing else.',
  fields: [
    {
      name: 'access_key_id',
      kind: 'text',
      isSecret: false,
      isRequired: true,
      label: 'Access key ID',
      hint: 'Of an IAM user. The documentation has its policy.',
      placeholder: 'AKIAIOSFODNN7EXAMPLE',
      documentation: 'The access key ID of an IAM user.',
      example: 'AKIAIOSFODNN7EXAMPLE',
      schema: v.pipe(
        v.string('must be a string'),
        v.trim(),
        v.regex(
          /^AKIA[A-Z0-9]{12,124}$/,
          'must be the access key ID of an IAM user, which begins with AKIA',
        ),
      ),
    },
    tokenField(
      {
        label: 'Secret access key',
        hint: 'The secret of the access key.',
        documentation: 'The secret of the access key.',
        example: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      },
      'secret_access_key',
    ),
  ],
  open: (settings, context) => zoneServer(route53Api(settings, context)),
};

/** An element of XML, by the names of its children. */
class Xml {
  constructor(private readonly nodes: { name?: string; data?: string; children?: unknown[] }[]) {}
  all(name: string): Xml[] {
    return this.nodes
      .filter((node) => node.name === name)
      .map((node) => new Xml(node.children as never));
  }
  /** Empty if there is none. */
  child = (name: string): Xml => this.all(name)[0] ?? new Xml([]);
  text = (name: string): string =>
    this.child(name)
      .nodes.map(({ data }) => data ?? '')
      .join('');
  has = (name: string): boolean => this.all(name).length > 0;
}

const parseXml = (body: string): Xml =>
  new Xml(parseDocument(body, { xmlMode: true }).children as never);

const escapeXml = (text: string): string =>
  text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Other characters than letters, digits, hyphens and underscores come in octal, such as `\052` for `*`. */
const nameOf = (text: string): string =>
  plainName(
    text.replace(/\\(\d{3})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 8))),
  );

const dataOf = (type: string, value: string): string =>
  type === 'TXT' ? quotedStrings(value, 8) : zoneFileData(type, value);

const WRONG_SECRET =
  'Amazon does not accept the access key. It may be deleted or inactive, or its secret is another one. Create a new key.';

/** The codes of errors, as the references of the three operations and of Signature Version 4 list them. */
const CREDENTIALS =
  /^(InvalidClientTokenId|SignatureDoesNotMatch|InvalidSignature|IncompleteSignature|MissingAuthenticationToken|UnrecognizedClient)/;
const EXPIRED = /expired|not yet current/i;
/** https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/troubleshooting.html: a set that is to be deleted is another one, or that is to be created exists. */
const NOT_AS_PLANNED = /not found|do not match|already exists/i;

function route53Api(settings: Record<string, string>, context: ServerContext) {
  const name = 'Route 53';
  const credentials: AwsCredentials = {
    accessKeyId: settings.access_key_id!,
    secretAccessKey: settings.secret_access_key!,
  };
  const errorOf = (body: string) => parseXml(body).child('ErrorResponse').child('Error');
  const messageOf = (body: string) =>
    errorOf(body).text('Message') ||
    parseXml(body).child('InvalidChangeBatch').child('Messages').text('Message');
  const callApi = httpApi(
    {
      name,
      secrets: [credentials.secretAccessKey],
      advice: {
        credentials: WRONG_SECRET,
        permission:
          'The IAM user may not do this. It needs route53:ListHostedZonesByName, route53:ListResourceRecordSets and route53:ChangeResourceRecordSets for the zone.',
      },
      said: messageOf,
      refusal(_, said, body) {
        const code = errorOf(body).text('Code');
        const message = messageOf(body);
        if (EXPIRED.test(message) && /Signature|RequestExpired/.test(code))
          return [
            'wrong_time',
            `The clock of this machine differs from that of Amazon by more than five minutes. Synchronize it with NTP.${said}`,
          ];
        if (CREDENTIALS.test(code)) return ['bad_credentials', `${WRONG_SECRET}${said}`];
        if (code === 'NoSuchHostedZone')
          return ['no_such_zone', `The hosted zone no longer exists at Route 53.${said}`];
        if (code === 'Throttling' || code === 'PriorRequestNotComplete')
          return [
            'rate_limited',
            `Route 53 allows five requests a second for the account. Try again in a minute.${said}`,
          ];
        const isBatch = code === 'InvalidChangeBatch' || parseXml(body).has('InvalidChangeBatch');
        if (!isBatch) return undefined;
        return NOT_AS_PLANNED.test(message)
          ? [
              'changed',
              `The records have changed at Route 53 since the plan was made. Nothing was written. Make a new plan.${said}`,
            ]
          : [
              'invalid_record',
              `Route 53 rejects the records, and has changed nothing. Fix what it names.${said}`,
            ];
      },
    },
    context,
  );

  async function send(path: string, query: Record<string, string> = {}, body?: string) {
    const url = new URL(`${ROUTE53_URL}${path}`);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const method = body === undefined ? 'GET' : 'POST';
    const now = context.clock.now();
    const headers = signedHeaders(
      { method, url, body, service: 'route53', region: 'us-east-1', now },
      credentials,
    );
    const type = { 'content-type': 'application/xml', accept: 'application/xml' };
    const changes = body !== undefined;
    const response = await callApi({
      method,
      changes,
      url: url.href,
      body,
      headers: { ...headers, ...type },
    });
    return parseXml(response.body);
  }

  const page = (list: Xml, keys: Record<string, string>) =>
    list.text('IsTruncated') === 'true'
      ? Object.fromEntries(
          Object.entries(keys)
            .map(([key, element]) => [key, list.text(element)])
            .filter(([, value]) => value !== ''),
        )
      : null;

  return {
    name,
    noZones: 'The access key has no public hosted zone. Create the zone at Route 53 first.',
    /** In the order of their reversed labels, from the given one. */
    zones: (zone?: string): Promise<Zone[]> =>
      allPages<Zone, Record<string, string>>(
        name,
        zone === undefined ? {} : { dnsname: absoluteName(zone) },
        async (query) => {
          const answer = await send('/hostedzonesbyname', { ...query, maxitems: ZONES_PER_PAGE });
          const list = answer.child('ListHostedZonesByNameResponse');
          const zones = list
            .child('HostedZones')
            .all('HostedZone')
            .filter((one) => one.child('Config').text('PrivateZone') !== 'true')
            .map((one) => ({
              id: one.text('Id').replace('/hostedzone/', ''),
              name: nameOf(one.text('Name')),
            }))
            .filter(({ id }) => /^\w{1,32}$/.test(id));
          const next = page(list, { dnsname: 'NextDNSName', hostedzoneid: 'NextHostedZoneId' });
          return [zones, zone === undefined ? next : null];
        },
      ),
    /** From a name, in the order of reversed labels: those below it follow it. */
    entries: ({ id }: Zone, { name: at, below }: { name?: string; below?: string }) => {
      const from = at ?? below;
      return allPages<Entry<string[]>, Record<string, string>>(
        name,
        from === undefined ? {} : { name: absoluteName(from) },
        async (query) => {
          const answer = await send(`/hostedzone/${id}/rrset`, { ...query, maxitems: PAGE_SIZE });
          const list = answer.child('ListResourceRecordSetsResponse');
          const entries = list.child('ResourceRecordSets').all('ResourceRecordSet').map(entryOf);
          const isOver = entries.some((one) =>
            at === undefined
              ? below !== undefined && !`.${one.name}`.endsWith(`.${below}`)
              : one.name !== at,
          );
          const keys = {
            name: 'NextRecordName',
            type: 'NextRecordType',
            identifier: 'NextRecordIdentifier',
          };
          return [entries, isOver ? null : page(list, keys)];
        },
      );
    },
    /** All or nothing, and only if the old set is exactly as it was read: Route 53 compares what it deletes. */
    async write({ before, after, current, zone }: Replacement<Zone, string[]>) {
      const { name: at, type } = before;
      const records = dataAfter({ current, after }, (value) => dataOf(type, value));
      const set = (action: string, ttl: number, data: string[]) =>
        `<Change><Action>${action}</Action><ResourceRecordSet><Name>${escapeXml(absoluteName(at))}</Name><Type>${type}</Type><TTL>${ttl}</TTL><ResourceRecords>${data
          .map((text) => `<ResourceRecord><Value>${escapeXml(text)}</Value></ResourceRecord>`)
          .join('')}</ResourceRecords></ResourceRecordSet></Change>`;
      const changes = [
        ...current.map(({ ttl, raw }) => set('DELETE', ttl, raw)),
        ...(records.length > 0 ? [set('CREATE', after.ttl, records)] : []),
      ].join('');
      const body = `<?xml version="1.0" encoding="UTF-8"?><ChangeResourceRecordSetsRequest xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><ChangeBatch><Changes>${changes}</Changes></ChangeBatch></ChangeResourceRecordSetsRequest>`;
      await send(`/hostedzone/${zone.id}/rrset/`, {}, body);
    },
  };
}

function entryOf(set: Xml): Entry<string[]> {
  const type = set.text('Type');
  const raw = set
    .child('ResourceRecords')
    .all('ResourceRecord')
    .map((record) => record.text('Value'));
  const isAlias = set.has('AliasTarget');
  const hasPolicy = set.has('SetIdentifier');
  return {
    name: nameOf(set.text('Name')),
    type,
    ttl: Number(set.text('TTL') || DEFAULT_TTL),
    // An alias is no record that can be kept beside others, and none is without value.
    values: isAlias
      ? [`alias of ${nameOf(set.child('AliasTarget').text('DNSName'))}`]
      : raw.map((data) => valueOfZoneFile(type, data, 8)),
    raw,
    ...((isAlias || hasPolicy) && {
      locked: `${type} at ${nameOf(set.text('Name'))} is ${isAlias ? 'an alias record' : 'a record with a routing policy'} of Route 53. Change it there.`,
    }),
  };
}
