/** `encoding`: undeclared 8-bit, bare CR or LF, NUL, lines that are no fields, and what passes a limit. */

import { isUtf8 } from 'node:buffer';
import { type Check, fail, pass, rfc, warn } from '../check.ts';
import type { Message, Part } from '../mime/message.ts';

export const encoding: Check = {
  id: 'encoding',
  category: 'compliance',
  points: 1,
  label: 'Encoding',
  issueTitle: 'Bytes or lines that the standards do not allow',
  reference: rfc(5322, '2.1'),
  publicEvidence: {
    nul: 'shown',
    bare_cr: 'shown',
    bare_lf: 'shown',
    eight_bit_header: 'shown',
    eight_bit_body: 'shown',
    limits: 'shown',
    eight_bit_fields: 'field-name',
  },
  // The line of the header is quoted in the detail and is no part of the evidence.
  publicTexts: [
    {
      matches: '".*" has no field name(?= before a colon\\.)',
      replacement: 'The line has no field name',
    },
  ],
  run({ raw, message }) {
    const { nul, bareCr, bareLf, eightBitHeader, eightBitBody } = message.lines;
    const eightBit = findEightBit(raw, message);
    const evidence = {
      nul,
      bare_cr: bareCr,
      bare_lf: bareLf,
      eight_bit_header: eightBitHeader,
      eight_bit_body: eightBitBody,
      limits: message.limits,
      eight_bit_fields: eightBit.headerFields
        .slice(0, MAX_QUOTED)
        .filter((name) => name !== NO_FIELD),
    };
    const problems = encodingProblems(message, eightBit);
    const [worst, ...others] = problems;
    if (!worst)
      return pass(
        'Every line and octet of your message is as the standards ask.',
        'Lines end in CRLF, and what is not ASCII is declared.',
        evidence,
      );
    return (worst.status === 'fail' ? fail : warn)({
      title: worst.title,
      detail: [worst.detail, ...others.map(({ title }) => title)].join(' '),
      fix: [...new Set(problems.map(({ fix }) => fix))].join(' '),
      evidence,
    });
  },
};

/** How many fields the title names. */
const MAX_QUOTED = 5;
const NO_FIELD = '(a line that is no field)';

// The faults that `encoding` reports, each with its own sentence, the gravest first.

interface EncodingProblem {
  status: 'warn' | 'fail';
  title: string;
  detail: string;
  fix: string;
}

/** All faults of one message; an empty list where every line and octet is as it should be. */
function encodingProblems(message: Message, eightBit: EightBit): EncodingProblem[] {
  const problems = [
    ...limitProblems(message),
    ...lineProblems(message),
    ...bodyProblems(eightBit),
    ...fieldProblems(message),
    ...headerProblems(message, eightBit),
  ];
  return [
    ...problems.filter(({ status }) => status === 'fail'),
    ...problems.filter(({ status }) => status === 'warn'),
  ];
}

function limitProblems({ limits }: Message): EncodingProblem[] {
  if (limits.length === 0) return [];
  return [
    {
      status: 'fail',
      title: `Your message has ${limits.join('; ')}.`,
      detail: 'That is far beyond ordinary mail: filters stop looking at it and many refuse it.',
      fix: 'Send a message of fewer and simpler parts; look for a loop in the program that builds it.',
    },
  ];
}

function lineProblems({ lines }: Message): EncodingProblem[] {
  const found: [number, string, string, string][] = [
    [
      lines.nul,
      'NUL octets',
      'They are never allowed in mail; servers cut the message there or refuse it.',
      'Send binary content as base64 and remove NUL octets from the text.',
    ],
    [
      lines.bareCr,
      'CR characters without LF',
      'Servers disagree on what they mean, which attackers use to smuggle mail; many refuse it.',
      'End every line with CRLF and nothing else.',
    ],
    [
      lines.bareLf,
      'lines that end in LF without CR',
      'Servers disagree on what they mean, which attackers use to smuggle mail; Gmail and others refuse it.',
      'End every line with CRLF and nothing else.',
    ],
  ];
  return found
    .filter(([count]) => count > 0)
    .map(([count, what, detail, fix]) => ({
      status: 'fail',
      title: `Your message has ${what} (${count.toLocaleString('en')}).`,
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
      detail: `${eightBit.undeclaredEncoding.toLocaleString('en')} octets are above 127, but the part's Content-Transfer-Encoding is not 8bit or binary. A server that may pass on 7 bits only will damage them.`,
      fix: 'Encode the part as quoted-printable and say so: "Content-Transfer-Encoding: quoted-printable".',
    });
  if (eightBit.undeclaredCharset > 0)
    problems.push({
      status: 'fail',
      title: 'Your message has text in a character set that it does not name.',
      detail: 'Without a name readers guess, and show the wrong characters.',
      fix: 'Add the character set to the part: "Content-Type: text/plain; charset=utf-8".',
    });
  if (eightBit.outsideParts > 0)
    problems.push({
      status: 'warn',
      title: 'Your message has 8-bit characters between its parts or in their headers.',
      detail: 'Nothing there can declare them, so readers guess.',
      fix: "Encode file names by RFC 2231 (filename*=utf-8''caf%C3%A9.pdf) and leave the space between parts to plain ASCII.",
    });
  return problems;
}

function fieldProblems({ headers }: Message): EncodingProblem[] {
  const malformed = headers.find(({ name }) => name === '');
  if (!malformed) return [];
  return [
    {
      status: 'warn',
      title: 'Your message has a line in its header that is no header field.',
      detail: `"${malformed.value.slice(0, 80)}" has no field name before a colon. Some servers take it for the start of the body.`,
      fix: 'Remove the line, or begin it with a space if it continues the field above.',
    },
  ];
}

function headerProblems(message: Message, eightBit: EightBit): EncodingProblem[] {
  const { headerFields, headerIsUtf8 } = eightBit;
  // An address beyond ASCII can only be sent with SMTPUTF8, which allows UTF-8 in every field.
  const needsUtf8 = message.from.some(({ address }) => /[^\x00-\x7f]/.test(address));
  if (headerFields.length === 0 || (headerIsUtf8 && needsUtf8)) return [];
  const names = headerFields.slice(0, MAX_QUOTED).join(', ');
  return [
    {
      status: headerIsUtf8 ? 'warn' : 'fail',
      title: `Your header has ${headerIsUtf8 ? 'raw UTF-8' : '8-bit characters of an unknown set'} in ${names}.`,
      detail: headerIsUtf8
        ? 'Only mail sent with SMTPUTF8 may have it; other servers may damage or refuse it.'
        : 'A header may only have ASCII, or UTF-8 in mail sent with SMTPUTF8. Readers will show the wrong characters.',
      fix: 'Write such text as encoded words, as in "Subject: =?utf-8?Q?Caf=C3=A9?=".',
    },
  ];
}

// Octets above 127 that nothing in the message declares (RFC 2045 §2.7, §6.2; RFC 6532).

interface EightBit {
  /** Header fields with such octets, by name; each once. */
  headerFields: string[];
  /** Whether those fields are UTF-8, as mail with SMTPUTF8 may have them. */
  headerIsUtf8: boolean;
  /** Octets in parts that declare no 8bit or binary encoding. */
  undeclaredEncoding: number;
  /** Octets in text parts that declare such an encoding but no character set. */
  undeclaredCharset: number;
  /** Octets in the body outside every part: before the first, between them, in their headers. */
  outsideParts: number;
}

/** Counts them over the message as it came; a message of 7-bit octets alone is not read again. */
function findEightBit(raw: Uint8Array, message: Message): EightBit {
  const found: EightBit = {
    headerFields: [],
    headerIsUtf8: true,
    undeclaredEncoding: 0,
    undeclaredCharset: 0,
    outsideParts: 0,
  };
  if (message.lines.eightBitHeader > 0) readHeader(raw, message, found);
  if (message.lines.eightBitBody > 0) readBody(raw, message, found);
  return found;
}

function readHeader(raw: Uint8Array, message: Message, found: EightBit): void {
  const affected = message.headers.filter((field) => /[\x80-\xff]/.test(field.raw));
  const names = affected.map(({ name }) => name || NO_FIELD);
  found.headerFields = [...new Set(names)];
  found.headerIsUtf8 = isUtf8(raw.subarray(0, message.headerBytes));
}

function readBody(raw: Uint8Array, message: Message, found: EightBit): void {
  let inParts = 0;
  for (const part of message.parts) {
    const count = countEightBit(raw.subarray(part.start, part.end));
    inParts += count;
    if (!declaresEightBit(part)) found.undeclaredEncoding += count;
    else if (part.type.startsWith('text/') && part.charset === null)
      found.undeclaredCharset += count;
  }
  // Beyond a limit the rest was not divided into parts, so nothing can be said of it.
  if (message.limits.length === 0) found.outsideParts = message.lines.eightBitBody - inParts;
}

const declaresEightBit = (part: Part): boolean =>
  part.encoding === '8bit' || part.encoding === 'binary';

function countEightBit(octets: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < octets.length; i++) if (octets[i]! >= 0x80) count++;
  return count;
}
