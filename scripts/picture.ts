/** Draws docs/check.svg: the real terminal output of `check` for a message with problems. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check } from '../src/commands/check/check.ts';
import type { Io } from '../src/commands/command.ts';
import { startDnsServer } from '../test/helpers/dns-server.ts';
import { makeKey, signMessage } from '../test/helpers/signer.ts';

const WIDTH = 92;

/** A newsletter that only the email service signs, sent by an address that SPF does not allow. */
async function exampleMessage(
  now: Date,
): Promise<{ raw: Buffer; zone: Parameters<typeof startDnsServer>[0] }> {
  const key = makeKey('rsa1024');
  const raw = [
    'From: Acme Shop <news@acme.example>',
    'To: you@example.net',
    'Subject: Autumn has arrived at Acme',
    `Date: ${now.toUTCString().replace('GMT', '+0000')}`,
    'Message-ID: <20261121.1@acme.example>',
    'MIME-Version: 1.0',
    'Content-Type: text/html; charset=utf-8',
    '',
    '<p>Autumn has arrived. So have our new scarves.</p>',
    '',
  ].join('\r\n');
  const zone = {
    'acme.example': {
      A: ['192.0.2.80'],
      MX: ['10 mx.acme.example'],
      TXT: ['v=spf1 include:spf.sender.example ~all'],
    },
    'mx.acme.example': { A: ['192.0.2.81'] },
    'spf.sender.example': { TXT: ['v=spf1 ip4:203.0.113.0/25 -all'] },
    '_dmarc.acme.example': { TXT: ['v=DMARC1; p=none'] },
    's1._domainkey.sender.example': { TXT: [key.record] },
    'out7.sender.example': { A: ['203.0.113.200'] },
    '200.113.0.203.in-addr.arpa': { PTR: ['out7.sender.example'] },
  };
  return { raw: await signMessage(raw, { domain: 'sender.example', selector: 's1', key }), zone };
}

async function runCheck(): Promise<string> {
  const { raw, zone } = await exampleMessage(new Date());
  const dns = await startDnsServer(zone);
  const folder = mkdtempSync(join(tmpdir(), 'picture-'));
  const file = join(folder, 'newsletter.eml');
  writeFileSync(file, raw);
  let out = '';
  const io: Io = {
    env: {},
    stdin: async () => new Uint8Array(),
    ask: async () => null,
    stdout: (text) => {
      out += text;
    },
    stderr: (text) => void process.stderr.write(text),
    status: () => {},
    useColor: true,
    isStderrTerminal: false,
    width: WIDTH,
    program: 'deliverability',
    interrupted: new Promise(() => {}),
  };
  const server = `${dns.address.host}:${dns.address.port}`;
  await check.run(
    [
      file,
      '--ip',
      '203.0.113.200',
      '--helo',
      'out7.sender.example',
      '--mail-from',
      'bounce@acme.example',
      '--tls',
      'TLSv1.3',
      '--dns',
      server,
    ],
    io,
  );
  await dns.close();
  rmSync(folder, { recursive: true });
  return `$ deliverability check newsletter.eml --ip 203.0.113.200 --helo out7.sender.example …\n\n${out}`;
}

const COLORS: Record<string, string> = {
  31: '#ff7b72',
  32: '#56d364',
  33: '#e3b341',
  34: '#79c0ff',
  36: '#76e3ea',
};
const LINE = 19;
const CHARACTER = 8.43;

/** Terminal text with color codes as SVG, one `tspan` for each style run. */
function toSvg(text: string): string {
  const lines = text.trimEnd().split('\n');
  const rows = lines.map((line, i) => `<text x="16" y="${34 + i * LINE}">${toSpans(line)}</text>`);
  const width = Math.ceil(WIDTH * CHARACTER) + 32;
  const height = lines.length * LINE + 44;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="Output of deliverability check">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#e6edf3" xml:space="preserve">
${rows.join('\n')}
</g>
</svg>
`;
}

function toSpans(line: string): string {
  const escapeXml = (part: string) => part.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
  const style = { color: '', bold: false, dim: false };
  return line
    .split(/\u001b\[([\d;]+)m/)
    .map((part, i) => {
      if (i % 2 === 1) {
        for (const code of part.split(';')) apply(style, code);
        return '';
      }
      if (part === '') return '';
      const attributes = [
        style.color && `fill="${style.color}"`,
        style.bold && 'font-weight="bold"',
        style.dim && 'fill-opacity="0.6"',
      ].filter(Boolean);
      return `<tspan ${attributes.join(' ')}>${escapeXml(part)}</tspan>`;
    })
    .join('');
}

function apply(style: { color: string; bold: boolean; dim: boolean }, code: string): void {
  if (code === '1') style.bold = true;
  else if (code === '2') style.dim = true;
  else if (code === '22') Object.assign(style, { bold: false, dim: false });
  else if (code === '39') style.color = '';
  else if (COLORS[code]) style.color = COLORS[code];
}

const text = await runCheck();
process.stdout.write(text);
writeFileSync(fileURLToPath(new URL('../docs/check.svg', import.meta.url)), toSvg(text));
