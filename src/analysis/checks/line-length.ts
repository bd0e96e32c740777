/** `line_length`: no line is longer than mail servers must accept. */

import { type Check, fail, pass, rfc } from '../check.ts';
import { MAX_LINE_OCTETS } from '../mime/message.ts';

/** Bytes of a line without its line break: the SHOULD limit of RFC 5322 §2.1.1. */
const RECOMMENDED_OCTETS = 78;

export const lineLength: Check = {
  id: 'line_length',
  category: 'compliance',
  points: 1,
  label: 'Line length',
  issueTitle: 'Lines are too long',
  reference: rfc(5322, '2.1.1'),
  publicEvidence: {
    longest: 'shown',
    line: 'shown',
    too_long: 'shown',
    lines: 'shown',
    recommended: 'shown',
  },
  run({ message, lineInFile }) {
    const { over998, longest, longestLine, count } = message.lines;
    const evidence = {
      longest,
      line: lineInFile(longestLine),
      too_long: over998,
      lines: count,
      recommended: RECOMMENDED_OCTETS,
    };
    if (over998 === 0)
      return pass(
        'No line in your message is too long.',
        `The longest line has ${longest.toLocaleString('en')} of the ${MAX_LINE_OCTETS} bytes allowed.`,
        evidence,
      );
    return fail({
      title:
        over998 === 1
          ? `Your message has a line of ${longest.toLocaleString('en')} bytes, over the limit of ${MAX_LINE_OCTETS}.`
          : `Your message has ${over998.toLocaleString('en')} lines over ${MAX_LINE_OCTETS} bytes, up to ${longest.toLocaleString('en')}.`,
      detail:
        'Mail servers may break or reject such lines. A line broken after signing breaks the DKIM signature.',
      fix:
        longestLine <= headerLines(message.headers)
          ? `Fold the header field in line ${lineInFile(longestLine)} into lines of at most ${RECOMMENDED_OCTETS} characters.`
          : 'Send the body as quoted-printable or base64, which keep lines at 76 characters.',
      evidence,
    });
  },
};

/** The number of lines in the header; `raw` excludes the final line break of a field. */
function headerLines(headers: { raw: string }[]): number {
  return headers.reduce((sum, { raw }) => sum + raw.split('\n').length, 0);
}
