/** The part of the API of Amazon Route 53 that reads and changes records, as its reference describes it. */

import { createHash, createHmac } from 'node:crypto';
import type { TestContext } from 'node:test';
import { route53 } from '../../../src/dns-changes/servers/route53.ts';
import { type Answer, type Request, startHarness } from './harness.ts';
import { type Records, RefusedData, requireZoneFileData, type StoredSet } from './records.ts';

const KEY_ID = 'AKIAIOSFODNN7EXAMPLE';
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const HOST = 'route53.amazonaws.com';
const NAMESPACE = 'https://route53.amazonaws.com/doc/2013-04-01/';
const MAX_ITEMS = 3;

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const unescaped = (text: string) =>
  text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

const xml = (status: number, root: string, inner: string): Answer => ({
  status,
  headers: { 'content-type': 'text/xml' },
  body: `<?xml version="1.0"?>\n<${root} xmlns="${NAMESPACE}">${inner}</${root}>`,
});
const error = (status: number, code: string, message: string) =>
  xml(
    status,
    'ErrorResponse',
    `<Error><Type>Sender</Type><Code>${code}</Code><Message>${escaped(message)}</Message></Error><RequestId>1</RequestId>`,
  );

/** As Route 53 sorts: by reversed labels. */
const order = (name: string) => name.split('.').reverse().join('\0');
const octal = (name: string) => `${name.replace('*', '\\052')}.`;

/** Whether the request is signed with the key, by a calculation of its own. */
function signatureProblem({ method, path, query, headers, body }: Request, now: number) {
  const [, keyId, day, signed, given] =
    /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/us-east-1\/route53\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  if (keyId === undefined)
    return error(403, 'MissingAuthenticationToken', 'Missing Authentication Token');
  if (keyId !== KEY_ID)
    return error(
      403,
      'InvalidClientTokenId',
      'The security token included in the request is invalid.',
    );
  const time = String(headers['x-amz-date']);
  const at = Date.parse(
    time.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z'),
  );
  const names = signed!.split(';');
  if (!names.includes('host') || !names.includes('x-amz-date') || !time.startsWith(day!))
    return error(403, 'IncompleteSignature', 'host and x-amz-date must be signed');
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const mac = (key: string | Buffer, text: string) =>
    createHmac('sha256', key).update(text).digest();
  const canonicalQuery = [...query]
    .map(([key, value]) =>
      [key, value].map((part) => encodeURIComponent(part).replace(/\*/g, '%2A')),
    )
    .sort(([a], [b]) => (a! < b! ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');
  const all: Record<string, unknown> = { ...headers, host: HOST };
  const request = `${method}\n${path}\n${canonicalQuery}\n${names.map((name) => `${name}:${all[name]}\n`).join('')}\n${signed}\n${hash(body)}`;
  const key = mac(mac(mac(mac(`AWS4${SECRET}`, day!), 'us-east-1'), 'route53'), 'aws4_request');
  const expected = mac(
    key,
    `AWS4-HMAC-SHA256\n${time}\n${day}/us-east-1/route53/aws4_request\n${hash(request)}`,
  ).toString('hex');
  if (expected !== given)
    return error(
      403,
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided.',
    );
  if (Math.abs(at - now) > 5 * 60_000)
    return error(
      403,
      'SignatureDoesNotMatch',
      'Signature expired: 20261130T000000Z is now earlier than 20261130T120000Z',
    );
  return null;
}

export interface Route53Options {
  /** What the IAM policy does not allow. */
  denied?: 'ChangeResourceRecordSets';
  clock?: () => number;
  /** So many requests are too many. */
  throttled?: number;
  /** Sets with an alias target, by `name type`. */
  aliases?: string[];
  /** Sets of a routing policy. */
  weighted?: string[];
  /** There is a second public zone of the same name. */
  isTwice?: boolean;
}

export const startRoute53Api = (t: TestContext, records: Records, options: Route53Options = {}) =>
  startHarness(t, {
    records,
    origin: `https://${HOST}`,
    radix: 8,
    isWrite: ({ method }) => method === 'POST',
    open: (context, _, isWrong) =>
      route53.open(
        { access_key_id: KEY_ID, secret_access_key: isWrong ? 'wrong-secret' : SECRET },
        context,
      ),
    answer(request): Answer {
      const { method, path, query, headers, body } = request;
      const problem = signatureProblem(request, options.clock?.() ?? Date.now());
      if (problem) return problem;
      if (options.throttled) {
        options.throttled -= 1;
        return error(400, 'Throttling', 'Rate exceeded');
      }
      const limit = Math.min(Number(query.get('maxitems') ?? 100), MAX_ITEMS);
      const next = <T>(items: T[], marks: (item: T) => string) =>
        items.length > limit
          ? `<IsTruncated>true</IsTruncated>${marks(items[limit]!)}`
          : '<IsTruncated>false</IsTruncated>';
      const zones = [
        ...records.zones.map((name, index) => ({ id: `Z${index}`, name, isPrivate: false })),
        ...(options.isTwice ? [{ id: 'ZOLD', name: records.zones[0]!, isPrivate: false }] : []),
        { id: 'ZPRIVATE', name: records.zones[0]!, isPrivate: true },
      ].sort((a, b) => (order(a.name) < order(b.name) ? -1 : 1));
      if (path === '/2013-04-01/hostedzonesbyname') {
        const from = query.get('dnsname')?.replace(/\.$/, '');
        const rest = zones.filter(({ name }) => from === undefined || order(name) >= order(from));
        const list = rest
          .slice(0, limit)
          .map(
            ({ id, name, isPrivate }) =>
              `<HostedZone><Id>/hostedzone/${id}</Id><Name>${name}.</Name><Config><PrivateZone>${isPrivate}</PrivateZone></Config></HostedZone>`,
          );
        return xml(
          200,
          'ListHostedZonesByNameResponse',
          `<HostedZones>${list.join('')}</HostedZones>${next(rest, ({ name, id }) => `<NextDNSName>${name}.</NextDNSName><NextHostedZoneId>${id}</NextHostedZoneId>`)}`,
        );
      }
      const [, id] = /^\/2013-04-01\/hostedzone\/(\w+)\/rrset\/?$/.exec(path) ?? [];
      const zone = zones.find((one) => one.id === id);
      if (!zone) return error(404, 'NoSuchHostedZone', `No hosted zone found with ID: ${id}`);
      if (method === 'GET') {
        const from = query.get('name')?.replace(/\.$/, '').replace('\\052', '*');
        const fromType = query.get('type') ?? '';
        const rest = records
          .in(zone.name)
          .sort((a, b) =>
            `${order(a.name)}\0\0${a.type}` < `${order(b.name)}\0\0${b.type}` ? -1 : 1,
          )
          .filter(
            ({ name, type }) =>
              from === undefined ||
              order(name) > order(from) ||
              (order(name) === order(from) && type >= fromType),
          );
        const list = rest.slice(0, limit).map((set) => present(set, options));
        return xml(
          200,
          'ListResourceRecordSetsResponse',
          `<ResourceRecordSets>${list.join('')}</ResourceRecordSets>${next(rest, ({ name, type }) => `<NextRecordName>${octal(name)}</NextRecordName><NextRecordType>${type}</NextRecordType>`)}`,
        );
      }
      if (options.denied === 'ChangeResourceRecordSets')
        return error(
          403,
          'AccessDenied',
          'User: arn:aws:iam::1:user/dns is not authorized to perform: route53:ChangeResourceRecordSets',
        );
      if (!/xml/.test(headers['content-type'] ?? ''))
        return error(400, 'InvalidInput', 'Content-Type must be XML');
      return change(records, body);
    },
  });

function present(
  { name, type, ttl, data }: StoredSet,
  { aliases = [], weighted = [] }: Route53Options,
): string {
  const inner = aliases.includes(`${name} ${type}`)
    ? '<AliasTarget><HostedZoneId>Z2</HostedZoneId><DNSName>d1.cloudfront.example.</DNSName></AliasTarget>'
    : `<TTL>${ttl}</TTL><ResourceRecords>${data
        .map((value) => `<ResourceRecord><Value>${escaped(value)}</Value></ResourceRecord>`)
        .join('')}</ResourceRecords>`;
  return `<ResourceRecordSet><Name>${octal(name)}</Name><Type>${type}</Type>${weighted.includes(`${name} ${type}`) ? '<SetIdentifier>a</SetIdentifier><Weight>1</Weight>' : ''}${inner}</ResourceRecordSet>`;
}

/** All or nothing. */
function change(records: Records, body: string): Answer {
  const batch = (message: string) => error(400, 'InvalidChangeBatch', `[${message}]`);
  if (!body.includes(`<ChangeResourceRecordSetsRequest xmlns="${NAMESPACE}">`))
    return error(400, 'InvalidInput', 'Invalid XML');
  const before = [...records.sets];
  const text = (part: string, name: string) =>
    unescaped(new RegExp(`<${name}>([^<]*)</${name}>`).exec(part)?.[1] ?? '');
  try {
    for (const [part] of body.matchAll(/<Change>.*?<\/Change>/gs)) {
      const name = text(part, 'Name').replace(/\.$/, '');
      const type = text(part, 'Type');
      const ttl = Number(text(part, 'TTL'));
      const data = [...part.matchAll(/<Value>([^<]*)<\/Value>/g)].map(([, value]) =>
        unescaped(value!),
      );
      if (data.length === 0 || !/<TTL>\d+<\/TTL>/.test(part))
        throw new RefusedData('Missing field ResourceRecords');
      for (const one of data) requireZoneFileData(type, one, 8);
      const old = records.find(name, type);
      const what = `resource record set [name='${name}.', type='${type}']`;
      if (text(part, 'Action') === 'CREATE') {
        if (old) throw new RefusedData(`Tried to create ${what} but it already exists`);
        records.put({ name, type, ttl, data });
      } else if (text(part, 'Action') === 'DELETE') {
        if (!old) throw new RefusedData(`Tried to delete ${what} but it was not found`);
        if (
          old.ttl !== ttl ||
          JSON.stringify(old.data.toSorted()) !== JSON.stringify(data.toSorted())
        )
          throw new RefusedData(
            `Tried to delete ${what} but the values provided do not match the current values`,
          );
        records.put({ name, type, ttl, data: [] });
      } else throw new RefusedData('Invalid action');
    }
  } catch (refused) {
    if (!(refused instanceof RefusedData)) throw refused;
    records.sets = before;
    return batch(refused.message);
  }
  return xml(
    200,
    'ChangeResourceRecordSetsResponse',
    '<ChangeInfo><Id>/change/C1</Id><Status>PENDING</Status></ChangeInfo>',
  );
}
