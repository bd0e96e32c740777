/** `message_size`: the message is small enough to be accepted and to load quickly. */

import { formatSize } from '../../lib/durations.ts';
import { type Check, fail, pass, rfc, warn } from '../check.ts';
import type { Part } from '../mime/message.ts';

/** Octets of the whole message as sent. */
const MAX_OCTETS_TO_PASS = 1_000_000;
const MAX_OCTETS_TO_WARN = 10_000_000;

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
      'Put large files on a server and link to them. Scale images to the size at which they are shown.';
    if (size > MAX_OCTETS_TO_WARN)
      return fail({
        title: `Your message is too large (${formatSize(size)}).`,
        detail: 'Many mail servers reject messages over 10 MB.',
        fix,
        evidence,
      });
    if (size > MAX_OCTETS_TO_PASS)
      return warn({
        title: `Your message is large (${formatSize(size)}).`,
        detail:
          'Messages over 1 MB load slowly on phones, and some mail servers delay or reject them.',
        fix,
        evidence,
      });
    return pass(
      `Your message is small enough (${Math.ceil(size / 1000).toLocaleString('en')} KB).`,
      'All mailbox providers accept messages of this size.',
      evidence,
    );
  },
};

const describePart = (part: Part) => ({
  type: part.type,
  filename: part.filename?.slice(0, 200) ?? null,
  octets: part.size,
});
