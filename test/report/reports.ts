/** Complete reports for tests and screenshots: analyses of whole messages with their own DNS. */

import { crc32, deflateSync } from 'node:zlib';
import { analyze } from '../../src/analysis/analyze.ts';
import type { Envelope } from '../../src/analysis/check.ts';
import { CHECKS } from '../../src/analysis/checks/index.ts';
import { spamassassin } from '../../src/analysis/checks/spamassassin.ts';
import { NO_SETUP } from '../../src/analysis/context.ts';
import { evaluateSpamScore, type FiredRule } from '../../src/analysis/spam-engine.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import { messageView } from '../../src/report/message-view.ts';
import { redactReport } from '../../src/report/redact.ts';
import type { Report, SeedPlacement } from '../../src/report/report.ts';
import type { Share } from '../../src/report/share.ts';
import { ENVELOPE, RECEIVED_AT } from '../helpers/analysis.ts';
import { blocklistZone, listIn, workingLists } from '../helpers/blocklists.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';
import { type Page, webOf } from '../helpers/web.ts';

interface Scene {
  name: string;
  raw: Uint8Array;
  zone: Zone;
  envelope?: Partial<Envelope>;
  offline?: boolean;
  web?: Record<string, Page>;
  /** The SpamAssassin rules that fire. */
  rules?: FiredRule[];
  placement?: SeedPlacement[];
}

/** Analyzes a message with all checks. Only the response of SpamAssassin is simulated. */
export async function reportOn(scene: Scene): Promise<Report> {
  const envelope = { ...ENVELOPE, ...scene.envelope };
  const { rules = [] } = scene;
  const simulated = { ...spamassassin, run: () => evaluateSpamScore(engineScore(rules)) };
  const checks = scene.offline
    ? CHECKS
    : CHECKS.map((each) => (each.id === simulated.id ? simulated : each));
  const result = await analyze(
    { raw: scene.raw, envelope, receivedAt: RECEIVED_AT, kind: 'auto' },
    {
      resolver: zoneResolver({ ...blocklistZone(), ...scene.zone }),
      web: webOf(scene.web ?? {}),
      setup: { ...NO_SETUP, blocklists: workingLists(), checkLinks: true },
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
  isCoveredRule: (rule: string) => rule.startsWith('SPF_') || rule.startsWith('RDNS_'),
});

const GOOD_CLIENT = '203.0.114.7';
const BAD_CLIENT = '203.0.114.200';

const KEY = makeKey();

/** A flawless order confirmation. */
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
 * Sent by a service that signs with its own domain, from a server that is not in the SPF record: DMARC and
 * many other checks fail. Some DNS lookups fail too.
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

/** A local file checked without a network: not enough results for a score. */
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

/** Marketing mail with inline and remote images; authenticated, but with a weak DMARC policy. */
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

/** A color gradient as PNG (8-bit RGB). */
export function pngOf(width: number, height: number): Buffer {
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

// Messages: an order, an urgent offer with many faults, a newsletter.

export const ORDER = `Received: from app.shop.example (app.shop.example [10.0.0.9])
 by mail.shop.example with ESMTPS; Sat, 21 Nov 2026 09:59:58 +0000
From: Wool & Sons <orders@shop.example>
To: Reader <reader@example.net>
Subject: Your order 1042 is on its way
Date: Sat, 21 Nov 2026 09:59:57 +0000
Message-ID: <20261121.1042@shop.example>
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary="part"

--part
Content-Type: text/plain; charset=utf-8

Hello,

your order 1042 left our warehouse today and will be with you on Thursday:
https://shop.example/orders/1042

Wool & Sons
--part
Content-Type: text/html; charset=utf-8

<!doctype html><html lang="en"><body style="margin:0;background:#f4f1ec">
<table role="presentation" width="100%"><tr><td align="center" style="padding:32px 12px">
<table role="presentation" width="560" style="max-width:100%;background:#fff;border-radius:8px">
<tr><td style="padding:32px;font:16px/1.5 Georgia,serif;color:#2b2620">
<h1 style="font-size:24px;margin:0 0 16px">Your order is on its way</h1>
<p>Hello,</p><p>your order 1042 left our warehouse today and will be with you on Thursday.</p>
<p><a href="https://shop.example/orders/1042" style="display:inline-block;padding:12px 20px;background:#6b3f2a;color:#fff;text-decoration:none;border-radius:4px">Follow your order</a></p>
<p>Wool &amp; Sons</p></td></tr></table></td></tr></table></body></html>
--part--
`;

export const URGENT = `Received: from out7.sender.example by relay.sender.example with ESMTP;
 Sat, 21 Nov 2026 09:46:12 +0000
Received: from worker3.internal (unknown [10.0.0.3])
 by out7.sender.example with ESMTP; Sat, 21 Nov 2026 09:46:10 +0000
From: Acme Shop <news@acme.example>
To: you@example.net
Subject: LAST CHANCE!!! EVERYTHING MUST GO
Date: Sat, 21 Nov 2026 09:46:09 +0000
Message-ID: <1@localhost>
Precedence: bulk
MIME-Version: 1.0
Content-Type: text/html; charset=utf-8

<html><body bgcolor="#ffe9c7"><center>
<h1><font color="#c4161c">LAST CHANCE!!!</font></h1>
<img src="https://img.acme.example/sale.gif" width="480" height="220">
<p>Dear {{first_name}}, everything must go. <a href="https://acme.example/autumn">Buy now</a> or see
<a href="https://acme.example/old-offer">www.big-shop.example</a>.</p>
<script>document.title = 'x'</script>
</center></body></html>
`;

export const NEWSLETTER = `Received: from app.shop.example (app.shop.example [10.0.0.9])
 by mail.shop.example with ESMTPS; Sat, 21 Nov 2026 09:59:30 +0000
From: Wool & Sons <news@shop.example>
To: Reader <reader@example.net>
Subject: =?utf-8?Q?Scarves_for_November_=E2=80=93_knitted_in_Wales?=
Date: Sat, 21 Nov 2026 09:59:29 +0000
Message-ID: <20261121.n11@shop.example>
List-Unsubscribe: <https://shop.example/unsubscribe/8231>, <mailto:leave@shop.example>
List-Unsubscribe-Post: List-Unsubscribe=One-Click
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="outer"

--outer
Content-Type: multipart/related; boundary="related"

--related
Content-Type: multipart/alternative; boundary="part"

--part
Content-Type: text/plain; charset=utf-8

Scarves for November

Three new scarves, knitted in Wales: https://shop.example/scarves
Gloves to go with them: https://shop.example/gloves

You get this because you asked for it: https://shop.example/unsubscribe/8231
--part
Content-Type: text/html; charset=utf-8

<!doctype html><html lang="en"><body style="margin:0;background:#efeae4">
<table role="presentation" width="100%"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="600" style="max-width:100%;background:#fff">
<tr><td><img src="cid:banner@shop.example" alt="Scarves in red and violet" width="600" style="width:100%;height:auto;display:block"></td></tr>
<tr><td style="padding:28px;font:16px/1.6 Georgia,serif;color:#2b2620">
<h1 style="font-size:26px;margin:0 0 12px">Scarves for November</h1>
<p>Three new scarves, knitted in Wales, and gloves to go with them.</p>
<table role="presentation" width="100%"><tr>
<td width="50%"><img src="https://img.shop.example/scarf.jpg" alt="A red scarf" width="250" height="150"></td>
<td width="50%"><img src="https://img.shop.example/gloves.jpg" alt="Violet gloves" width="250" height="150"></td>
</tr></table>
<p><a href="https://shop.example/scarves">See the scarves</a> or <a href="https://shop.example/gloves">the gloves</a></p>
<p style="font-size:13px;color:#6b6257">You get this because you asked for it. <a href="https://shop.example/unsubscribe/8231">Unsubscribe</a></p>
<img src="https://shop.example/open/8231.gif" width="1" height="1" alt="">
</td></tr></table></td></tr></table></body></html>
--part--
--related
Content-Type: image/png
Content-ID: <banner@shop.example>
Content-Disposition: inline; filename="banner.png"
Content-Transfer-Encoding: base64

{banner}
--related--
--outer
Content-Type: application/pdf; name="size-guide.pdf"
Content-Disposition: attachment; filename="size-guide.pdf"
Content-Transfer-Encoding: base64

JVBERi0xLjQKJSBhIHNpemUgZ3VpZGUK
--outer--
`;

// Shared reports.

const CREATED = { created_at: '2026-11-21T10:05:00.000Z', expires_at: '2026-11-28T10:05:00.000Z' };

export const shareOf = (reports: Report[], changes: Partial<Share> = {}): Share => ({
  ...CREATED,
  title: null,
  preview: 'none',
  deletedTests: 0,
  reports: reports.map((report) => redactReport(report, [])),
  ...changes,
});

/** Good, bad, a newsletter and one without a score; another test was deleted. */
export async function campaignShare(): Promise<Share> {
  const reports = await Promise.all([
    goodReport(),
    badReport(),
    newsletterReport(),
    unscoredReport(),
  ]);
  return shareOf(reports, { title: 'Autumn campaign: before and after', deletedTests: 1 });
}

/** By default, as many reports as a shared link may contain. */
export async function largeShare(count = 100): Promise<Share> {
  const { reports } = await campaignShare();
  const all = Array.from({ length: count }, (_, index) => ({
    ...reports[index % reports.length]!,
    name: `Test ${index + 1}`,
  }));
  return shareOf(all);
}

/** Replaces every text of a report. */
export function filledWith(text: string, report: Report): Report {
  const fill = (value: unknown, key = ''): unknown => {
    if (['id', 'status', 'category', 'received_at', 'completed_at'].includes(key)) return value;
    if (typeof value === 'string') return text;
    if (Array.isArray(value)) return value.map((item) => fill(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([k, item]) => [k, fill(item, k)]));
  };
  return { ...(fill(report) as Report), score: report.score, grade: report.grade };
}
