/** The requirements of Google for senders, and which checks of this service are about the same thing. */

export interface Requirement {
  /** As it begins a sentence or a row. */
  name: string;
  /** IDs of checks of messages and domains about the same thing, the most important first. Empty: no check can tell. */
  checks: string[];
}

/** By the names that Google uses. */
export const REQUIREMENTS: Record<string, Requirement> = {
  SPF: { name: 'SPF', checks: ['spf', 'spf_record'] },
  DKIM: { name: 'DKIM', checks: ['dkim', 'dkim_selector'] },
  SPF_AND_DKIM: { name: 'SPF and DKIM', checks: ['spf', 'dkim', 'spf_record', 'dkim_selector'] },
  DMARC_POLICY: { name: 'DMARC record', checks: ['dmarc_record', 'dmarc_policy'] },
  DMARC_ALIGNMENT: {
    name: 'DMARC alignment',
    checks: ['dmarc', 'dkim_alignment', 'spf_alignment'],
  },
  MESSAGE_FORMATTING: {
    name: 'Message formatting',
    checks: ['from', 'header_duplicates', 'message_id', 'date', 'line_length', 'encoding'],
  },
  DNS_RECORDS: { name: 'Forward and reverse DNS', checks: ['ptr', 'fcrdns'] },
  ENCRYPTION: { name: 'TLS encryption', checks: ['tls'] },
  USER_REPORTED_SPAM_RATE: { name: 'User-reported spam rate', checks: [] },
  ONE_CLICK_UNSUBSCRIBE: {
    name: 'One-click unsubscribe',
    checks: ['one_click', 'one_click_signed', 'list_unsubscribe'],
  },
  HONOR_UNSUBSCRIBE: { name: 'Unsubscribe requests honored', checks: [] },
};

/** For requirements that Google has added since, the name that it uses. */
export const requirementName = (id: string): string =>
  Object.hasOwn(REQUIREMENTS, id)
    ? REQUIREMENTS[id]!.name
    : id
        .toLowerCase()
        .replaceAll('_', ' ')
        .replace(/^./, (letter) => letter.toUpperCase());

export const checksOfRequirement = (id: string): string[] =>
  Object.hasOwn(REQUIREMENTS, id) ? REQUIREMENTS[id]!.checks : [];
