/**
 * Messages with a file that some email client opens although the MIME around it is broken: every trick with
 * every kind of file. The tricks follow public studies of how email clients disagree.
 */

import { compoundFile, sevenZip, windowsProgram, zip } from '../../helpers/archives.ts';

interface Payload {
  name: string;
  bytes: Buffer;
  /** Whether its bytes show what it is, so that its name is not needed. */
  shows: boolean;
}

/** The test virus, in two pieces, so that this file does not contain it. */
export const TEST_VIRUS = [
  'X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-',
  'ANTIVIRUS-TEST-FILE!$H+H*',
].join('');

export const PAYLOADS: Record<string, Payload> = {
  'a program': { name: 'update.exe', bytes: windowsProgram(), shows: true },
  'an archive with a program': {
    name: 'files.zip',
    bytes: zip({ name: 'update.exe', content: 'MZ and more' }),
    shows: true,
  },
  'a script': {
    name: 'report.js',
    bytes: Buffer.from('var shell = new ActiveXObject("WScript.Shell");\r\nshell.Run("calc");\r\n'),
    shows: false,
  },
  'a document with macros': {
    name: 'letter.docm',
    bytes: zip({ name: '[Content_Types].xml' }, { name: 'word/vbaProject.bin', content: 'macro' }),
    shows: true,
  },
  'the test virus': { name: 'eicar.com', bytes: Buffer.from(TEST_VIRUS), shows: true },
  'an old document with macros': {
    name: 'old.doc',
    bytes: compoundFile('_VBA_PROJECT'),
    shows: true,
  },
  'an encrypted archive': { name: 'a.7z', bytes: sevenZip('170606f1070100'), shows: true },
};

const base64 = (bytes: Buffer, width = 76): string =>
  bytes.toString('base64').replace(new RegExp(`.{${width}}`, 'g'), '$&\n');
const quoted = (bytes: Buffer): string =>
  [...bytes]
    .map((octet) => `=${octet.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('')
    .replace(/.{72}/g, '$&=\n');

function uuencoded({ name, bytes }: Payload, first = `begin 644 ${name}`): string {
  const char = (value: number) => String.fromCharCode(value === 0 ? 96 : value + 32);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 45) {
    const slice = bytes.subarray(at, at + 45);
    let line = char(slice.length);
    for (let i = 0; i < slice.length; i += 3) {
      const [a, b, c] = [slice[i]!, slice[i + 1] ?? 0, slice[i + 2] ?? 0];
      line += char(a >> 2) + char(((a & 3) << 4) | (b >> 4));
      line += char(((b & 15) << 2) | (c >> 6)) + char(c & 63);
    }
    lines.push(line);
  }
  return [first, ...lines, '`', 'end'].join('\n');
}

function yenc({ name, bytes }: Payload): string {
  const body = [...bytes].map((octet) => {
    const value = (octet + 42) & 255;
    return [0, 10, 13, 61].includes(value)
      ? `=${String.fromCharCode((value + 64) & 255)}`
      : String.fromCharCode(value);
  });
  return `=ybegin line=128 size=${bytes.length} name=${name}\n${body.join('')}\n=yend size=${bytes.length}`;
}

/** A winmail.dat with one attachment ([MS-OXTNEF]). */
function tnef({ name, bytes }: Payload): Buffer {
  const attribute = (id: number, data: Buffer) => {
    const head = Buffer.alloc(9);
    head[0] = 2;
    head.writeUInt32LE(id, 1);
    head.writeUInt32LE(data.length, 5);
    return Buffer.concat([head, data, Buffer.alloc(2)]);
  };
  return Buffer.concat([
    Buffer.from('789f3e220100', 'hex'),
    attribute(0x00018010, Buffer.from(`${name}\0`)),
    attribute(0x0006800f, bytes),
  ]);
}

const HEADER = [
  'From: Example Ltd <news@example.com>',
  'To: Reader <reader@example.net>',
  'Subject: Your order has shipped',
  'Date: Sat, 21 Nov 2026 09:59:58 +0000',
  'Message-ID: <20261121.1@example.com>',
];
const MIME = [...HEADER, 'MIME-Version: 1.0'];
const TEXT = '--b\nContent-Type: text/plain; charset=utf-8\n\nHello\n';

/** A message with a text and these parts. */
const mixed = (parts: string, type = 'multipart/mixed; boundary=b', end = '--b--\n'): string =>
  `${[...MIME, `Content-Type: ${type}`].join('\n')}\n\n${TEXT}${parts}\n${end}`;

const part = (fields: string[], body: string): string => `--b\n${fields.join('\n')}\n\n${body}`;
const OCTETS = 'Content-Type: application/octet-stream';
const BASE64 = 'Content-Transfer-Encoding: base64';
const attached = (name: string): string => `Content-Disposition: attachment; filename="${name}"`;

/** The file in base64 with these fields instead of the usual ones. */
const withFields =
  (...fields: ((payload: Payload) => string)[]) =>
  (payload: Payload) =>
    mixed(
      part(
        fields.map((field) => field(payload)),
        base64(payload.bytes),
      ),
    );
const always = (text: string) => () => text;
/** The file with its name only in this field. */
const named = (field: (name: string) => string) =>
  withFields(
    always('Content-Type: application/octet-stream'),
    ({ name }) => field(name),
    always(BASE64),
  );
/** A part that shows no name, with this transfer encoding and body. */
const unnamed =
  (encoding: string | null, body: (bytes: Buffer) => string, type = 'text/plain') =>
  ({ bytes }: Payload) =>
    mixed(
      part(
        [
          `Content-Type: ${type}`,
          ...(encoding === null ? [] : [`Content-Transfer-Encoding:${encoding && ` ${encoding}`}`]),
        ],
        body(bytes),
      ),
    );
/** The usual part, in a multipart with this boundary parameter and these delimiters. */
const bounded =
  (type: string, open: string, close: string) =>
  ({ name, bytes }: Payload) =>
    `${[...MIME, `Content-Type: ${type}`].join('\n')}\n\n${open}\n${OCTETS}\n${attached(name)}\n${BASE64}\n\n${base64(bytes)}\n${close}\n`;

interface Trick {
  make(payload: Payload): string;
  /** What a finding says about the trick. */
  says: RegExp;
  /** The file is found by its name, so every kind of file is found. */
  byName?: boolean;
}

const trick = (make: Trick['make'], says: RegExp, byName = true): Trick => ({ make, says, byName });
const byContent = (make: Trick['make'], says: RegExp) => trick(make, says, false);
const encodedWord = (name: string) => `=?utf-8?B?${Buffer.from(name).toString('base64')}?=`;

/** By name. */
export const TRICKS: Record<string, Trick> = {
  'no trick': trick(named(attached), /is of type|contains|encrypted|EICAR|macros/),
  'encoding base-64': byContent(unnamed('base-64', base64), /unknown transfer encoding/),
  'encoding x-uuencode without name': byContent(
    ({ bytes }) =>
      unnamed('x-uuencode', () => uuencoded({ name: '', bytes, shows: true }))({
        name: '',
        bytes,
        shows: true,
      }),
    /unknown transfer encoding/,
  ),
  'encoding 8-bit': byContent(unnamed('8-bit', base64), /unknown transfer encoding/),
  'empty encoding': byContent(unnamed('', base64), /unknown transfer encoding/),
  'no encoding': byContent(unnamed(null, base64), /in some email clients/),
  'encoding 7bit for base64': byContent(unnamed('7bit', base64), /in some email clients/),
  'encoding with a comment': trick(
    withFields(
      always(OCTETS),
      ({ name }) => attached(name),
      always('Content-Transfer-Encoding: (a) base64 (b)'),
    ),
    /encoding with a comment/,
  ),
  'encoding with other text': byContent(
    unnamed('base64 utf-8', base64),
    /unknown transfer encoding|encoding with/,
  ),
  'encoding in quotation marks': byContent(
    unnamed('"base64"', base64),
    /encoding with a comment, quotation/,
  ),
  'quoted-printable for base64': byContent(
    unnamed('quoted-printable', base64),
    /in some email clients|invalid sequence/,
  ),
  'base64 for quoted-printable': byContent(
    unnamed('base64', quoted),
    /base64 for content that is not|invalid/,
  ),
  'base64 for a plain file': byContent(
    unnamed('base64', () => TEST_VIRUS),
    /base64 for content that is not|invalid/,
  ),
  'two encodings': trick(
    withFields(
      always(OCTETS),
      ({ name }) => attached(name),
      always('Content-Transfer-Encoding: 7bit'),
      always(BASE64),
    ),
    /repeats a MIME field/,
  ),
  'two encodings, the other way': byContent(
    ({ bytes }) =>
      mixed(
        part(
          ['Content-Type: text/plain', BASE64, 'Content-Transfer-Encoding: 7bit'],
          base64(bytes),
        ),
      ),
    /repeats a MIME field/,
  ),
  'quoted-printable base64': byContent(
    unnamed('base64', (bytes) => quoted(Buffer.from(base64(bytes)))),
    /base64 with invalid|not base64|in some email clients/,
  ),
  'base64 with junk': byContent(
    unnamed('7bit', (bytes) =>
      bytes.toString('base64').replace(/.{3}/g, '$&!').replace(/.{60}/g, '$&\n'),
    ),
    /in some email clients/,
  ),
  'base64 with padding in each group': byContent(
    unnamed('7bit', (bytes) =>
      [...bytes]
        .map((octet) => Buffer.from([octet]).toString('base64'))
        .join('')
        .replace(/.{76}/g, '$&\n'),
    ),
    /in some email clients/,
  ),
  'base64 in short lines': byContent(
    unnamed('7bit', (bytes) => base64(bytes, 1)),
    /in some email clients/,
  ),
  'base64 with spaces': byContent(
    unnamed('base64', (bytes) => base64(bytes, 4).replaceAll('\n', ' ').replace(/.{60}/g, '$&\n')),
    /base64 with invalid/,
  ),
  'uuencode in a text': trick(
    (payload) => mixed(part(['Content-Type: text/plain'], `See below.\n\n${uuencoded(payload)}`)),
    /encoded file within a text/,
  ),
  'uuencode with spaces': trick(
    (payload) =>
      mixed(
        part(
          ['Content-Type: text/plain'],
          `\n${uuencoded(payload, `begin  644   ${payload.name}`)}`,
        ),
      ),
    /encoded file within a text/,
  ),
  'uuencode as base64': trick(
    ({ name, bytes }) =>
      mixed(part(['Content-Type: text/plain'], `begin-base64 644 ${name}\n${base64(bytes)}\n====`)),
    /encoded file within a text/,
  ),
  yEnc: trick(
    (payload) =>
      mixed(part(['Content-Type: text/plain', 'Content-Transfer-Encoding: 8bit'], yenc(payload))),
    /encoded file within a text/,
  ),
  'no boundary': trick(bounded('multipart/mixed', '--b', '--b--'), /multipart without a boundary/),
  'another boundary': trick(
    bounded('multipart/mixed; boundary=other', '--b', '--b--'),
    /boundary that never occurs/,
  ),
  'two boundaries': trick(
    bounded('multipart/mixed; boundary=other; boundary=b', '--b', '--b--'),
    /repeated parameter/,
  ),
  'boundary in upper case': trick(
    bounded('multipart/mixed; boundary=ABC', '--abc', '--abc--'),
    /boundary that never occurs/,
  ),
  'long boundary': trick(
    bounded(
      `multipart/mixed; boundary="${'b'.repeat(90)}"`,
      `--${'b'.repeat(90)}`,
      `--${'b'.repeat(90)}--`,
    ),
    /boundary that is too long/,
  ),
  'encoded boundary': trick(
    bounded("multipart/mixed; boundary*=us-ascii''%62", '--b', '--b--'),
    /boundary that is too long, encoded/,
  ),
  'boundary with a comment': trick(
    bounded('multipart/mixed; boundary=(c)b', '--b', '--b--'),
    /comments in the parameters/,
  ),
  'boundary with an encoded word': trick(
    bounded('multipart/mixed; boundary="=?utf-8?Q?b?="', '--b', '--b--'),
    /encoded word|never occurs/,
  ),
  'boundary with a space': trick(
    bounded('multipart/mixed; boundary="b "', '--b', '--b--'),
    /boundary that is too long, encoded or has invalid/,
  ),
  'boundary after a colon': trick(
    bounded('multipart/mixed; boundary: b', '--b', '--b--'),
    /invalid parameter|without a boundary/,
  ),
  'unclosed quotation mark': trick(
    bounded('multipart/mixed; boundary="b', '--b', '--b--'),
    /invalid parameter/,
  ),
  'no closing boundary': trick(
    bounded('multipart/mixed; boundary=b', '--b', ''),
    /without its closing boundary/,
  ),
  'text after the boundary': trick(
    bounded('multipart/mixed; boundary=b', '--b\nContent-Type: text/plain\n\nHello\n--bx', '--b--'),
    /resembles a boundary/,
  ),
  'part before the first boundary': trick(
    ({ name, bytes }) =>
      `${[...MIME, 'Content-Type: multipart/mixed; boundary=b'].join('\n')}\n\n${OCTETS}\n${attached(name)}\n${BASE64}\n\n${base64(bytes)}\n${TEXT}--b--\n`,
    /before the first or after the last/,
  ),
  'part after the last boundary': trick(
    ({ name, bytes }) =>
      `${mixed('')}${part([OCTETS, attached(name), BASE64], base64(bytes))}\n--b--\n`,
    /before the first or after the last/,
  ),
  'nested with the same boundary': trick(
    ({ name, bytes }) =>
      mixed(
        `--b\nContent-Type: multipart/mixed; boundary=b\n\n${part([OCTETS, attached(name), BASE64], base64(bytes))}`,
      ),
    /same boundary/,
  ),
  'nested with a longer boundary': trick(
    ({ name, bytes }) =>
      mixed(
        `--b\nContent-Type: multipart/mixed; boundary=bb\n\n--bb\n${OCTETS}\n${attached(name)}\n${BASE64}\n\n${base64(bytes)}\n--bb--`,
      ),
    /begins like the one around it/,
  ),
  'encoded multipart': trick(
    ({ name, bytes }) =>
      `${[...MIME, BASE64, 'Content-Type: multipart/mixed; boundary=b'].join('\n')}\n\n${TEXT}${part([OCTETS, attached(name), BASE64], base64(bytes))}\n--b--\n`,
    /encoded multipart/,
  ),
  'multipart misspelt': trick(
    bounded('multipart / mixed; boundary=b', '--b', '--b--'),
    /invalid Content-Type/,
  ),
  'type is garbage': trick(bounded('=; boundary=b', '--b', '--b--'), /invalid Content-Type/),
  'two content types': trick(
    ({ name, bytes }) =>
      `${[...MIME, 'Content-Type: text/plain', 'Content-Type: multipart/mixed; boundary=b'].join('\n')}\n\n${part([OCTETS, attached(name), BASE64], base64(bytes))}\n--b--\n`,
    /repeats a MIME field/,
  ),
  'no MIME-Version': trick(
    ({ name, bytes }) =>
      `${[...HEADER, 'Content-Type: multipart/mixed; boundary=b'].join('\n')}\n\n${part([OCTETS, attached(name), BASE64], base64(bytes))}\n--b--\n`,
    /without a MIME-Version/,
  ),
  'an attached message': trick(
    ({ name, bytes }) =>
      mixed(
        part(
          ['Content-Type: message/rfc822'],
          `${HEADER.join('\n')}\nMIME-Version: 1.0\n${OCTETS}\n${attached(name)}\n${BASE64}\n\n${base64(bytes)}`,
        ),
      ),
    /is of type|contains|encrypted|EICAR|macros/,
  ),
  'an encoded attached message': trick(
    ({ name, bytes }) =>
      mixed(
        part(
          ['Content-Type: message/rfc822', BASE64],
          base64(
            Buffer.from(
              `${HEADER.join('\r\n')}\r\nMIME-Version: 1.0\r\n${OCTETS}\r\n${attached(name)}\r\n${BASE64}\r\n\r\n${bytes.toString('base64')}\r\n`,
            ),
          ),
        ),
      ),
    /encoded attached message/,
  ),
  'an attached message in an attached message': trick(
    ({ name, bytes }) =>
      mixed(
        part(['Content-Type: message/rfc822'], `Subject: a\n\n`) +
          part(
            ['Content-Type: message/rfc822'],
            `Subject: a\nMIME-Version: 1.0\nContent-Type: message/rfc822\n\nSubject: c\nMIME-Version: 1.0\n${OCTETS}\n${attached(name)}\n${BASE64}\n\n${base64(bytes)}`,
          ),
      ),
    /is of type|contains|encrypted|EICAR|macros/,
  ),
  'an .eml file': trick(
    ({ name, bytes }) =>
      mixed(
        part(
          ['Content-Type: application/octet-stream', attached('a.eml'), BASE64],
          base64(
            Buffer.from(
              `Subject: c\r\nMIME-Version: 1.0\r\n${OCTETS}\r\n${attached(name)}\r\n${BASE64}\r\n\r\n${bytes.toString('base64')}\r\n`,
            ),
          ),
        ),
      ),
    /is of type|contains|encrypted|EICAR|macros|opens as/,
  ),
  'a fragment': trick(
    ({ name, bytes }) =>
      mixed(
        part(
          ['Content-Type: message/partial; id=a; number=1; total=2'],
          `${OCTETS}\n${attached(name)}\n${BASE64}\n\n${base64(bytes)}`,
        ),
      ),
    /fragment/,
  ),
  'winmail.dat': trick(
    (payload) =>
      mixed(
        part(
          ['Content-Type: application/ms-tnef; name=winmail.dat', BASE64],
          base64(tnef(payload)),
        ),
      ),
    /in some email clients|which some email clients open as/,
  ),
  'two names': trick(
    withFields(
      ({ name }) => `Content-Type: application/octet-stream; name="${name}"`,
      always('Content-Disposition: attachment; filename="a.txt"'),
      always(BASE64),
    ),
    /two different names/,
  ),
  'two file names': trick(
    named((name) => `Content-Disposition: attachment; filename="a.txt"; filename="${name}"`),
    /repeated parameter/,
  ),
  'two dispositions': trick(
    withFields(
      always(OCTETS),
      always(attached('a.txt')),
      ({ name }) => attached(name),
      always(BASE64),
    ),
    /repeats a MIME field/,
  ),
  'name in pieces': trick(
    named(
      (name) =>
        `Content-Disposition: attachment; filename*0="${name.slice(0, 4)}"; filename*1="${name.slice(4)}"`,
    ),
    /split into numbered pieces/,
  ),
  'name in pieces in reverse': trick(
    named(
      (name) =>
        `Content-Disposition: attachment; filename*1="${name.slice(4)}"; filename*0="${name.slice(0, 4)}"`,
    ),
    /split into numbered pieces/,
  ),
  'percent-encoded name': trick(
    named(
      (name) =>
        `Content-Disposition: attachment; filename*=utf-8''${[...Buffer.from(name)].map((o) => `%${o.toString(16)}`).join('')}`,
    ),
    /encoded or split/,
  ),
  'encoded-word name': trick(
    named((name) => `Content-Disposition: attachment; filename="${encodedWord(name)}"`),
    /encoded word/,
  ),
  'name in two encoded words': trick(
    named(
      (name) =>
        `Content-Disposition: attachment; filename="${encodedWord(name.slice(0, 4))} ${encodedWord(name.slice(4))}"`,
    ),
    /encoded word/,
  ),
  'name with a comment': trick(
    named((name) => `Content-Disposition: attachment; filename=(a)${name}`),
    /comments in the parameters/,
  ),
  'name without closing quotation mark': trick(
    named((name) => `Content-Disposition: attachment; filename="${name}`),
    /invalid parameter/,
  ),
  'name with backslashes': trick(
    named((name) => `Content-Disposition: attachment; filename="${name.replace('.', '\\.')}"`),
    /is of type|contains|encrypted|EICAR|macros/,
  ),
  'name with a NUL': trick(
    named((name) => `Content-Disposition: attachment; filename="${name}\0.txt"`),
    /NUL/,
  ),
  'name after a bare CR': trick(
    named((name) => `X-A: b\rContent-Disposition: attachment; filename="${name}"`),
    /CR characters/,
  ),
  'name in a description': trick(
    withFields(
      always('Content-Type: application/octet-stream'),
      ({ name }) => `Content-Description: ${name}`,
      always(BASE64),
    ),
    /which some email clients open as|opens as|is an|is a |is the|contains|encrypted|macros/,
  ),
  'space before the colon': trick(
    withFields(
      always(OCTETS),
      ({ name }) => `Content-Disposition : attachment; filename="${name}"`,
      always(BASE64),
    ),
    /space before its colon/,
  ),
  'field without hyphen': trick(
    withFields(
      always(OCTETS),
      ({ name }) => `Content_Disposition: attachment; filename="${name}"`,
      always(BASE64),
    ),
    /misspelled/,
  ),
  'folded first field': trick(
    ({ name, bytes }) => mixed(`--b\n ${OCTETS}\n${attached(name)}\n${BASE64}\n\n${base64(bytes)}`),
    /folded incorrectly/,
  ),
  'fold with an empty line': trick(
    named((name) => `Content-Disposition: attachment;\n \t\n filename="${name}"`),
    /folded incorrectly/,
  ),
  'no empty line before the content': trick(
    ({ name, bytes }) => mixed(`--b\n${OCTETS}\n${attached(name)}\n${BASE64}\n${base64(bytes)}`),
    /without a colon/,
  ),
};

/** Every trick with every file that it can hide. */
export function hiddenAttachments(): { title: string; raw: Buffer; says: RegExp }[] {
  return Object.entries(TRICKS).flatMap(([trickName, { make, says, byName }]) =>
    Object.entries(PAYLOADS)
      // No program can tell a script by its content.
      .filter(([, { shows }]) => shows || byName)
      .map(([payloadName, payload]) => ({
        title: `${payloadName}: ${trickName}`,
        raw: Buffer.from(make(payload).replace(/\r?\n/g, '\r\n'), 'latin1'),
        says,
      })),
  );
}
