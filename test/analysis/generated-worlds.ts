/** Generated worlds: each is a choice of senders, servers, records and faults, and fixes can be applied to it. */

import { analyze } from '../../src/analysis/analyze.ts';
import type { Check, Envelope, Fix, Setup } from '../../src/analysis/check.ts';
import { CHECKS } from '../../src/analysis/checks/index.ts';
import type { MailKind } from '../../src/analysis/consequences.ts';
import { NO_SETUP } from '../../src/analysis/context.ts';
import type { AnalysisResult } from '../../src/analysis/result.ts';
import { foreignOwner } from '../../src/analysis/sending-services/ownership.ts';
import { SENDING_SERVICES } from '../../src/analysis/sending-services/services.ts';
import { isSpfRecord } from '../../src/analysis/spf/record.ts';
import { ownedDomain } from '../../src/lib/domain-names.ts';
import type { RecordType } from '../../src/net/dns/resolver.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { RECEIVED_AT } from '../helpers/analysis.ts';
import { type Random, seededRandom } from '../helpers/random.ts';
import { makeKey, type SigningKey, signMessage } from '../helpers/signer.ts';

/** All checks whose fixes have records, and those that such a record could affect. */
const IDS = [
  ...['dkim', 'dkim_alignment', 'dkim_key', 'spf', 'spf_alignment', 'spf_record'],
  ...[
    'dmarc',
    'dmarc_policy',
    'dmarc_record',
    'bimi',
    'ptr',
    'fcrdns',
    'helo',
    'mx',
    'return_path',
  ],
  ...['mta_sts', 'tls_rpt'],
];
export const USED: Check[] = CHECKS.filter(({ id }) => IDS.includes(id));

export const KEYS = { rsa: makeKey(), short: makeKey('rsa1024'), ed25519: makeKey('ed25519') };
export const CLIENT = '203.0.114.7';
const REVERSE = '7.114.0.203.in-addr.arpa';

type Records = Record<string, Partial<Record<RecordType, string[]>>>;

interface Signer {
  domain: string;
  selector: string;
  key: SigningKey;
}

export interface World {
  from: string;
  envelope: Envelope;
  zone: Records;
  signers: Signer[];
  fields: string;
  /** Where the service takes reports about its domains, by domain. */
  domains: Setup['domains'];
}

// Generates worlds: each is a choice of senders, servers, records and faults.

const pick = <T>(random: Random, items: readonly T[]): T => items[random.below(items.length)]!;

const FROM = [
  ...['example.com', 'example.com', 'news.example.com', 'a.b.example.co.uk'],
  ...['shop.uk.com', 'news.shop.uk.com', 'uk.com', 'acme.onmicrosoft.com', 'ann.github.io'],
  ...['gmail.com', 'yahoo.co.uk', 'web.de'],
];

/** Services with an include, with the name of one of their servers. */
const SERVERS = SENDING_SERVICES.flatMap(({ marks, spf, id }) => {
  const [host] = marks.hosts;
  const [include] = spf.kind === 'include' ? spf.includes : [];
  return host ? [{ id, host: `out7.${host}`, include, marks }] : [];
});

const includes = (count: number) =>
  Array.from({ length: count }, (_, i) => `include:i${i}.example`);

const SPF_RECORDS: (string[] | null)[] = [
  null,
  [`v=spf1 ip4:${CLIENT} -all`],
  ['v=spf1 mx -all'],
  ['v=spf1 -all'],
  ['v=spf1 ?all'],
  ['v=spf1 +all'],
  ['v=spf1 mx'],
  ['v=spf1 a mx ptr ~all'],
  ['v=spf1 mx -all', 'v=spf1 a -all'],
  ['v=spf1 redirect=i0.example'],
  ['v=spf1 include:missing.example -all'],
  ['v=spf1 include:open.example -all'],
  ['v=spf1 ip4:300.1.1.1 mx -all'],
  ['v=spf1 -ip4:203.0.114.0/24 mx exp=why.example.com -all'],
  [`v=spf1 ${includes(9).join(' ')} -all`],
  [`v=spf1 ${includes(10).join(' ')} ~all`],
  [`v=spf1 ${includes(12).join(' ')} ~all`],
  [`v=spf1 mx -all include:i0.example ip4:${CLIENT}`],
  ['v=spf1 mx redirect=i1.example ~all'],
  ['v=spf1 mx -all redirect=missing.example'],
  ['v=spf1 mx ip4:203.0.0.0/12 ip4:10.0.0.0/8 -all'],
];

const DMARC_RECORDS: ((domain: string) => string[] | null)[] = [
  () => null,
  (domain) => [`v=DMARC1; p=reject; rua=mailto:d@${domain}`],
  (domain) => [`v=DMARC1; p=none; rua=mailto:d@${domain}`],
  (domain) => [`v=DMARC1; p=reject; adkim=s; aspf=s; rua=mailto:d@${domain}`],
  (domain) => [`v=DMARC1; p=reject; sp=none; t=y; rua=mailto:d@${domain}`],
  (domain) => [`v=DMARC1 p=none rua=mailto:d@${domain}`],
  (domain) => [`v=DMARC1, p=reject, rua=mailto:d@${domain}`],
  (domain) => [`v=DMARC1\\; p=quarantine\\; rua=mailto:d@${domain}`],
  (domain) => [`“v=DMARC1; p=none; rua=mailto:d@${domain}”`],
  (domain) => [`v=DMARC1; p=“reject”; rua=mailto:d@${domain}`],
  (domain) => [`v=DMARC1; v=DMARC1; p=none; rua=mailto:d@${domain}`],
  (domain) => [`v=DMARC1; p=none rua=mailto:d@${domain}`],
  (domain) => [`v=DMARC1; p=rejct; rua=d@${domain}; foo=bar; adkim=x`],
  () => ['v=DMARC1; p=reject'],
  () => ['v=DMARC1; sp=reject; P=none'],
  () => ['v=DMARC1; p=none', 'v=DMARC1; p=reject'],
  () => ['v=DMARC1; p=reject; rua=mailto:ann@gmail.com'],
  () => ['v=DMARC1; p=reject; rua=mailto:d@reports.example'],
  () => ['v=DMARC1; p=bad; rua=mailto:\u001b[2Ja@b.example'],
  () => ['v=DMARC1; p=none; rua=mailto:[x@b.example'],
  (domain) => [`v=DMARC1; p=none; rua=mailto:a b@c.example,mailto:d@${domain}`],
  () => ['v=DMARC1; p=none; rua=mailto:a@@x; ruf=mailto:@y.example'],
];

const TLS_RPT = [null, ['v=TLSRPTv1; rua=mailto:tls@example.com'], ['v=TLSRPTv1'], ['x', 'y']];
const FEEDBACK = [null, null, 'fb-a@in.example.com', 'fb-a@agreed.example', 'fb-a@silent.example'];
const MTA_STS = [null, ['v=STSv1; id=1'], ['v=STSv1'], ['v=STSv1; id=1', 'v=STSv1; id=2']];
const MX = [['10 in.example.com'], ['10 in.example.com'], ['0 .'], ['10 gone.example.com'], null];

export function makeWorld(seed: number): World {
  const random = seededRandom(seed);
  const from = pick(random, FROM);
  const owned = ownedDomain(from) ?? from;
  const service = random.chance(0.6) ? pick(random, SERVERS) : null;
  const mailFrom = pick(random, [
    from,
    from,
    `bounce.${owned}`,
    'other.example',
    'gmail.com',
    null,
  ]);
  const zone: Records = {
    'in.example.com': { A: ['203.0.114.25'] },
    'open.example': { TXT: ['v=spf1 +all'] },
    ...Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [`i${i}.example`, { TXT: ['v=spf1 ip4:192.0.2.9'] }]),
    ),
  };
  if (service) {
    zone[REVERSE] = { PTR: [service.host] };
    zone[service.host] = { A: random.chance(0.9) ? [CLIENT] : ['192.0.2.77'] };
    if (service.include)
      zone[service.include] = {
        TXT: [`v=spf1 ip4:${random.chance(0.9) ? CLIENT : '192.0.2.8'} ~all`],
      };
  } else {
    const name = pick(random, [
      `mail.${owned}`,
      'static.7.114.0.203.isp.example',
      'isp.example',
      null,
    ]);
    if (name) zone[REVERSE] = { PTR: [name] };
    if (name && random.chance(0.7)) zone[name] = { A: [CLIENT] };
  }
  const domains = new Set([owned, from, ...(mailFrom === null ? [] : [mailFrom])]);
  for (const domain of domains)
    zone[domain] = {
      ...zone[domain],
      TXT: pick(random, SPF_RECORDS) ?? undefined,
      MX: pick(random, MX) ?? undefined,
    };
  zone[`_dmarc.${owned}`] = { TXT: pick(random, DMARC_RECORDS)(owned) ?? undefined };
  // An own record of a subdomain is valid, because each fix repairs one record.
  if (from !== owned && random.chance(0.3))
    zone[`_dmarc.${from}`] = { TXT: pick(random, DMARC_RECORDS.slice(0, 5))(from) ?? undefined };
  zone[`_smtp._tls.${from}`] = { TXT: pick(random, TLS_RPT) ?? undefined };
  zone[`_mta-sts.${from}`] = { TXT: pick(random, MTA_STS) ?? undefined };
  const helo = pick(random, [
    `mail.${owned}`,
    service?.host ?? 'isp.example',
    'localhost',
    'mail.gmail.com',
  ]);
  zone[`${owned}._report._dmarc.agreed.example`] = { TXT: ['v=DMARC1'] };
  for (const host of ['agreed.example', 'silent.example', 'in.example.com'])
    zone[host] ??= { A: ['192.0.2.53'] };
  const signers = makeSigners(random, zone, [
    from,
    owned,
    service?.marks.signs?.[0] ?? 'signer.example',
  ]);
  const feedback = pick(random, FEEDBACK);
  return {
    from,
    envelope: {
      mail_from: mailFrom === null ? '' : `bounce@${mailFrom}`,
      client_ip: CLIENT,
      helo,
      tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
    },
    zone,
    signers,
    fields: random.chance(0.2) ? 'X-SG-EID: abc\n' : '',
    // Nobody can verify a domain of someone else.
    domains:
      feedback === null || foreignOwner(from) !== null
        ? {}
        : { [owned]: { feedbackAddress: feedback, isVerified: true } },
  };
}

/** Signatures of some of these domains, with keys that are published correctly or not. */
function makeSigners(random: Random, zone: Records, domains: string[]): Signer[] {
  return [...new Set(domains)].flatMap((domain) => {
    if (random.chance(0.5)) return [];
    const key = pick(random, [KEYS.rsa, KEYS.rsa, KEYS.short, KEYS.ed25519]);
    const selector = key === KEYS.ed25519 ? 'ed' : 's1';
    const published = pick(random, [
      key.record,
      key.record,
      key.record.replace('v=DKIM1; ', 'v=DKIM1; t=y; '),
      key.record.replace('v=DKIM1; ', ''),
      key.record.replace(/k=[^;]*; /, ''),
      key.record.replace(/p=.*/, 'p='),
      key.record.replace(/p=.{9}/, 'p='),
      KEYS.rsa.record,
      null,
    ]);
    zone[`${selector}._domainkey.${domain}`] = {
      TXT: published === null ? undefined : [published],
    };
    return [{ domain, selector, key }];
  });
}

/** Throws if a check throws. */
export async function analyzeWorld(
  { from, envelope, zone, signers, fields, domains }: World,
  kind: MailKind = 'transactional',
  resolver = zoneResolver(zone),
): Promise<AnalysisResult> {
  const header = `From: Ann <ann@${from}>\nTo: bob@example.net\nSubject: Hi\nDate: Sat, 21 Nov 2026 09:59:58 +0000\nMessage-ID: <1@example.com>\n`;
  let raw: Buffer = Buffer.from(`${fields}${header}\nHello Bob\n`.replaceAll('\n', '\r\n'));
  for (const signer of signers) raw = await signMessage(raw, signer);
  return analyze(
    { raw, envelope, receivedAt: RECEIVED_AT, kind },
    {
      resolver,
      setup: { ...NO_SETUP, domains },
      checks: USED,
      onFault(id, error) {
        throw new Error(`${id} threw`, { cause: error });
      },
    },
  );
}

// Applies fixes.

/** Does what the text of a fix says about its record: replaces what has the same purpose, and signs. */
export function publish(world: World, { text, record }: Fix): World {
  const { type, name, value } = record!;
  const next: World = { ...world, zone: { ...world.zone }, signers: [...world.signers] };
  const node = { ...next.zone[name] };
  next.zone[name] = node;
  if (type === 'MX') node.MX = ['10 in.example.com'];
  else if (type === 'PTR') {
    node.PTR = [value];
    next.zone[value] = { ...next.zone[value], A: [CLIENT] };
    next.envelope = { ...world.envelope, helo: value };
  } else if (type === 'A' || type === 'AAAA') node[type] = [...(node[type] ?? []), value];
  else if (value.includes('<')) {
    const key = value.includes('ed25519') ? KEYS.ed25519 : KEYS.rsa;
    const [selector = '', domain = ''] = name.split('._domainkey.');
    node.TXT = [key.record];
    const keepsOthers = text.startsWith('Keep the Ed25519 signature');
    const others = world.signers.filter((one) => one.domain !== domain || keepsOthers);
    next.signers = [...others, { domain, selector, key }];
  } else {
    const isSpf = isSpfRecord(value);
    node.TXT = [...(node.TXT ?? []).filter((one) => isSpf && !isSpfRecord(one)), value];
  }
  return next;
}
