/** What each deviation means for email clients, and its fix. */

import type { DeviationKind } from './deviations.ts';

export interface DeviationText {
  /** `note`: common and mostly harmless, so it costs nothing. */
  status: 'fail' | 'warn' | 'note';
  title: string;
  detail: string;
  fix: string;
}

const DISAGREE = 'Email clients disagree about such a message, and malware hides this way.';
const USE_LIBRARY = 'Build the message with a maintained MIME library.';

const problem = (
  status: DeviationText['status'],
  title: string,
  fix: string = USE_LIBRARY,
  detail: string = DISAGREE,
): DeviationText => ({ status, title, detail, fix });

export const DEVIATION_TEXTS: Record<DeviationKind, DeviationText> = {
  encoding_unknown: problem(
    'fail',
    'Your message has a part with an unknown transfer encoding.',
    'Use 7bit, 8bit, quoted-printable or base64 as the Content-Transfer-Encoding.',
    'Email clients show such a part as it is, or guess its encoding.',
  ),
  encoding_syntax: problem(
    'warn',
    'Your message has a transfer encoding with a comment, quotation marks or other text.',
    'Write only the encoding: "Content-Transfer-Encoding: base64".',
  ),
  encoding_of_multipart: problem(
    'fail',
    'Your message has an encoded multipart or an encoded attached message.',
    'Encode the parts, not the multipart or message around them (RFC 2045 section 6.4).',
  ),
  field_repeated: problem(
    'fail',
    'Your message repeats a MIME field such as Content-Type in one header.',
    'Send each MIME field once.',
    'Some email clients use the first field, others the last one.',
  ),
  field_syntax: problem(
    'warn',
    'Your message has a misspelled MIME field, or one with a space before its colon.',
    'Write field names exactly, followed directly by a colon.',
  ),
  field_fold: problem(
    'warn',
    'Your message has a field that is folded incorrectly or contains NUL or CR.',
    'Fold fields with CRLF and a space, and put text on every line.',
  ),
  field_missing_end: problem(
    'warn',
    'Your message has a line without a colon in the header of a part.',
    'End the header of each part with an empty line.',
    'Some email clients treat the line as the start of the content.',
  ),
  mime_version: problem(
    'warn',
    'Your message uses MIME without a MIME-Version field.',
    'Add the field "MIME-Version: 1.0".',
    'Without it, an email client may show the message as plain text. Spam filters penalize it.',
  ),
  type_syntax: problem(
    'warn',
    'Your message has an invalid Content-Type or Content-Disposition.',
    'Write a type and subtype, such as "text/plain", and then the parameters.',
  ),
  parameter_syntax: problem(
    'warn',
    'Your message has a MIME field with an invalid parameter.',
    'Write parameters as name="value", separated by semicolons.',
  ),
  parameter_repeated: problem(
    'warn',
    'Your message has a MIME field with a repeated parameter.',
    'Send each parameter once.',
    'Some email clients use the first value, others the last one.',
  ),
  parameter_comment: problem(
    'warn',
    'Your message has comments in the parameters of a MIME field.',
    'Remove the text in parentheses.',
  ),
  parameter_encoded_word: problem(
    'note',
    'A file name or parameter is written as an encoded word.',
    'Encode file names as RFC 2231 specifies.',
    'The standards do not allow this, but most email clients decode it.',
  ),
  parameter_continued: problem(
    'note',
    'A parameter is encoded or split into numbered pieces (RFC 2231).',
    USE_LIBRARY,
    'Some older email clients show a wrong file name.',
  ),
  boundary_missing: problem(
    'fail',
    'Your message has a multipart without a boundary.',
    'Declare the boundary: multipart/mixed; boundary="…".',
    'Email clients show the parts as one text, or guess where each begins.',
  ),
  boundary_form: problem(
    'warn',
    'Your message has a boundary that is too long, encoded or has invalid characters.',
    'Use at most 70 letters and digits, and do not encode the boundary.',
  ),
  boundary_unused: problem(
    'fail',
    'Your message declares a boundary that never occurs.',
    'Begin each part with two hyphens and the declared boundary.',
    'Email clients show nothing, or the parts as one text.',
  ),
  boundary_unclosed: problem(
    'warn',
    'Your message has a multipart without its closing boundary.',
    'End the multipart with the boundary between two pairs of hyphens.',
    'The message looks truncated, so some programs and filters reject it.',
  ),
  boundary_shared: problem(
    'fail',
    'Your message has nested multiparts with the same boundary.',
    'Use a different boundary for each multipart.',
  ),
  boundary_prefix: problem(
    'warn',
    'Your message has a boundary that begins like the one around it.',
    'Make sure that no boundary is the beginning of another.',
    'Some email clients compare only the beginning, and split the message in the wrong place.',
  ),
  delimiter_altered: problem(
    'warn',
    'Your message has a line that resembles a boundary but has other text.',
    'Put nothing else on the line of a boundary.',
    'Some email clients begin a part there, and others do not.',
  ),
  delimiter_undeclared: problem(
    'warn',
    'Your message has a part after a boundary that it does not declare.',
    'Declare the boundary in the Content-Type of the multipart.',
  ),
  parts_outside: problem(
    'warn',
    'Your message has a part before the first or after the last boundary.',
    'Put all parts between the boundaries.',
    'The standards say to ignore this content, but some email clients show or open it.',
  ),
  base64_not: problem(
    'fail',
    'Your message declares base64 for content that is not base64.',
    'Encode the content, or declare the encoding that it has.',
    'Email clients show garbage, nothing, or the text as it is.',
  ),
  base64_invalid: problem(
    'warn',
    'Your message has base64 with invalid characters, padding or length.',
    'Encode each part as a whole, with padding only at its end.',
    'Some email clients stop at the first error, others skip it.',
  ),
  quoted_printable_invalid: problem(
    'warn',
    'Your message has an invalid sequence in quoted-printable text.',
    'Write an equals sign as "=3D" in quoted-printable text.',
    'Email clients show the sequence as it is, or remove characters.',
  ),
  charset_ascii: problem(
    'fail',
    'Your message declares US-ASCII for text with other characters.',
    'Declare the character set of the text, such as charset=utf-8.',
    'Email clients show wrong characters.',
  ),
  charset_invalid: problem(
    'fail',
    'Your message declares UTF-8 for text that is not valid UTF-8.',
    'Convert the text to UTF-8, or declare its character set.',
    'Email clients show wrong characters.',
  ),
  charset_unknown: problem(
    'warn',
    'Your message declares an unknown character set.',
    'Use charset=utf-8.',
    'Email clients guess the character set and may show wrong characters.',
  ),
  charset_missing: problem(
    'warn',
    'Your message has non-ASCII text without a declared character set.',
    'Declare the character set of the part: "Content-Type: text/plain; charset=utf-8".',
    'Email clients guess the character set and may show wrong characters.',
  ),
  names_disagree: problem(
    'warn',
    'Your message gives a file two different names.',
    'Use the same value for name in Content-Type and filename in Content-Disposition.',
    'Email clients differ in which name they use. Malware hides its extension this way.',
  ),
  name_characters: problem(
    'warn',
    'Your message has a file name with control or reserved characters.',
    'Use letters, digits, spaces, hyphens and dots in file names.',
    'Email clients change or truncate such a name.',
  ),
  message_partial: problem(
    'warn',
    'Your message is a fragment of a larger one (message/partial).',
    'Send the message as a whole.',
    'Scanners cannot inspect fragments, so many mail servers reject them.',
  ),
  message_external: problem(
    'warn',
    'Your message refers to content elsewhere (message/external-body).',
    'Attach the file, or link to it.',
    'Few email clients support this, and many mail servers reject it.',
  ),
  file_in_text: problem(
    'warn',
    'Your message has an encoded file within a text (uuencode, yEnc or BinHex).',
    'Attach the file as base64.',
    'Some email clients show it as an attachment, others as text.',
  ),
};
