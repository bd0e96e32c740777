/** `encoding`: undeclared 8-bit text, bare CR or LF, NUL, invalid header lines, broken MIME, exceeded limits. */

import { isUtf8 } from 'node:buffer';
import { type Check, fail, pass, rfc, warn } from '../check.ts';
import { messageParts } from '../mime/attached-messages.ts';
import { DEVIATION_TEXTS } from '../mime/deviation-texts.ts';
import { type Deviation, findDeviations } from '../mime/deviations.ts';
import type { Message, Part } from '../mime/message.ts';

export const encoding: Check = {
  id: 'encoding',
  category: 'compliance',
  points: 1,
  label: 'Encoding',
  issueTitle: 'Bytes or lines that mail standards do not allow',
  reference: rfc(5322, '2.1'),
  publicEvidence: {
    nul: 'shown',
    bare_cr: 'shown',
    bare_lf: 'shown',
    eight_bit_header: 'shown',
    eight_bit_body: 'shown',
    limits: 'shown',
    eight_bit_fields: 'field-name',
    structure: { problem: 'shown', line: 'shown' },
  },
  // The detail quotes the header line, which is not in the evidence.
  publicTexts: [
    {
      matches: '".*" has no field name(?= before a colon\\.)',
      replacement: 'The line has no field name',
    },
  ],
  run(context) {
    const { raw, message } = context;
    const deviations = findDeviations(raw, context.fact(messageParts), message.headers);
    const { nul, bareCr, bareLf, eightBitHeader, eightBitBody } = message.lines;
    const eightBit = findEightBit(raw, message);
    const evidence = {
      nul,
      bare_cr: bareCr,
      bare_lf: bareLf,
      eight_bit_header: eightBitHeader,
      eight_bit_body: eightBitBody,
      limits: message.exceededLimits,
      eight_bit_fields: eightBit.headerFields
        .slice(0, MAX_QUOTED)
        .filter((name) => name !== NO_FIELD),
      structure: deviations.map(({ kind, at }) => ({
        problem: kind,
        line: context.lineInFile(lineOf(raw, at)),
      })),
    };
    const problems = encodingProblems(message, eightBit, deviations);
    const [worst, ...others] = problems;
    if (!worst)
      return pass(
        'The line endings and characters in your message follow the mail standards.',
        ['Lines end in CRLF, and non-ASCII text is declared.', ...notes(deviations)].join(' '),
        evidence,
      );
    return (worst.status === 'fail' ? fail : warn)({
      title: worst.title,
      detail: [worst.detail, ...others.map(({ title }) => title), ...notes(deviations)].join(' '),
      fix: [...new Set(problems.map(({ fix }) => fix))].join(' '),
      evidence,
    });
  },
};

/** The number of header fields that the title names. */
const MAX_QUOTED = 5;
const NO_FIELD = '(a line that is not a field)';

// The problems that `encoding` reports, the most serious first.

interface EncodingProblem {
  status: 'warn' | 'fail';
  title: string;
  detail: string;
  fix: string;
}

function encodingProblems(
  message: Message,
  eightBit: EightBit,
  deviations: Deviation[],
): EncodingProblem[] {
  const problems = [
    ...limitProblems(message),
    ...lineProblems(message),
    ...bodyProblems(eightBit),
    ...fieldProblems(message),
    ...headerProblems(message, eightBit),
    ...structureProblems(deviations, eightBit),
  ];
  return [
    ...problems.filter(({ status }) => status === 'fail'),
    ...problems.filter(({ status }) => status === 'warn'),
  ];
}

/** Broken MIME, without what another problem of this check says. */
function structureProblems(deviations: Deviation[], eightBit: EightBit): EncodingProblem[] {
  return deviations.flatMap(({ kind }) => {
    const { status, ...text } = DEVIATION_TEXTS[kind];
    const isRepeated = kind === 'charset_missing' && eightBit.undeclaredCharset > 0;
    return status === 'note' || isRepeated ? [] : [{ status, ...text }];
  });
}

const notes = (deviations: Deviation[]): string[] =>
  deviations
    .map(({ kind }) => DEVIATION_TEXTS[kind])
    .filter(({ status }) => status === 'note')
    .map(({ title }) => title);

function lineOf(raw: Uint8Array, at: number): number {
  let line = 1;
  for (let lf = raw.indexOf(0x0a); lf >= 0 && lf < at; lf = raw.indexOf(0x0a, lf + 1)) line += 1;
  return line;
}

function limitProblems({ exceededLimits }: Message): EncodingProblem[] {
  if (exceededLimits.length === 0) return [];
  return [
    {
      status: 'fail',
      title: `Your message has ${exceededLimits.join('; ')}.`,
      detail:
        'This is far more than normal mail has. Spam filters stop checking such messages, and many reject them.',
      fix: 'Send a message with fewer and simpler parts. Check for a loop in the program that builds it.',
    },
  ];
}

function lineProblems({ lines }: Message): EncodingProblem[] {
  const candidates: [number, string, string, string][] = [
    [
      lines.nul,
      'NUL bytes',
      'Messages must not contain them. Mail servers truncate the message there or reject it.',
      'Encode binary content as base64 and remove NUL bytes from the text.',
    ],
    [
      lines.bareCr,
      'CR characters without LF',
      'Mail servers interpret them differently, and attackers exploit this to send forged mail (SMTP smuggling). Many servers reject such messages.',
      'End every line with CRLF and nothing else.',
    ],
    [
      lines.bareLf,
      'lines that end in LF without CR',
      'Mail servers interpret them differently, and attackers exploit this to send forged mail (SMTP smuggling). Gmail and others reject such messages.',
      'End every line with CRLF and nothing else.',
    ],
  ];
  return candidates
    .filter(([count]) => count > 0)
    .map(([count, label, detail, fix]) => ({
      status: 'fail',
      title: `Your message has ${label} (${count.toLocaleString('en')}).`,
      detail,
      fix,
    }));
}

function bodyProblems(eightBit: EightBit): EncodingProblem[] {
  const problems: EncodingProblem[] = [];
  if (eightBit.undeclaredEncoding > 0)
    problems.push({
      status: 'fail',
      title: 'Your message has 8-bit text in a part that does not declare it.',
      detail: `${eightBit.undeclaredEncoding.toLocaleString('en')} bytes are above 127, but the part's Content-Transfer-Encoding is not 8bit or binary. A server that only supports 7-bit mail damages them.`,
      fix: 'Encode the part as quoted-printable and declare it: "Content-Transfer-Encoding: quoted-printable".',
    });
  if (eightBit.undeclaredCharset > 0)
    problems.push({
      status: 'fail',
      title: 'Your message has text in an undeclared character set.',
      detail: 'Email clients must guess the character set and may show the wrong characters.',
      fix: 'Declare the character set of the part: "Content-Type: text/plain; charset=utf-8".',
    });
  if (eightBit.outsideParts > 0)
    problems.push({
      status: 'warn',
      title: 'Your message has 8-bit characters between its parts or in their headers.',
      detail: 'Their encoding cannot be declared there, so email clients must guess it.',
      fix: "Encode file names as RFC 2231 specifies (filename*=utf-8''caf%C3%A9.pdf). Use only ASCII between the parts.",
    });
  return problems;
}

function fieldProblems({ headers }: Message): EncodingProblem[] {
  const malformed = headers.find(({ name }) => name === '');
  if (!malformed) return [];
  return [
    {
      status: 'warn',
      title: 'Your header has a line that is not a header field.',
      detail: `"${malformed.value.slice(0, 80)}" has no field name before a colon. Some mail servers treat it as the start of the body.`,
      fix: 'Remove the line. If it continues the field above, start it with a space.',
    },
  ];
}

function headerProblems(message: Message, eightBit: EightBit): EncodingProblem[] {
  const { headerFields, headerIsUtf8 } = eightBit;
  // A non-ASCII address can only be sent with SMTPUTF8, which allows UTF-8 in every field.
  const needsUtf8 = message.from.some(({ address }) => /[^\x00-\x7f]/.test(address));
  if (headerFields.length === 0 || (headerIsUtf8 && needsUtf8)) return [];
  const names = headerFields.slice(0, MAX_QUOTED).join(', ');
  return [
    {
      status: headerIsUtf8 ? 'warn' : 'fail',
      title: `Your header has ${headerIsUtf8 ? 'raw UTF-8' : '8-bit characters in an unknown encoding'} in ${names}.`,
      detail: headerIsUtf8
        ? 'Only mail sent with SMTPUTF8 may contain it. Other servers may damage or reject the message.'
        : 'A header may contain only ASCII, or UTF-8 in mail sent with SMTPUTF8. Email clients show the wrong characters.',
      fix: 'Write this text as encoded words, such as "Subject: =?utf-8?Q?Caf=C3=A9?=".',
    },
  ];
}

// Bytes above 127 that nothing in the message declares (RFC 2045 §2.7, §6.2; RFC 6532).

interface EightBit {
  /** Names of the header fields with such bytes, each once. */
  headerFields: string[];
  /** Whether the header is valid UTF-8, which SMTPUTF8 allows. */
  headerIsUtf8: boolean;
  /** Bytes in parts that declare no 8bit or binary encoding. */
  undeclaredEncoding: number;
  /** Bytes in text parts that declare such an encoding but no character set. */
  undeclaredCharset: number;
  /** Bytes in the body outside every part: before the first, between them, in their headers. */
  outsideParts: number;
}

/** Counts them in the raw message; skips the scan for a pure 7-bit message. */
function findEightBit(raw: Uint8Array, message: Message): EightBit {
  const result: EightBit = {
    headerFields: [],
    headerIsUtf8: true,
    undeclaredEncoding: 0,
    undeclaredCharset: 0,
    outsideParts: 0,
  };
  if (message.lines.eightBitHeader > 0) scanHeader(raw, message, result);
  if (message.lines.eightBitBody > 0) scanBody(raw, message, result);
  return result;
}

function scanHeader(raw: Uint8Array, message: Message, result: EightBit): void {
  const affected = message.headers.filter((field) => /[\x80-\xff]/.test(field.raw));
  const names = affected.map(({ name }) => name || NO_FIELD);
  result.headerFields = [...new Set(names)];
  result.headerIsUtf8 = isUtf8(raw.subarray(0, message.headerBytes));
}

function scanBody(raw: Uint8Array, message: Message, result: EightBit): void {
  let inParts = 0;
  for (const part of message.parts) {
    const count = countEightBit(raw.subarray(part.start, part.end));
    inParts += count;
    if (!declaresEightBit(part)) result.undeclaredEncoding += count;
    else if (part.type.startsWith('text/') && part.charset === null)
      result.undeclaredCharset += count;
  }
  // Beyond a parser limit, the rest was not split into parts, so the count would be wrong.
  if (message.exceededLimits.length === 0)
    result.outsideParts = message.lines.eightBitBody - inParts;
}

const declaresEightBit = (part: Part): boolean =>
  part.encoding === '8bit' || part.encoding === 'binary';

function countEightBit(bytes: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i]! >= 0x80) count++;
  return count;
}
