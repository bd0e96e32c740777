/** Whole reports for tests and pictures: real analyses of real messages in small worlds of their own. */

import { crc32, deflateSync } from 'node:zlib';
import { analyze } from '../../src/analysis/analyze.ts';
import type { Envelope } from '../../src/analysis/check.ts';
import { CHECKS } from '../../src/analysis/checks.ts';
import { type FiredRule, judgeEngine } from '../../src/analysis/filters/judge-engine.ts';
import { spamassassin } from '../../src/analysis/filters/spamassassin.ts';
import { type Zone, zoneResolver } from '../../src/net/zone.ts';
import { messageView } from '../../src/render/message-view.ts';
import type { Report, SeedPlacement } from '../../src/render/report.ts';
import { ENVELOPE, RECEIVED_AT } from '../helpers/analysis.ts';
import { blocklistZone, listIn, workingLists } from '../helpers/blocklists.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';
import { type Page, webOf } from '../helpers/web.ts';
import { NEWSLETTER, ORDER, URGENT } from './mails.ts';

interface Scene {
  name: string;
  raw: Uint8Array;
  zone: Zone;
  envelope?: Partial<Envelope>;
  offline?: boolean;
  web?: Record<string, Page>;
  /** The rules that SpamAssassin would have fired. */
  rules?: FiredRule[];
  placement?: SeedPlacement[];
}

/** The report on a message. Of all checks SpamAssassin's alone is told what it would be answered. */
export async function reportOn(scene: Scene): Promise<Report> {
  const envelope = { ...ENVELOPE, ...scene.envelope };
  const { rules = [] } = scene;
  const told = { ...spamassassin, run: () => judgeEngine(engineScore(rules)) };
  const checks = scene.offline ? CHECKS : CHECKS.map((each) => (each.id === told.id ? told : each));
  const result = await analyze(
    { raw: scene.raw, envelope, receivedAt: RECEIVED_AT, kind: 'auto' },
    {
      resolver: zoneResolver({ ...blocklistZone(), ...scene.zone }),
      web: webOf(scene.web ?? {}),
      setup: { blocklists: workingLists(), spamd: null, rspamd: null, checkLinks: true },
      checks,
      offline: scene.offline,
    },
  );
  return {
    ...result,
    id: 'tst_7kq2m9xw4c8e',
    name: scene.name,
    received_at: new Date(RECEIVED_AT).toISOString(),
    completed_at: new Date(RECEIVED_AT + 2400).toISOString(),
    envelope,
    placement: scene.placement ?? [],
    message: await messageView(scene.raw),
  };
}

const engineScore = (rules: FiredRule[]) => ({
  engine: 'SpamAssassin',
  score: rules.reduce((sum, { score }) => sum + score, 0),
  threshold: 5,
  rules,
  isCheckedHere: (rule: string) => rule.startsWith('SPF_') || rule.startsWith('RDNS_'),
});

const GOOD_CLIENT = '203.0.114.7';
const BAD_CLIENT = '203.0.114.200';

const KEY = makeKey();

/** Everything in order: an order confirmation. */
export async function goodReport(): Promise<Report> {
  const raw = await signMessage(ORDER, { domain: 'shop.example', selector: 's1', key: KEY });
  return reportOn({
    name: 'Order confirmation',
    raw,
    zone: shopZone(),
    envelope: SHOP_ENVELOPE,
    web: { 'https://shop.example/orders/1042': { code: 200 } },
    rules: [{ name: 'HTML_MESSAGE', score: 0.4, description: 'HTML included in message' }],
    placement: [
      { provider: 'Gmail', placement: 'inbox', seconds: 4 },
      { provider: 'Gmail', placement: 'updates', seconds: 6 },
      { provider: 'Outlook', placement: 'inbox', seconds: 11 },
      { provider: 'Yahoo', placement: 'inbox', seconds: 7 },
      { provider: 'GMX', placement: 'unknown', seconds: null },
    ],
  });
}

const SHOP_ENVELOPE: Partial<Envelope> = {
  mail_from: 'bounces@shop.example',
  helo: 'mail.shop.example',
  client_ip: GOOD_CLIENT,
};

function shopZone(): Zone {
  return {
    'shop.example': {
      A: [GOOD_CLIENT],
      MX: ['10 mail.shop.example'],
      TXT: ['v=spf1 ip4:203.0.114.7 -all'],
    },
    'mail.shop.example': { A: [GOOD_CLIENT], TXT: ['v=spf1 a -all'] },
    's1._domainkey.shop.example': { TXT: [KEY.record] },
    '_dmarc.shop.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@shop.example'] },
    '7.114.0.203.in-addr.arpa': { PTR: ['mail.shop.example'] },
  };
}

const WEAK_KEY = makeKey('rsa1024');

/**
 * A service that signs for itself alone, from a server that the SPF record does not name: DMARC
 * fails, and so does much else. Some of the DNS does not answer.
 */
export async function badReport(): Promise<Report> {
  const signed = await signMessage(URGENT, {
    domain: 'sender.example',
    selector: 'k1',
    key: WEAK_KEY,
  });
  return reportOn({
    name: 'Autumn campaign, second try',
    raw: signed,
    zone: {
      'acme.example': {
        A: ['192.0.2.80'],
        MX: ['10 mx.acme.example'],
        TXT: ['v=spf1 include:spf.sender.example ~all'],
      },
      'mx.acme.example': { fails: 'timeout' },
      'spf.sender.example': { TXT: ['v=spf1 ip4:203.0.114.0/25 -all'] },
      '_dmarc.acme.example': { TXT: ['v=DMARC1; p=none'] },
      'k1._domainkey.sender.example': { TXT: [WEAK_KEY.record] },
      '_mta-sts.acme.example': { fails: 'servfail' },
      ...listIn('bl.spamcop.net', '200.114.0.203', '127.0.0.2'),
    },
    envelope: {
      mail_from: 'bounce+8271@acme.example',
      client_ip: BAD_CLIENT,
      helo: 'localhost',
      tls: { used: false, version: null, cipher: null },
    },
    web: { 'https://acme.example/autumn': { code: 200 } },
    rules: [
      { name: 'URG_BIZ', score: 2.4, description: 'Contains urgent matter' },
      { name: 'MIME_HTML_ONLY', score: 1.9, description: 'Message only has text/html MIME parts' },
      { name: 'SUBJ_ALL_CAPS', score: 1.5, description: 'Subject is all capitals' },
      { name: 'RDNS_NONE', score: 1.3, description: 'Delivered by a host with no rDNS' },
    ],
    placement: [
      { provider: 'Gmail', placement: 'spam', seconds: 12 },
      { provider: 'Gmail', placement: 'spam', seconds: 31 },
      { provider: 'Outlook', placement: 'missing', seconds: null },
      { provider: 'Yahoo', placement: 'promotions', seconds: 48 },
      { provider: 'Yahoo', placement: 'pending', seconds: null },
    ],
  });
}

/** Handed in from a disk with no network: too little is known for a score. */
export async function unscoredReport(): Promise<Report> {
  const report = await reportOn({
    name: 'saved.eml',
    raw: Buffer.from(ORDER.replaceAll('\n', '\r\n')),
    zone: {},
    envelope: { client_ip: null, helo: null, mail_from: null, tls: null },
    offline: true,
  });
  return { ...report, id: null, message: null, envelope: null };
}

/** Marketing with images inside and remote ones, well authenticated but for its policy. */
export async function newsletterReport(): Promise<Report> {
  const banner = pngOf(600, 160).toString('base64').replace(/.{76}/g, '$&\n');
  const message = NEWSLETTER.replace('{banner}', banner);
  const raw = await signMessage(message, {
    domain: 'shop.example',
    selector: 's1',
    key: KEY,
    headerList: ['From', 'To', 'Subject', 'Date', 'Message-ID'],
  });
  return reportOn({
    name: 'November newsletter',
    raw,
    zone: { ...shopZone(), '_dmarc.shop.example': { TXT: ['v=DMARC1; p=none'] } },
    envelope: SHOP_ENVELOPE,
    web: {
      'https://shop.example/scarves': { code: 200 },
      'https://shop.example/gloves': { code: 403 },
    },
    placement: [
      { provider: 'Gmail', placement: 'promotions', seconds: 9 },
      { provider: 'Outlook', placement: 'inbox', seconds: 14 },
      { provider: 'Yahoo', placement: 'inbox', seconds: 10 },
    ],
  });
}

/** A picture of two colours that run into each other (PNG, 8-bit RGB). */
function pngOf(width: number, height: number): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      rows.set(
        [190 - (x * 110) / width, 90 + (y * 60) / height, 60 + (x * 140) / width],
        y * (1 + width * 3) + 1 + x * 3,
      );
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
