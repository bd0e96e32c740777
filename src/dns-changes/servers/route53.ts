/** Amazon Route 53. https://docs.aws.amazon.com/Route53/latest/APIReference/Welcome.html */

import * as v from 'valibot';
import { signedHeaders } from '../../net/aws-signature.ts';
import { absoluteName, withNumbers } from '../presentation.ts';
import { DEFAULT_TTL, type ServerContext, type ServerKind } from '../server.ts';
import { TEXT, tokenField } from './fields.ts';
import { allPages, httpApi, type Refusal } from './http-api.ts';
import { plainName, type Stored, type ZoneApi, zoneServer } from './zone-server.ts';

const ROUTE53_URL = 'https://route53.amazonaws.com/2013-04-01';

export const route53: ServerKind = {
  name: 'Route 53',
  hint: 'Changes records of public hosted zones, with the access key of an IAM user that can do nothing else.',
  fields: [
    {
      ...TEXT,
      name: 'access_key_id',
      label: 'Access key ID',
      hint: 'The access key ID of an IAM user. The documentation has the policy.',
      placeholder: 'AKIAIOSFODNN7EXAMPLE',
      example: 'AKIAIOSFODNN7EXAMPLE',
      schema: v.pipe(
        v.string('must be a string'),
        v.trim(),
        v.regex(/^AKIA[A-Z0-9]{12,124}$/, 'must be that of an IAM user, which begins with AKIA'),
      ),
    },
    tokenField('The secret of the access key.', 'secret_access_key', 'Secret access key'),
  ],
  open: (settings, context) => zoneServer(route53Api(settings, context)),
};

// Its XML has no attributes and no element within one of the same name.

const allOf = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, inner]) => inner!);

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The text of the first one; empty if there is none. */
const textOf = (xml: string, name: string): string =>
  (allOf(xml, name)[0] ?? '').replace(/&(?:#(\d+)|(\w+));/g, (all, code, entity) =>
    code ? String.fromCodePoint(Number(code)) : (ENTITIES[entity] ?? all),
  );

const escapeXml = (text: string): string =>
  text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);

const element = (name: string, ...inner: string[]): string =>
  `<${name}>${inner.join('')}</${name}>`;

/** Special characters come in octal, such as `\052` for `*`. */
const nameOf = (xml: string, name: string): string =>
  plainName(textOf(xml, name)).replace(/\\(\d{3})/g, (_, digits) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );

const WRONG_KEY =
  'Amazon does not accept the access key. It may be deleted or inactive, or the secret is wrong.';

function refusal(_: number, body: string): Refusal | undefined {
  const code = textOf(body, 'Code');
  const message = textOf(body, 'Message');
  if (/Signature|RequestExpired/.test(code) && /expired|not yet current/i.test(message))
    return [
      'wrong_time',
      'The clock of this machine differs from that of Amazon by more than five minutes. Synchronize it with NTP.',
    ];
  if (/Signature|Token/.test(code)) return ['bad_credentials', WRONG_KEY];
  if (code === 'Throttling' || code === 'PriorRequestNotComplete')
    return ['rate_limited', 'Route 53 allows five requests a second for the account.'];
  return body.includes('InvalidChangeBatch') &&
    /not found|do not match|already exists/.test(message)
    ? 'changed'
    : undefined;
}

function route53Api(settings: Record<string, string>, context: ServerContext): ZoneApi {
  const name = 'Route 53';
  const accessKeyId = settings.access_key_id!;
  const secretAccessKey = settings.secret_access_key!;
  const request = httpApi(
    {
      name,
      secret: secretAccessKey,
      headers: { accept: 'application/xml', 'content-type': 'application/xml' },
      advice: {
        401: WRONG_KEY,
        403: 'The IAM user may not do this. It needs route53:ListHostedZonesByName, route53:ListResourceRecordSets and route53:ChangeResourceRecordSets for the zone.',
        404: 'The hosted zone no longer exists at Route 53.',
      },
      said: (body) => textOf(body, 'Message'),
      refusal,
    },
    context,
  );

  async function send(path: string, query: Record<string, string>, body?: string) {
    const url = new URL(`${ROUTE53_URL}${path}?${new URLSearchParams(query)}`);
    const method = body === undefined ? 'GET' : 'POST';
    const now = context.clock.now();
    const headers = signedHeaders(
      { method, url, body, service: 'route53', region: 'us-east-1', now },
      { accessKeyId, secretAccessKey },
    );
    return (await request(url.href, { method, headers, body })).text;
  }

  /** `next`: the elements of the next page, by parameter. */
  const list = <T>(
    path: string,
    next: Record<string, string>,
    [item, read]: [name: string, read: (xml: string) => T],
  ) =>
    allPages<T, Record<string, string>>(name, {}, async (query) => {
      const xml = await send(path, query);
      const marks = Object.entries(next).map(([key, mark]) => [key, textOf(xml, mark)]);
      const isLast = textOf(xml, 'IsTruncated') !== 'true';
      return [
        allOf(xml, item).map(read),
        isLast ? null : Object.fromEntries(marks.filter(([, text]) => text)),
      ];
    });

  return {
    name,
    // Route 53 allows five requests a second, and lists 300 sets at once.
    listsAllZones: true,
    isWhole: true,
    noZones: 'The access key has no public hosted zone. Create the zone at Route 53 first.',
    async zones() {
      const found = await list(
        '/hostedzonesbyname',
        { dnsname: 'NextDNSName', hostedzoneid: 'NextHostedZoneId' },
        [
          'HostedZone',
          (xml) => ({
            id: textOf(xml, 'Id').replace('/hostedzone/', ''),
            name: nameOf(xml, 'Name'),
            isPrivate: textOf(xml, 'PrivateZone') === 'true',
          }),
        ],
      );
      return found.filter(({ id, isPrivate }) => !isPrivate && /^\w{1,32}$/.test(id));
    },
    entries: ({ id }) =>
      list(
        `/hostedzone/${id}/rrset`,
        { name: 'NextRecordName', type: 'NextRecordType', identifier: 'NextRecordIdentifier' },
        ['ResourceRecordSet', storedOf],
      ),
    /** All or nothing, and only if the old set is exactly as it was read: Route 53 compares what it deletes. */
    write({ zone, name: at, type, ttl, current, data }) {
      const change = (action: string, seconds: number, values: string[]) => {
        const records = values.map((text) =>
          element('ResourceRecord', element('Value', escapeXml(withNumbers(text, 10, 8)))),
        );
        const set = [
          element('Name', escapeXml(absoluteName(at))),
          element('Type', type),
          element('TTL', `${seconds}`),
          element('ResourceRecords', ...records),
        ];
        return records.length === 0
          ? ''
          : element('Change', element('Action', action), element('ResourceRecordSet', ...set));
      };
      const changes = element(
        'Changes',
        ...current.map((old) => change('DELETE', old.ttl, old.data)),
        change('CREATE', ttl, data()),
      );
      return send(
        `/hostedzone/${zone.id}/rrset/`,
        {},
        `<ChangeResourceRecordSetsRequest xmlns="https://route53.amazonaws.com/doc/2013-04-01/">${element('ChangeBatch', changes)}</ChangeResourceRecordSetsRequest>`,
      );
    },
  };
}

function storedOf(xml: string): Stored {
  const [name, type] = [nameOf(xml, 'Name'), textOf(xml, 'Type')];
  const alias = nameOf(xml, 'DNSName');
  const kind = alias ? 'an alias' : xml.includes('<SetIdentifier>') && 'a routing policy';
  return {
    name,
    type,
    ttl: Number(textOf(xml, 'TTL') || DEFAULT_TTL),
    data: allOf(xml, 'ResourceRecord').map((record) => withNumbers(textOf(record, 'Value'), 8, 10)),
    // Not none, because there can be no other records beside it.
    ...(alias && { values: [`alias of ${alias}`] }),
    locked: kind && `${type} at ${name} has ${kind} at Route 53. Change it there.`,
  };
}
