/** `feedback_id`: the identifiers by which Gmail's feedback loop counts complaints. */

import { type Check, info, skipped } from '../check.ts';
import { fields } from '../mime/message.ts';

/** In characters. */
const MAX_SHOWN = 300;

/** Informational: only large senders need it, and it does not reveal the kind of mail. */
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
    const feedbackIds = fields(message, 'feedback-id');
    const value = feedbackIds[0]?.value;
    if (value === undefined)
      return skipped(
        'Your message has no Feedback-ID field.',
        'Only large senders need it. With it, Gmail Postmaster Tools shows which campaigns recipients report as spam.',
      );
    const parts = value.split(':').map((part) => part.trim());
    const sender = (parts.at(-1) ?? '').slice(0, MAX_SHOWN);
    // A single part may be any identifier, so only a value in the sender's position is public.
    const evidence = {
      feedback_id: value.slice(0, MAX_SHOWN),
      sender: parts.length > 1 ? sender : null,
      fields: feedbackIds.length,
    };
    // Up to three identifiers of the sender's choice, then the constant sender identifier.
    if (parts.length > 4 || sender === '')
      return info(
        'Your Feedback-ID does not have the format that Gmail reads.',
        'Gmail expects up to three identifiers of your choice, then the identifier of the sender: "campaign:customer:mailtype:sender".',
        evidence,
      );
    return info(
      `Your Feedback-ID names ${sender} as the sender.`,
      'Gmail Postmaster Tools shows spam reports for each of its parts, if you send many messages signed with DKIM.',
      evidence,
    );
  },
};
