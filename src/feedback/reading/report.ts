/**
 * The shape of a report, declared once: readers return it, the database stores it, and the API and texts present it.
 * Counts are safe integers of zero or more. Times are milliseconds since the Unix epoch.
 */

export const REPORT_TYPES = ['dmarc', 'dmarc_failure', 'tls', 'complaint', 'bounce'] as const;
export type ReportType = (typeof REPORT_TYPES)[number];

/** What reading a message or a file returns: its reports and refusals, in the order of its parts. */
export type ReadItem = ReadReport | Refusal;

export interface ReadReport {
  ok: true;
  report: Report;
  /** What makes it the same report of a reporter as another: a hash. */
  identity: string;
  /** The same with the name in the report, which anyone can write. */
  fileIdentity: string;
  /** A hash of its figures, by which a copy is told from a conflict. */
  figures: string;
  /** Whether it is in an attached message, which the sender may only have passed on. */
  attached: boolean;
  /** What was repaired, and which values are invalid, as short phrases such as "angle brackets in an address". */
  repaired: string[];
}

/** What a refused report or its file name says about the report, as far as it was read. */
export interface AboutReport {
  domain: string | null;
  begin: number;
  end: number;
}

export interface Refusal {
  ok: false;
  reason: RefusalReason;
  /** The reason in a sentence, with what was found. */
  detail: string;
  /** As far as it was known. */
  type: ReportType | null;
  about?: Partial<AboutReport>;
  /** Whether the report is in an attached message. */
  attached?: boolean;
  /** Whether the message has a file, which could be a report in a new form. */
  hasFile?: boolean;
  /** A hash of the signed content, which identifies copies of the message. */
  digest?: string;
  /** What is kept of something that is no report: From, To, Subject and the first lines. */
  excerpt?: { from: string | null; to: string | null; subject: string | null; text: string };
}

export const REFUSAL_REASONS = {
  not_a_report: 'The message contains no report',
  unreadable: 'The report cannot be read',
  invalid: 'The report contradicts its format',
  too_large: 'The report is too large when unpacked',
  too_many: 'The file contains too many parts, rows or levels',
  forbidden_xml: 'The XML contains what reports must not contain',
  unsupported: 'The format is not supported',
  storage_full: 'No space is left for reports that do not count',
  foreign_domain: 'The report is about a domain that your team has not added',
} as const;
export type RefusalReason = keyof typeof REFUSAL_REASONS;

export type Report = DmarcReport | DmarcFailure | TlsReport | Complaint | BounceReport;

// DMARC aggregate reports (RFC 9990, RFC 7489 appendix C).

export interface DmarcReport {
  type: 'dmarc';
  /** `org_name`, in lower case; the domain of the sender if it is missing. */
  reporter: string;
  email: string | null;
  extraContact: string | null;
  reportId: string;
  /** The domain whose policy was applied, in A-labels; null if nothing in the report shows it. */
  domain: string | null;
  begin: number;
  end: number;
  /** Whether the report or its file name shows the period. */
  isDated: boolean;
  policy: DmarcPolicyPublished;
  errors: string[];
  generator: string | null;
  /** The rows with the most messages, at most 5,000, and the sums of the others by source. */
  rows: DmarcRow[];
  /** How many rows of the report the sums stand for; 0 if all are kept. */
  foldedRows: number;
  foldedMessages: number;
  /** Of all rows, by what happened to the messages. */
  totals: DmarcTotal[];
}

export interface DmarcTotal {
  outcome: DmarcEvaluation;
  disposition: Disposition;
  /** Whether the receiver names a reason why it did not apply the policy. */
  overridden: boolean;
  count: number;
}

export interface DmarcPolicyPublished {
  p: string | null;
  sp: string | null;
  np: string | null;
  adkim: string | null;
  aspf: string | null;
  pct: number | null;
  fo: string | null;
  testing: boolean | null;
  discoveryMethod: string | null;
}

export type DmarcEvaluation = 'pass' | 'fail';
/** `unknown`: the report has an invalid value. */
export const DISPOSITIONS = ['none', 'quarantine', 'reject', 'unknown'] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

export interface DmarcRow {
  /** A normalized IP address, or in a sum the key from `fold-rows.ts`. Null if the report has none. */
  address: string | null;
  count: number;
  disposition: Disposition;
  /** What the receiver evaluated: whether DKIM and SPF pass with alignment. */
  dkim: DmarcEvaluation;
  spf: DmarcEvaluation;
  /** `local_policy`, `mailing_list`, `trusted_forwarder`, `policy_test_mode`, `other` or what the report says. */
  reasons: { type: string; comment: string | null }[];
  headerFrom: string | null;
  envelopeFrom: string | null;
  envelopeTo: string | null;
  dkimResults: DkimAuthResult[];
  spfResults: SpfAuthResult[];
}

export interface DkimAuthResult {
  domain: string | null;
  selector: string | null;
  result: string;
  humanResult: string | null;
}

export interface SpfAuthResult {
  domain: string | null;
  scope: string | null;
  result: string;
  humanResult: string | null;
}

// SMTP TLS reports (RFC 8460).

export interface TlsReport {
  type: 'tls';
  /** `organization-name`, in lower case. */
  reporter: string;
  contact: string | null;
  reportId: string;
  begin: number;
  end: number;
  isDated: boolean;
  policies: TlsPolicy[];
}

export interface TlsPolicy {
  /** `tlsa`, `sts`, `no-policy-found` or what the report says. */
  policyType: string;
  policyString: string[];
  /** In A-labels; null if the report has none. */
  policyDomain: string | null;
  mxHosts: string[];
  succeeded: number;
  failed: number;
  failures: TlsFailure[];
}

export interface TlsFailure {
  /** As in RFC 8460 §4.3, such as `certificate-expired`. */
  resultType: string;
  sendingIp: string | null;
  receivingMx: string | null;
  receivingMxHelo: string | null;
  receivingIp: string | null;
  sessions: number;
  additionalInformation: string | null;
  reasonCode: string | null;
}

// One message: what is kept of it. Recipients are reduced to their domain.

export interface ReportedMessage {
  from: string | null;
  /** In A-labels. */
  fromDomain: string | null;
  /** At most 100 characters. */
  subject: string | null;
  date: number | null;
  /** Without angle brackets. */
  messageId: string | null;
  listId: string | null;
  feedbackId: string | null;
  /** Domains and selectors of its DKIM signatures. */
  dkim: { domain: string; selector: string | null }[];
  receivedHosts: string[];
}

/** RFC 9991, RFC 6591. */
export interface DmarcFailure {
  type: 'dmarc_failure';
  /** The domain of the sender of the report. */
  reporter: string;
  /** `Auth-Failure`, such as `dmarc` or `dkim`. */
  authFailure: string[];
  deliveryResult: string | null;
  identityAlignment: string[];
  sourceAddress: string | null;
  /** `Reported-Domain`, in A-labels; else that of the From address. */
  domain: string | null;
  reportedUri: string[];
  dkimDomain: string | null;
  dkimSelector: string | null;
  spfDns: string | null;
  arrivedAt: number | null;
  incidents: number;
  authenticationResults: string | null;
  recipientDomain: string | null;
  message: ReportedMessage;
  derived: string[];
}

/** RFC 5965. */
export interface Complaint {
  type: 'complaint';
  reporter: string;
  /** `abuse`, `fraud`, `virus`, `not-spam`, or what the report says. */
  kind: string;
  sourceAddress: string | null;
  arrivedAt: number | null;
  /** The domain that the message is from, in A-labels. */
  domain: string | null;
  recipientDomain: string | null;
  incidents: number;
  userAgent: string | null;
  message: ReportedMessage;
  /** The fields that come from the attached message, because the report has none. */
  derived: string[];
}

/** RFC 3464, RFC 6533: at least one recipient. */
export interface BounceReport {
  type: 'bounce';
  reporter: string;
  reportingServer: string | null;
  envelopeId: string | null;
  arrivedAt: number | null;
  /** The domain that the returned message is from, in A-labels. */
  domain: string | null;
  message: ReportedMessage;
  recipients: BouncedRecipient[];
}

/** With the word on pages, and the meaning in the API. `hasEvent`: `bounce.received` is for bounces on which the sender can act. */
export const CLASSES = {
  policy: {
    word: 'Policy',
    meaning: 'the server rejected the message for authentication, reputation or content',
    hasEvent: true,
  },
  hard: {
    word: 'Hard bounce',
    meaning: 'permanent, for a reason other than policy, such as an unknown mailbox',
    hasEvent: false,
  },
  soft: {
    word: 'Soft bounce',
    meaning: 'temporary, delayed, or a full mailbox',
    hasEvent: false,
  },
  unknown: {
    word: 'Unknown reason',
    meaning: 'permanent, and neither the reply nor its code says why',
    hasEvent: true,
  },
} as const;
export type BounceClass = keyof typeof CLASSES;
/** The most urgent ones first. */
export const BOUNCE_CLASSES = Object.keys(CLASSES) as BounceClass[];
/** A value for each class. */
export const byClass = <Value>(read: (one: BounceClass) => Value): Record<BounceClass, Value> =>
  Object.fromEntries(BOUNCE_CLASSES.map((one) => [one, read(one)])) as Record<BounceClass, Value>;
/** Classes with an event. */
export const ANNOUNCED_CLASSES = BOUNCE_CLASSES.filter((one) => CLASSES[one].hasEvent);

export interface BouncedRecipient {
  /** A hash of the address, which tells recipients apart; the address itself is not kept. */
  key: string;
  domain: string | null;
  /** `failed` or `delayed`; recipients with other actions are no bounces. */
  action: 'failed' | 'delayed';
  /** RFC 3463, such as `5.7.26`. */
  status: string | null;
  /** With addresses removed, at most 500 characters. */
  diagnostic: string | null;
  remoteServer: string | null;
  class: BounceClass;
}
