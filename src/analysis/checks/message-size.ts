/** `message_size`: the message is light enough to be taken and loaded quickly. */

import { type Check, fail, pass, rfc, warn } from '../check.ts';
import type { Part } from '../mime/message.ts';

/** Octets of the whole message as sent. */
const WARN_OCTETS = 1_000_000;
const FAIL_OCTETS = 10_000_000;

const megabytes = (octets: number): string => `${(octets / 1_000_000).toFixed(1)} MB`;

export const messageSize: Check = {
  id: 'message_size',
  category: 'content',
  points: 1,
  label: 'Message size',
  issueTitle: 'The message is large',
  reference: rfc(1870),
  publicEvidence: {
    octets: 'shown',
    largest_parts: { type: 'shown', filename: 'file-name', octets: 'shown' },
  },
  run({ message }) {
    const { size } = message;
    const largest = message.parts.toSorted((a, b) => b.size - a.size).slice(0, 3);
    const evidence = { octets: size, largest_parts: largest.map(describePart) };
    const fix =
      'Put large files on a server and link to them, and scale images to the size that they are shown at.';
    if (size > FAIL_OCTETS)
      return fail({
        title: `Your message is ${megabytes(size)}.`,
        detail: `Many receivers refuse mail of more than ${megabytes(FAIL_OCTETS)}.`,
        fix,
        evidence,
      });
    if (size > WARN_OCTETS)
      return warn({
        title: `Your message is ${megabytes(size)}.`,
        detail: `More than ${megabytes(WARN_OCTETS)} loads slowly on a phone, and some receivers delay or refuse it.`,
        fix,
        evidence,
      });
    return pass(
      `Your message is ${Math.ceil(size / 1000).toLocaleString('en')} kB.`,
      'That is light enough for every receiver.',
      evidence,
    );
  },
};

const describePart = (part: Part) => ({
  type: part.type,
  filename: part.filename?.slice(0, 200) ?? null,
  octets: part.size,
});
