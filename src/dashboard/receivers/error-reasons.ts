/** The reasons that Google gives for delivery errors, in words, and what to do about each. */

interface Reason {
  name: string;
  fix: string;
}

/** By the names that Google uses. */
const REASONS: Record<string, Reason> = {
  bad_attachment: {
    name: 'Attachment type that Gmail blocks',
    fix: 'Link to files instead of attaching programs, scripts or encrypted archives.',
  },
  bad_or_missing_ptr_record: {
    name: 'Reverse DNS (PTR) missing or wrong',
    fix: 'Give each sending address a PTR record whose name resolves back to the address.',
  },
  ip_in_rbls: {
    name: 'Sending address on a blocklist',
    fix: 'Run a blocklist monitor on your addresses, stop the cause, then ask for removal.',
  },
  low_domain_reputation: {
    name: 'Low reputation of the domain',
    fix: 'Send less, and only to recipients who open your mail, until the spam rate is below 0.1%.',
  },
  low_ip_reputation: {
    name: 'Low reputation of a sending address',
    fix: 'Send less from that address. On a shared address, ask the sending service about it.',
  },
  spammy_content: {
    name: 'Content that looks like spam',
    fix: 'Test the message here, and fix what its report says about content and links.',
  },
  stamp_policy_error: {
    name: 'DMARC policy of the domain',
    fix: 'Sign with DKIM as the domain of the From address, or send through an aligned SPF domain.',
  },
  anomalous_traffic_pattern: {
    name: 'Unusual amount of mail',
    fix: 'Raise the amount gradually and spread it over the day.',
  },
};

const OTHER: Reason = {
  name: 'Other reasons',
  fix: 'Look for replies from Google in the log of your mail server.',
};

/** For reasons that Google has added since, the name that it uses. */
export function errorReason(id: string): Reason {
  if (Object.hasOwn(REASONS, id)) return REASONS[id]!;
  return id === 'other' ? OTHER : { ...OTHER, name: id.replaceAll('_', ' ') };
}
