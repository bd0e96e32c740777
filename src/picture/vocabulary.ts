/** The words of the picture of a domain: its sources, their states, and what they can agree or disagree about. */

/** In the order of the page. */
export const SOURCES = ['dns', 'tests', 'placement', 'feedback', 'receivers'] as const;
export type SourceId = (typeof SOURCES)[number];

/** `unknown` is never fine. */
export const STATES = ['fail', 'warn', 'pass', 'unknown'] as const;
export type State = (typeof STATES)[number];

export const SOURCE_STATES = [...STATES, 'not_set_up'] as const;

/** What statements of different sources can agree or disagree about. */
export const TOPICS = [
  'spf',
  'dkim',
  // Whether mail passes DMARC.
  'dmarc',
  'dmarc_policy',
  // On the way to receivers, and on the way to the domain.
  'tls',
  'incoming_tls',
  'reverse_dns',
  'mail_servers',
  'blocklists',
  'rejections',
  'reputation',
  'spam_reports',
  'placement',
  'unsubscribe',
  'content',
  'bimi',
  'verification',
  // Whether reports of receivers were refused.
  'reports',
] as const;
export type Topic = (typeof TOPICS)[number];
