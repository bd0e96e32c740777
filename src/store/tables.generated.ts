/** The rows of every table. Generated from schema.sql by `npm run generate`; do not edit. */

/** What the service keeps about itself, such as the proof that the secret key is still the same. */
export interface ServiceFactRow {
  name: string;
  value: string;
}

/** The team. Exactly one owner: never none (the code), never two (the index). */
export interface MemberRow {
  id: string;
  email: string;
  name: string;
  role: 'owner' | 'admin' | 'member' | 'viewer';
  joined_at: string;
  /** `scrypt$…`; null while none is set: such a member cannot sign in with one. */
  password_hash: string | null;
}

/** Keys are shown once; only their hash is kept, and a clear prefix to tell them apart. */
export interface ApiKeyRow {
  id: string;
  member_id: string;
  name: string;
  role: 'owner' | 'admin' | 'member' | 'viewer';
  livemode: number;
  hash: string;
  prefix: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

/** Signed-in browsers. Only the hash of what the cookie holds is kept. */
export interface SessionRow {
  id: string;
  member_id: string;
  hash: string;
  created_at: string;
  last_seen_at: string;
  /** The end however much it is used. */
  expires_at: string;
  ip: string | null;
  user_agent: string | null;
}

/** One way in for somebody new. At most one is open for an address. */
export interface InvitationRow {
  id: string;
  email: string;
  role: 'admin' | 'member' | 'viewer';
  hash: string;
  /** The member who invited; no reference: they may leave. */
  invited_by: string;
  created_at: string;
  expires_at: string;
  accepted_at: string | null;
  revoked_at: string | null;
  /** The mail that carries the link; null where outgoing mail is not configured. */
  mail_id: string | null;
}

/** Links of invitations that a newer one has replaced: whoever opens one is told so. */
export interface ReplacedInvitationLinkRow {
  hash: string;
  invitation_id: string;
}

/** Links to set a password, by e-mail or from the `owner` command; each works once. */
export interface PasswordLinkRow {
  hash: string;
  member_id: string;
  created_at: string;
  expires_at: string;
  used_at: string | null;
}

/** Who did what to which object. Nothing here is ever changed. */
export interface AuditRow {
  id: string;
  created_at: string;
  /** The e-mail address stays readable after the member has left; null for the service itself. */
  member_id: string | null;
  member_email: string | null;
  /** Through which key or session. */
  key_id: string | null;
  session_id: string | null;
  ip: string | null;
  /** `member.removed`, `test.deleted`, … */
  action: string;
  object_type: string;
  object_id: string;
  /** JSON: what changed; never a secret. */
  details: string;
}

/** Answers to POSTs that carried an Idempotency-Key, for 24 hours. */
export interface IdempotencyRow {
  /** Whose key it is: the API key, the session, or the hash of a link's token. */
  caller: string;
  key: string;
  /** Of operation, path, query, mode and body, encrypted: a body may hold a password. */
  request_hash: string;
  created_at: string;
  /** Null while the request is running. */
  status: number | null;
  /** Headers and body, encrypted: they may hold a secret that is shown once. */
  response: string | null;
}

/** Mail waiting to be sent, and what became of it. */
export interface OutboxRow {
  id: string;
  created_at: string;
  recipient: string;
  /** Subject, texts, headers and attachments, encrypted: they hold links. Null once it is over. */
  content: string | null;
  status: 'queued' | 'sent' | 'failed';
  attempts: number;
  due_at: string | null;
  lease: string | null;
  leased_until: string | null;
  sent_at: string | null;
  /** What the server said last, without addresses of links. */
  error: string | null;
  /** When what it says is true no longer, as when its link has run out: it is not sent after that. */
  useful_until: string | null;
  /** 1: there may be a lot of its kind, and other mail goes first. */
  bulk: number;
}

/** A test: an address that waits for one message, and what was found in it. */
export interface TestRow {
  id: string;
  /** The local part of the address, lower case. */
  token: string;
  livemode: number;
  name: string | null;
  kind: 'auto' | 'marketing' | 'transactional';
  metadata: string;
  status: 'waiting' | 'processing' | 'completed' | 'failed';
  failure_reason: 'not_received' | 'unreadable' | 'analysis_error' | null;
  created_at: string;
  expires_at: string;
  received_at: string | null;
  completed_at: string | null;
  from_address: string | null;
  from_domain: string | null;
  subject: string | null;
  message_size: number | null;
  spf: string | null;
  dkim: string | null;
  dmarc: string | null;
  score: number | null;
  grade: string | null;
  summary: string | null;
  coverage: number | null;
  ruleset: string | null;
  /** 1 where a submitted message had bare LF throughout and was given CRLF. */
  line_ends_converted: number;
  /** When the analysis is due; null while none is. Set on a completed test, it is a reanalysis. */
  analysis_due_at: string | null;
  analysis_attempts: number;
  /** Who analyses it now, and until when others leave it alone. */
  lease: string | null;
  leased_until: string | null;
  /** A live share keeps a test beyond the retention time. */
  keep_until: string | null;
  /** Score, grade, ruleset and time of the result before a reanalysis, as JSON. */
  previous: string | null;
  envelope: string | null;
  categories: string | null;
  cap: string | null;
  /** Name and subject in lower case, for the search. */
  search: string;
  /** The checks as the API answers them, as JSON; here, because it is large and lists do not read it. */
  checks: string | null;
  /** Marketing or transactional as it was judged, and the providers' verdicts, as JSON. */
  judged_kind: string | null;
  providers: string | null;
  /** Of the team's domains, that which is or holds the From domain; no reference: it may be deleted. */
  domain_id: string | null;
}

/** Messages as received; those to postmaster belong to no test. */
export interface MessageRow {
  id: string;
  test_id: string | null;
  recipient: string;
  sha256: string;
  size: number;
  envelope: string;
  received_at: string;
}

/**
 * The bytes, in pieces: one large value would stop the process while it is written. Pieces are
 * written before their message, so they refer to nothing; those without one are swept at start.
 */
export interface MessageChunkRow {
  message_id: string;
  position: number;
  bytes: Uint8Array;
}

/** What happened, each written in the transaction of the change that it reports. */
export interface EventRow {
  id: string;
  type: string;
  livemode: number;
  created_at: string;
  data: string;
}

/** Where events are delivered to. */
export interface WebhookEndpointRow {
  id: string;
  url: string;
  /** JSON: the types it wants, or `["*"]`. */
  events: string;
  description: string | null;
  enabled: number;
  /** Encrypted: it is needed for each signature. */
  secret: string;
  /** The one before, which signs beside it until then. */
  former_secret: string | null;
  former_secret_until: string | null;
  created_at: string;
  /** When the first attempt failed of those since the last success; null while it works. */
  failing_since: string | null;
  auto_disabled_at: string | null;
  /** It is gone for everybody; its deliveries are removed piece by piece, and then itself. */
  deleted_at: string | null;
}

/** An event on its way to an endpoint, written in the transaction of the event. */
export interface WebhookDeliveryRow {
  id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  /** The whole event as JSON where it is a sample that reports nothing, and so is not among the events. */
  sample: string | null;
  created_at: string;
  status: 'pending' | 'succeeded' | 'failed' | 'held';
  /** Why it is, or was last, under way. Each begins a round of at most six attempts. */
  round_trigger: 'event' | 'test' | 'resend' | 'recover';
  round_failures: number;
  /** All there ever were, of all rounds. */
  attempts: number;
  /** When the next attempt is due; of one under way, when its lease has run out. Null where none is. */
  due_at: string | null;
  /** Set while an attempt is under way. */
  lease: string | null;
}

/** Each written before its call, so that none is made that nobody knows of. */
export interface WebhookAttemptRow {
  delivery_id: string;
  /** From 1, over all rounds. */
  number: number;
  trigger: string;
  started_at: string;
  /** Null while it is under way, and where it was cut short. */
  duration_ms: number | null;
  url: string;
  /** JSON; signatures, but no secret. */
  request_headers: string;
  response_status: number | null;
  /** JSON. */
  response_headers: string | null;
  /** Its first 4 KiB. */
  response_body: string | null;
  /** Why it failed; null while it is under way and where it succeeded. */
  error: string | null;
}

/** Domains of the team: verified by a TXT record, and looked at every day from then on. */
export interface DomainRow {
  id: string;
  /** In A-labels, lower case. */
  name: string;
  status: 'pending' | 'verified' | 'failed';
  /** What the TXT record is to say. */
  token: string;
  created_at: string;
  verified_at: string | null;
  /** When the present search for the record began. */
  pending_since: string;
  /** When the last lookup began that is recorded; an older one that ends later is not. */
  last_checked_at: string | null;
  /** What the last lookup came to, in words; null where it found the record. */
  last_check_detail: string | null;
  next_check_at: string | null;
  /** Of a verified one: since when its record has been missing, without a lookup that found it. */
  missing_since: string | null;
  /** JSON arrays: as given; and as seen in received mail, each with when its mail last came. */
  given_selectors: string;
  learnt_selectors: string;
  badge_enabled: number;
  health_status: 'healthy' | 'warning' | 'critical' | 'unknown';
  health_score: number | null;
  /** JSON, as it is answered. */
  health_checks: string;
  /** When the look began. */
  health_checked_at: string | null;
  lease: string | null;
  leased_until: string | null;
}

/** What is looked at again and again. */
export interface MonitorRow {
  id: string;
  name: string;
  type: 'domain_health' | 'blocklist' | 'placement';
  domain_id: string | null;
  /** JSON: addresses and names. */
  targets: string | null;
  /** The local part of the permanent address of a placement monitor. */
  token: string | null;
  frequency: 'hourly' | 'every_6_hours' | 'daily' | 'weekly';
  enabled: number;
  status: 'ok' | 'alerting' | 'unknown' | 'paused';
  last_run_at: string | null;
  next_run_at: string | null;
  created_at: string;
  lease: string | null;
  leased_until: string | null;
}

export interface MonitorRunRow {
  id: string;
  monitor_id: string;
  started_at: string;
  finished_at: string;
  status: 'ok' | 'alerting' | 'unknown';
  /**
   * JSON: what was found; and what of it is new, gone or not known since the last run that found
   * out, with whether each target could be looked at.
   */
  findings: string;
  changes: string;
}

/** Rules: who is told, and by what. */
export interface AlertRow {
  id: string;
  name: string;
  condition: 'score_below' | 'auth_fail' | 'blocklist_hit';
  threshold: number | null;
  /** JSON. */
  channels: string;
  enabled: number;
  domain_id: string | null;
  /** JSON; null: owner and admins. */
  recipients: string | null;
  /** Encrypted: who has it can post there. */
  slack_webhook_url: string | null;
  last_triggered_at: string | null;
  created_at: string;
}

/** From the first yes of a rule about a subject to the first no. */
export interface AlertIncidentRow {
  id: string;
  alert_id: string;
  /** The From domain, or what a monitor looks at. */
  subject: string;
  status: 'open' | 'resolved';
  /** JSON: the score, the results, or the lists. */
  value: string;
  test_id: string | null;
  run_id: string | null;
  opened_at: string;
  resolved_at: string | null;
  resolution: string | null;
  /** Those of the rule when it opened: the rule may ask for something else by now. */
  condition: 'score_below' | 'auth_fail' | 'blocklist_hit';
  threshold: number | null;
  /** It has come to its end with many others, which are closed piece by piece: it counts no more. */
  closing_id: string | null;
}

/** Why many incidents of a rule end at once, until the last of them is closed. */
export interface AlertClosingRow {
  id: string;
  resolution: string;
  /** JSON: the rule as their events have it. */
  alert: string;
}

/** What was, or is to be, said of an incident, by each channel. */
export interface AlertNotificationRow {
  id: string;
  /** Null for the sample of a rule that is tried. */
  incident_id: string | null;
  alert_id: string;
  news: 'triggered' | 'resolved' | 'test';
  channel: 'email' | 'webhook' | 'slack';
  /** An e-mail address; null elsewhere. */
  recipient: string | null;
  /** Of a webhook, its deliveries know better while they are kept. `suppressed`: other news say it too. */
  status: 'queued' | 'sent' | 'failed' | 'unconfigured' | 'suppressed';
  error: string | null;
  attempts: number;
  /** The mail that carries it; null while it waits for one that tells of many. */
  mail_id: string | null;
  created_at: string;
  due_at: string | null;
  sent_at: string | null;
  lease: string | null;
  leased_until: string | null;
  /** What webhooks carry. */
  event_id: string | null;
}

/** Completed tests, counted by the hour in which they completed: all together, and those of each domain. */
export interface TestTallyRow {
  livemode: number;
  /** Of the team's domains; '' for all tests together. */
  domain_id: string;
  /** When the hour begins. */
  hour: string;
  tests: number;
  /** Those that have a score, and the sum of their scores. */
  scored: number;
  score_sum: number;
  grade_a: number;
  grade_b: number;
  grade_c: number;
  grade_d: number;
  grade_f: number;
  /** Results that are known, and those of them that pass. */
  spf_known: number;
  spf_pass: number;
  dkim_known: number;
  dkim_pass: number;
  dmarc_known: number;
  dmarc_pass: number;
  /** Settled seeds, and those of them that had it in the inbox or one of its tabs. */
  placement_samples: number;
  placement_inbox: number;
  /** JSON: how many tests each check found something to put right in, by its id. */
  issues: string;
}

/** Links by which whoever has one reads the reports of some tests. */
export interface SharedReportRow {
  id: string;
  livemode: number;
  title: string | null;
  token_hash: string;
  /** Encrypted, so that an admin can be shown the link again. */
  token: string;
  /** The member who shared; no reference: they may leave. */
  created_by: string | null;
  created_at: string;
  expires_at: string;
  revoked_at: string | null;
  view_count: number;
  last_viewed_at: string | null;
}

/** No reference to tests: one that was deleted is said to be gone. */
export interface SharedReportTestRow {
  report_id: string;
  position: number;
  test_id: string;
}

/** Reports that are sent by e-mail at their times. */
export interface ReportScheduleRow {
  id: string;
  name: string;
  frequency: 'daily' | 'weekly' | 'monthly';
  /** JSON: addresses; ids of domains, or null for all; sections. */
  recipients: string;
  domains: string | null;
  include_sections: string;
  format: 'html' | 'pdf';
  send_hour: number;
  timezone: string;
  weekday: 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday';
  day_of_month: number;
  enabled: number;
  /** Null while it is switched off. */
  next_send_at: string | null;
  created_at: string;
  lease: string | null;
  leased_until: string | null;
}

/** One sending of a schedule: written with the mails that carry it, so that none is made twice. */
export interface ReportRunRow {
  id: string;
  schedule_id: string;
  trigger: 'schedule' | 'manual';
  /** The time of the schedule that it is for; null where somebody asked for it. */
  slot: string | null;
  period_from: string;
  period_to: string;
  created_at: string;
  /** Why nothing was sent at all. */
  error: string | null;
}

/** What became of the copy of each recipient; while it is `queued`, the outbox knows how it goes. */
export interface ReportCopyRow {
  run_id: string;
  recipient: string;
  mail_id: string | null;
  status: 'queued' | 'sent' | 'failed' | 'unsubscribed' | 'not_configured';
  error: string | null;
  sent_at: string | null;
}

/** By whom a schedule is read, and who has left it: they stay away, even where somebody adds them again. */
export interface ReportReaderRow {
  schedule_id: string;
  email: string;
  /** Of the token in the link to leave, which is made out of the secret key anew for each mail. */
  token_hash: string;
  left_at: string | null;
}

/** Every table by its name. */
export interface Tables {
  service_facts: ServiceFactRow;
  members: MemberRow;
  api_keys: ApiKeyRow;
  sessions: SessionRow;
  invitations: InvitationRow;
  replaced_invitation_links: ReplacedInvitationLinkRow;
  password_links: PasswordLinkRow;
  audit_log: AuditRow;
  idempotency_keys: IdempotencyRow;
  outbox: OutboxRow;
  tests: TestRow;
  messages: MessageRow;
  message_chunks: MessageChunkRow;
  events: EventRow;
  webhook_endpoints: WebhookEndpointRow;
  webhook_deliveries: WebhookDeliveryRow;
  webhook_attempts: WebhookAttemptRow;
  domains: DomainRow;
  monitors: MonitorRow;
  monitor_runs: MonitorRunRow;
  alerts: AlertRow;
  alert_incidents: AlertIncidentRow;
  alert_closings: AlertClosingRow;
  alert_notifications: AlertNotificationRow;
  test_tallies: TestTallyRow;
  shared_reports: SharedReportRow;
  shared_report_tests: SharedReportTestRow;
  report_schedules: ReportScheduleRow;
  report_runs: ReportRunRow;
  report_copies: ReportCopyRow;
  report_readers: ReportReaderRow;
}
