/** A flawless newsletter with its DNS records and delivery, into which tests plant defects. */

import { analyze } from '../../../src/analysis/analyze.ts';
import type { Envelope, Setup } from '../../../src/analysis/check.ts';
import { NO_SETUP } from '../../../src/analysis/context.ts';
import type { AnalysisResult } from '../../../src/analysis/result.ts';
import type { RecordType } from '../../../src/net/dns/resolver.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import type { WebResult } from '../../../src/net/http/web.ts';
import { RECEIVED_AT } from '../../helpers/analysis.ts';
import { blocklistZone, workingLists } from '../../helpers/blocklists.ts';
import { makeKey, type SignOptions, signMessage } from '../../helpers/signer.ts';

export const KEY = makeKey();
/** Not a documentation address, because blocklists are never queried for those. Nothing connects to it. */
export const CLIENT = '203.0.114.7';

/** DNS records by name. */
export type Records = Record<string, Partial<Record<RecordType, string[]>>>;

export interface World {
  /** null omits a field; an array repeats it for each value. */
  fields: Record<string, string | string[] | null>;
  text: string;
  html: string;
  /** Additional MIME parts, each with its header. */
  attachments: string[];
  /** Changes the whole message before it is signed; lines end with LF. */
  edit(message: string): string;
  sign: Partial<SignOptions> & { domain: string; selector: string };
  /** Changes the signed message in transit. */
  transport(signed: Buffer): Buffer;
  zone: Records;
  envelope: Envelope;
  web(url: string): number;
  setup: Partial<Setup>;
}

const FIELDS: World['fields'] = {
  From: 'Example Shop <news@example.com>',
  To: 'Reader <reader@example.net>',
  Subject: 'Three ways to keep your bread fresh',
  Date: 'Sat, 21 Nov 2026 09:59:58 +0000',
  'Message-ID': '<20261121.bread@example.com>',
  'List-Unsubscribe': '<https://example.com/u/4711>, <mailto:leave@example.com>',
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  'MIME-Version': '1.0',
};

const SENTENCES = [
  'Bread that is kept in a linen bag stays fresh for three days, because the cloth lets the crust breathe.',
  'Bread that is sliced and frozen on the day of baking tastes like new after two minutes in the toaster.',
  'Bread that has gone hard makes the best dumplings, and our recipe for them takes half an hour.',
];

const TEXT = `Three ways to keep your bread fresh

${SENTENCES.join('\n\n')}

Read on: https://example.com/bread

You get this letter because you asked for it. Unsubscribe: https://example.com/u/4711
`;

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Three ways to keep your bread fresh</title>
</head>
<body style="margin:0;background-color:#ffffff;color:#222222">
<div style="display:none;max-height:0">Linen, frost and dumplings: what keeps and what to do with the rest.</div>
<h1>Three ways to keep your bread fresh</h1>
<img src="https://example.com/bread.png" alt="A loaf on a linen cloth" width="560" height="240">
${SENTENCES.map((sentence) => `<p>${sentence}</p>`).join('\n')}
<p><a href="https://example.com/bread">Read on</a></p>
<p>You get this letter because you asked for it. <a href="https://example.com/u/4711">Unsubscribe</a></p>
</body>
</html>
`;

export function cleanWorld(): World {
  return {
    fields: { ...FIELDS },
    text: TEXT,
    html: HTML,
    attachments: [],
    edit: (message) => message,
    sign: { domain: 'example.com', selector: 's1', key: KEY },
    transport: (signed) => signed,
    zone: { ...(blocklistZone() as Records), ...cleanZone() },
    envelope: {
      mail_from: 'bounce@bounce.example.com',
      client_ip: CLIENT,
      helo: 'mail.example.com',
      tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
    },
    web: () => 200,
    setup: { blocklists: workingLists(), checkLinks: true },
  };
}

/** The From domain, the MAIL FROM domain, and the server with separate names for PTR and HELO. */
export function cleanZone(): Records {
  return {
    'example.com': { A: ['203.0.114.80'], MX: ['10 in.example.com'], TXT: ['v=spf1 mx -all'] },
    'in.example.com': { A: ['203.0.114.25'] },
    'bounce.example.com': {
      A: ['203.0.114.81'],
      MX: ['10 in.example.com'],
      TXT: [`v=spf1 ip4:${CLIENT} -all`],
    },
    'mail.example.com': { A: [CLIENT], TXT: ['v=spf1 a -all'] },
    'out.example.com': { A: [CLIENT] },
    '7.114.0.203.in-addr.arpa': { PTR: ['out.example.com'] },
    's1._domainkey.example.com': { TXT: [KEY.record] },
    '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@example.com'] },
  };
}

/** The message as received. */
export async function messageOf(world: World): Promise<Buffer> {
  const signed = await signMessage(world.edit(compose(world)), {
    headerList: [
      'From',
      'To',
      'Subject',
      'Date',
      'Message-ID',
      'MIME-Version',
      'Content-Type',
      'List-Unsubscribe',
      'List-Unsubscribe-Post',
    ],
    key: KEY,
    ...world.sign,
  });
  return world.transport(signed);
}

function compose({ fields, text, html, attachments }: World): string {
  const header = Object.entries(fields).flatMap(([name, value]) =>
    (value === null ? [] : [value].flat()).map((one) => `${name}: ${one}\n`),
  );
  const part = (type: string, body: string) =>
    `--a\nContent-Type: ${type}; charset=utf-8\n\n${body}\n`;
  const alternative = `${part('text/plain', text)}${part('text/html', html)}--a--\n`;
  if (attachments.length === 0)
    return `${header.join('')}Content-Type: multipart/alternative; boundary=a\n\n${alternative}`;
  const others = attachments.map((one) => `--m\n${one}\n`).join('');
  return `${header.join('')}Content-Type: multipart/mixed; boundary=m\n\n--m\nContent-Type: multipart/alternative; boundary=a\n\n${alternative}\n${others}--m--\n`;
}

/** Analyzes the message of a world. Throws if a check throws. */
export async function analyzeWorld(world: World): Promise<AnalysisResult> {
  const raw = await messageOf(world);
  const { envelope, setup } = world;
  return analyze(
    { raw, envelope, receivedAt: RECEIVED_AT, kind: 'auto' },
    {
      resolver: zoneResolver(world.zone),
      web: async ({ url }): Promise<WebResult> => ({
        status: 'answered',
        code: world.web(url),
        headers: {},
        body: new Uint8Array(),
      }),
      setup: { ...NO_SETUP, ...setup },
      onFault(id, error) {
        throw new Error(`${id} threw`, { cause: error });
      },
    },
  );
}

// A defect and the check that must find it.

export interface Defect {
  /** The id of the check. */
  check: string;
  /** What is wrong, in a few words. */
  name: string;
  /** The expected status; `fail` by default. */
  status?: 'warn' | 'fail';
  /** Changes the clean world. */
  plant(world: World): void;
}
