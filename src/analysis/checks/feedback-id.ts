/** `feedback_id`: what Gmail's feedback loop would count complaints by. */

import { type Check, info, skipped } from '../check.ts';
import { fields } from '../mime/message.ts';

/** Characters of what the sender wrote. */
const MAX_SHOWN = 300;

/** Told alone: it is of use to large senders only, and says nothing about the kind of mail. */
export const feedbackId: Check = {
  id: 'feedback_id',
  category: 'compliance',
  points: 0,
  label: 'Feedback-ID',
  reference: {
    name: 'Gmail: Feedback Loop',
    url: 'https://support.google.com/a/answer/6254652',
  },
  publicEvidence: { feedback_id: 'left-out', sender: 'shown', fields: 'shown' },
  run({ message }) {
    const found = fields(message, 'feedback-id');
    const value = found[0]?.value;
    if (value === undefined)
      return skipped(
        'Your message has no Feedback-ID field.',
        'It is of use to large senders alone, who see by it in Gmail’s Postmaster Tools which of their campaigns are reported as spam.',
      );
    const parts = value.split(':').map((part) => part.trim());
    const sender = (parts.at(-1) ?? '').slice(0, MAX_SHOWN);
    // A single part may be any identifier: public is what has the place of the sender.
    const evidence = {
      feedback_id: value.slice(0, MAX_SHOWN),
      sender: parts.length > 1 ? sender : null,
      fields: found.length,
    };
    // Up to three identifiers of the sender's choice, then the one that is always the same.
    if (parts.length > 4 || sender === '')
      return info(
        'Your Feedback-ID is not of the form that Gmail reads.',
        'It asks for up to three identifiers of your own and, last, the sender’s: "campaign:customer:mailtype:sender".',
        evidence,
      );
    return info(
      `Your Feedback-ID names ${sender} as the sender.`,
      'Gmail counts spam reports by its parts, in Postmaster Tools, for mail that is signed by DKIM and sent in numbers.',
      evidence,
    );
  },
};
