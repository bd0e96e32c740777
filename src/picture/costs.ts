/**
 * What costs a sender most. The headline of a domain names the problem that stands first here, and every source takes the
 * state of its statements from this table, so they cannot contradict one another.
 */

/** Above all warnings: `fail` means that mail is refused, lands in spam, or is about to. */
export const COSTS = [
  // Outlook refuses all mail from a blocked address.
  { id: 'address_blocked', state: 'fail', cost: 100 },
  // Receivers reject mail of your own senders, or move it to spam, because DMARC fails.
  { id: 'own_mail_stopped', state: 'fail', cost: 95 },
  // Receivers reject a large part of the mail now, whatever the cause.
  { id: 'mail_rejected', state: 'fail', cost: 90 },
  // From this limit of spam reports on, Gmail moves more and more mail to spam, and gives no support.
  { id: 'spam_rate_high', state: 'fail', cost: 85 },
  // Receivers distrust own mail that fails DMARC, and reject it with a strict policy.
  { id: 'dmarc_fails', state: 'fail', cost: 80 },
  // The mail is delivered, but most recipients do not see it.
  { id: 'lands_in_spam', state: 'fail', cost: 75 },
  // Large mailbox providers reject mail from addresses and domains on major blocklists.
  { id: 'blocklisted', state: 'fail', cost: 70 },
  // Outlook treats more than 90% of the mail from the address as spam.
  { id: 'address_red', state: 'fail', cost: 68 },
  // SPF, DKIM or the DMARC record fails: bulk mail needs all three.
  { id: 'authentication_broken', state: 'fail', cost: 65 },
  // Receivers reject servers without valid reverse DNS, or mail that arrives without TLS.
  { id: 'server_setup', state: 'fail', cost: 62 },
  // Google enforces its requirements for bulk senders step by step.
  { id: 'requirement_unmet', state: 'fail', cost: 60 },
  // What a message contains makes receivers reject it or move it to spam.
  { id: 'message_refused', state: 'fail', cost: 58 },
  // Recipients who cannot unsubscribe report mail as spam.
  { id: 'unsubscribe_missing', state: 'fail', cost: 55 },
  // Replies and bounces are lost, and some receivers reject such senders.
  { id: 'cannot_receive', state: 'fail', cost: 52 },
  // Other critical findings about the DNS of the domain.
  { id: 'domain_critical', state: 'fail', cost: 50 },
  // Google asks for less.
  { id: 'spam_rate_rising', state: 'warn', cost: 45 },
  // Receivers reject or delay a small part of the mail.
  { id: 'some_mail_rejected', state: 'warn', cost: 42 },
  // A part of the own mail fails DMARC, and is still delivered.
  { id: 'senders_misconfigured', state: 'warn', cost: 40 },
  // Some recipients do not see the mail.
  { id: 'some_land_in_spam', state: 'warn', cost: 38 },
  // Outlook treats 10% to 90% of the mail from the address as spam.
  { id: 'address_yellow', state: 'warn', cost: 35 },
  // Smaller blocklists raise spam scores.
  { id: 'listed_minor', state: 'warn', cost: 32 },
  // Authentication works for most mail, or only just.
  { id: 'authentication_weak', state: 'warn', cost: 30 },
  // Reverse DNS, TLS or the mail servers have a weakness.
  { id: 'setup_weak', state: 'warn', cost: 25 },
  // The content has weaknesses that spam filters count.
  { id: 'message_weak', state: 'warn', cost: 20 },
  // An optional record is broken.
  { id: 'record_weak', state: 'warn', cost: 15 },
  // Without the report, messages and senders are missing from the figures.
  { id: 'report_refused', state: 'warn', cost: 12 },
  // Without its verification record, the domain is not checked each day.
  { id: 'not_verified', state: 'warn', cost: 10 },
] as const satisfies { id: string; state: 'fail' | 'warn'; cost: number }[];

export type IssueId = (typeof COSTS)[number]['id'];

const BY_ID = new Map<IssueId, (typeof COSTS)[number]>(COSTS.map((issue) => [issue.id, issue]));

export const issueOf = (id: IssueId): (typeof COSTS)[number] => BY_ID.get(id)!;
