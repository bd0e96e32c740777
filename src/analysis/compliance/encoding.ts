/** `encoding`: undeclared 8-bit, bare CR or LF, NUL, lines that are no fields, and what passes a limit. */

import { type Check, fail, pass, rfc, warn } from '../check.ts';
import { encodingProblems } from './encoding-problems.ts';

export const encoding: Check = {
  id: 'encoding',
  category: 'compliance',
  points: 1,
  label: 'Encoding',
  reference: rfc(5322, '2.1'),
  run({ raw, message }) {
    const { nul, bareCr, bareLf, eightBitHeader, eightBitBody } = message.lines;
    const evidence = {
      nul,
      bare_cr: bareCr,
      bare_lf: bareLf,
      eight_bit_header: eightBitHeader,
      eight_bit_body: eightBitBody,
      limits: message.limits,
    };
    const problems = encodingProblems(raw, message);
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
