/** The reasons that Google names for mail that it rejects or delays. */

import { type ErrorRate, SPAM_GOAL_TEXT } from '../figures/gmail.ts';

interface ErrorReason {
  /** Follows “because of”; null if Google does not say what it is. */
  name: string | null;
  fix: string;
}

const OTHER: ErrorReason = {
  name: null,
  fix: 'Check Gmail’s replies in the log of your mail server: they name the cause.',
};

const REJECT: Record<string, ErrorReason> = {
  bad_attachment: {
    name: 'blocked attachments',
    fix: 'Do not attach files of types that Gmail blocks: link to them instead.',
  },
  bad_or_missing_ptr_record: {
    name: 'bad or missing reverse DNS',
    fix: 'Give each sending address a PTR record whose name resolves back to the address.',
  },
  ip_in_rbls: {
    name: 'blocklists',
    fix: 'Find out which blocklists have your addresses, stop the cause, and ask for removal.',
  },
  low_domain_reputation: {
    name: 'low domain reputation',
    fix: `Send less, and only to recipients who open your mail, until the spam rate is below ${SPAM_GOAL_TEXT}.`,
  },
  low_ip_reputation: {
    name: 'low IP reputation',
    fix: 'Send less from the address, and only to recipients who open your mail, until rejections end.',
  },
  spammy_content: {
    name: 'spammy content',
    fix: 'Test the message, and fix what the report says about its content and links.',
  },
  stamp_policy_error: {
    name: 'DMARC',
    fix: 'Sign all mail with DKIM as your domain: Gmail applies your DMARC policy to what fails.',
  },
};

const TEMP_FAIL: Record<string, ErrorReason> = {
  anomalous_traffic_pattern: {
    name: 'unusual traffic',
    fix: 'Send at an even rate, and raise the volume slowly over days.',
  },
};

export function explainError(type: ErrorRate['type'], reason: string): ErrorReason {
  const reasons = type === 'reject' ? REJECT : TEMP_FAIL;
  return Object.hasOwn(reasons, reason) ? reasons[reason]! : OTHER;
}
