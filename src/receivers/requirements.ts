/** The requirements of Google for senders, and which checks of this service are about the same thing. */

import { SPAM_GOAL_TEXT } from '../figures/gmail.ts';

export interface Requirement {
  /** As it begins a sentence or a row. */
  name: string;
  /** IDs of checks of messages and domains about the same thing, the most important first. Empty: no check can tell. */
  checks: string[];
  /** What to do if no check knows better. */
  advice: string;
}

/** By the names that Google uses. */
export const REQUIREMENTS: Record<string, Requirement> = {
  SPF: {
    name: 'SPF',
    checks: ['spf', 'spf_record'],
    advice: 'Publish an SPF record that lists every server and service that sends as the domain.',
  },
  DKIM: {
    name: 'DKIM',
    checks: ['dkim', 'dkim_selector'],
    advice: 'Sign every message with DKIM, with a key of at least 1024 bits that is in DNS.',
  },
  SPF_AND_DKIM: {
    name: 'SPF and DKIM',
    checks: ['spf', 'dkim', 'spf_record', 'dkim_selector'],
    advice: 'Publish an SPF record that lists every sender, and sign every message with DKIM.',
  },
  DMARC_POLICY: {
    name: 'DMARC record',
    checks: ['dmarc_record', 'dmarc_policy'],
    advice: 'Publish a DMARC record for the domain; p=none is enough.',
  },
  DMARC_ALIGNMENT: {
    name: 'DMARC alignment',
    checks: ['dmarc', 'dkim_alignment', 'spf_alignment'],
    advice: 'Sign with DKIM as the domain in From, or send with an envelope sender of that domain.',
  },
  MESSAGE_FORMATTING: {
    name: 'Message formatting',
    checks: ['from', 'header_duplicates', 'message_id', 'date', 'line_length', 'encoding'],
    advice: 'Send messages in the form of RFC 5322: one From, one Date and one Message-ID each.',
  },
  DNS_RECORDS: {
    name: 'Forward and reverse DNS',
    checks: ['ptr', 'fcrdns'],
    advice: 'Give each sending address a PTR record whose name resolves back to the address.',
  },
  ENCRYPTION: {
    name: 'TLS encryption',
    checks: ['tls'],
    advice: 'Turn on STARTTLS for outgoing mail on every server that sends for the domain.',
  },
  USER_REPORTED_SPAM_RATE: {
    name: 'User-reported spam rate',
    checks: [],
    advice: `Send only to recipients who asked for your mail. Send less until the spam rate stays below ${SPAM_GOAL_TEXT}.`,
  },
  ONE_CLICK_UNSUBSCRIBE: {
    name: 'One-click unsubscribe',
    checks: ['one_click', 'one_click_signed', 'list_unsubscribe'],
    advice:
      'Add List-Unsubscribe with an HTTPS link, and List-Unsubscribe-Post, to all marketing mail.',
  },
  HONOR_UNSUBSCRIBE: {
    name: 'Unsubscribe requests honored',
    checks: [],
    advice: 'Stop sending to recipients within 48 hours of their request to unsubscribe.',
  },
};

/** Only codes such as `UNSUBSCRIBE_REQUESTS_IGNORED` change. */
export const codeInWords = (code: string): string =>
  /^[A-Z_]+$/.test(code) ? code.charAt(0) + code.slice(1).toLowerCase().replaceAll('_', ' ') : code;

/** For requirements that Google has added since, the name that it uses. */
export const requirementName = (id: string): string =>
  Object.hasOwn(REQUIREMENTS, id) ? REQUIREMENTS[id]!.name : codeInWords(id);

export const checksOfRequirement = (id: string): string[] =>
  Object.hasOwn(REQUIREMENTS, id) ? REQUIREMENTS[id]!.checks : [];

export const adviceOnRequirement = (id: string): string =>
  Object.hasOwn(REQUIREMENTS, id)
    ? REQUIREMENTS[id]!.advice
    : 'Look at the compliance status in Google Postmaster Tools.';
