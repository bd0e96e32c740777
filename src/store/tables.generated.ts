/** The rows of every table. Generated from schema.sql by `npm run generate`; do not edit. */

import type { Vocabularies } from './vocabularies.ts';

/** What the service stores about itself, such as the proof that the secret key has not changed. */
export interface ServiceFactRow {
  name: string;
  value: string;
}

/**
 * The requests that all nodes on PostgreSQL have counted; empty on SQLite, where memory has them.
 * Unlogged: losing them in a crash of the server is harmless, and no commit waits for the disk.
 */
export interface RateLimitRow {
  /** The name of the limit and the caller. */
  name: string;
  /** The number of the latest time slot. */
  slot: number;
  /** The requests in the latest slots, newest first: `2,0,1`. */
  counts: string;
  /** How many requests the last statement allowed. */
  allowed: number;
  /** The number of requests in all slots together. */
  capacity: number;
  /** Milliseconds since the epoch; the row means nothing afterwards. */
  expires_at: number;
}

/**
 * Failed attempts to sign in, on all nodes on PostgreSQL; empty on SQLite.
 * Unlogged, as above.
 */
export interface FailedAttemptRow {
  /** The account, address, or browser, hashed. */
  name: string;
  /** With those in progress. */
  failed: number;
  /** Milliseconds since the epoch. */
  last_failed_at: number;
}

/** The team. Exactly one owner: the code ensures at least one, the index at most one. */
export interface MemberRow {
  /** `mem_…`: member */
  id: string;
  email: string;
  name: string;
  role: 'owner' | 'admin' | 'member' | 'viewer';
  joined_at: string;
  /** `scrypt$…`; null until one is set: the member cannot sign in with a password before that. */
  password_hash: string | null;
  /** An IANA name; null: the zone of the browser. */
  time_zone: string | null;
  /** A BCP 47 tag; null: the language of the browser. */
  date_locale: string | null;
  /** The linked account at the OpenID Connect provider: `iss` and `sub`. */
  oidc_issuer: string | null;
  oidc_subject: string | null;
  oidc_linked_at: string | null;
  /** JSON: the tags to whose domains and tests the member is limited; null for everything. */
  tags: string | null;
}

/** Keys are shown once; only their hash is stored, with a readable prefix to tell them apart. */
export interface ApiKeyRow {
  /** `key_…`: API key */
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
  /** As in `members`, which limits the key too. */
  tags: string | null;
}

/** Assistants that members have connected by OAuth: one row for each consent. */
export interface ConnectedAssistantRow {
  /** `con_…`: connected assistant */
  id: string;
  member_id: string;
  /** It contains a registration, or is the URL of the client's metadata document. */
  client_id: string;
  /** As the client calls itself, and where its codes go. */
  name: string;
  host: string;
  role: 'owner' | 'admin' | 'member' | 'viewer';
  livemode: number;
  writes: number;
  /** The URL for which its tokens are valid. */
  resource: string;
  code_hash: string;
  code_challenge: string;
  redirect_uri: string;
  code_used_at: string | null;
  created_at: string;
  /** That of the code, and then of the newest refresh token. */
  expires_at: string;
  last_used_at: string | null;
  /** As in `members`, which limits the assistant too. */
  tags: string | null;
}

/** Used refresh tokens are kept until they expire, to detect that one is used again. */
export interface AssistantTokenRow {
  hash: string;
  assistant_id: string;
  kind: 'access' | 'refresh';
  expires_at: string;
  used_at: string | null;
}

/** Signed-in browsers. Only the hash of the cookie's token is stored. */
export interface SessionRow {
  /** `ses_…`: session */
  id: string;
  member_id: string;
  hash: string;
  created_at: string;
  last_seen_at: string;
  /** The session ends then, however much it is used. */
  expires_at: string;
  ip: string | null;
  user_agent: string | null;
}

/** Invitations to the team. At most one is open for each address. */
export interface InvitationRow {
  /** `inv_…`: invitation */
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
  /** The email with the link; null if outgoing mail is not configured. */
  mail_id: string | null;
  /** Those of the new member, as in `members`. */
  tags: string | null;
}

/** Invitation links that a newer one has replaced: a visitor with an old link is told so. */
export interface ReplacedInvitationLinkRow {
  hash: string;
  invitation_id: string;
}

/** Links to set a password, from an email or the `owner` command; each works once. */
export interface PasswordLinkRow {
  hash: string;
  member_id: string;
  created_at: string;
  expires_at: string;
  used_at: string | null;
}

/** Who did what to which object. Rows are never changed. */
export interface AuditRow {
  /** `aud_…`: audit entry */
  id: string;
  created_at: string;
  /** Null for the service itself. */
  member_id: string | null;
  /** Still readable after the member has left. */
  member_email: string | null;
  /** The key or the session that was used. */
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

/** Responses to POST requests with an Idempotency-Key, kept for 24 hours. */
export interface IdempotencyRow {
  /** Whose key it is: the API key, the session, or the hash of a link's token. */
  caller: string;
  key: string;
  /** Hash of operation, path, query, mode and body, encrypted because a body may hold a password. */
  request_hash: string;
  created_at: string;
  /** Null while the request is running. */
  status: number | null;
  /**
   * Headers and body, encrypted because they may hold a secret that is shown once. The lease of the request while it
   * is running.
   */
  response: string | null;
}

/** Emails that the service sends, and their status. */
export interface OutboxRow {
  /** `mail_…`: mail in the outbox */
  id: string;
  created_at: string;
  recipient: string;
  /** Subject, texts, headers and attachments, encrypted because they hold links. Null once sent or failed. */
  content: string | null;
  status: 'queued' | 'sent' | 'failed';
  attempts: number;
  due_at: string | null;
  lease: string | null;
  leased_until: string | null;
  sent_at: string | null;
  /** The mail server's last reply, without URLs. */
  error: string | null;
  /** Not sent after this time, for example because its link has expired. */
  useful_until: string | null;
  /** 1 for emails that may be numerous: other emails are sent first. */
  bulk: number;
}

/** A test: an address that accepts one message, and the result of its analysis. */
export interface TestRow {
  /** `test_…`: test */
  id: string;
  /** The local part of the address, lower case. */
  token: string;
  /** 1: live. 0: sandbox. 2: public, which is in no list of the team. */
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
  /** 1 if a submitted message had only bare LF line ends, which were converted to CRLF. */
  line_ends_converted: number;
  /** When the analysis is due; null if none is. On a completed test, it is a reanalysis. */
  analysis_due_at: string | null;
  analysis_attempts: number;
  /** The worker that analyzes it, and until when no other worker claims it. */
  lease: string | null;
  leased_until: string | null;
  /** An active share keeps a test beyond the retention time. */
  keep_until: string | null;
  /** JSON: score, grade, ruleset and time of the result before a reanalysis. */
  previous: string | null;
  envelope: string | null;
  categories: string | null;
  cap: string | null;
  /** The beginning of name and subject in lower case, for the search. */
  search: string;
  /** JSON: the checks as the API returns them. Late in the row: they are large, and lists don't read them. */
  checks: string | null;
  /** JSON: marketing or transactional, as the analysis classified it. */
  judged_kind: string | null;
  /** JSON: the verdicts of mailbox providers. */
  providers: string | null;
  /** The team's domain that equals or contains the From domain; no reference, as it may be deleted. */
  domain_id: string | null;
  /** The SHA-256 of the token in the link of a public test; null for tests of the team. */
  public_hash: string | null;
  /** Groups the public tests that count toward the quota of one client; null for tests of the team. */
  public_client: string | null;
  /** Whether placement is tested, and whether its result is final. */
  placement_status: 'none' | 'waiting' | 'settled';
  /** Seed mailboxes that count in summaries, and those of them that had the message in the inbox or its tabs. 0 until settled. */
  placement_samples: number;
  placement_inbox: number;
  /** JSON: the seed addresses and the placement by provider, for lists. Null without placement. */
  placement_summary: string | null;
  /** JSON: the placements of this test as the API returns them, written with each change of `placements`. */
  placement: string | null;
  /** JSON: the number of counted seed mailboxes by provider and placement, such as {"gmail inbox": 2}. Null until settled. */
  placement_counts: string | null;
  /** The placement monitor to whose address the message was sent; no reference, as it may be deleted. */
  monitor_id: string | null;
  /** The inbox to whose address the message was sent; no reference, as it may be deleted. */
  inbox_id: string | null;
  /** JSON: the tags to which its creator was limited: it belongs to no domain without one of them. Null for no limit. */
  limited_to: string | null;
}

/** The tests whose images were loaded, or are being loaded: once, because someone asked. */
export interface ImageLoadRow {
  /** The test. */
  id: string;
  requested_at: string;
  /** Null while the images are being loaded. */
  loaded_at: string | null;
  /** The node that loads them, and until when no other node does. */
  lease: string | null;
  leased_until: string | null;
}

/** The images of tests that are on web servers. Images in attachments are in the message. */
export interface TestImageRow {
  test_id: string;
  position: number;
  kind: 'content' | 'bimi_logo';
  url: string;
  status: 'loaded' | 'tracking_pixel' | 'failed';
  /** Why it was not loaded: a code, and a clause for people. Null if it was. */
  reason: string | null;
  detail: string | null;
  /** By its bytes, not by what the server says. */
  media_type: string | null;
  /** In pixels; null if unknown. */
  width: number | null;
  height: number | null;
  /** In bytes. */
  size: number | null;
  /** At most 2 MB, which takes milliseconds to write. Last, so that lists don't read them. */
  bytes: Uint8Array | null;
}

/**
 * Requests to the unsubscribe link of a test, because a member asked. The row is stored before the request is sent, so it
 * is never sent again by itself: an old row without a result was interrupted.
 */
export interface UnsubscribeTryRow {
  test_id: string;
  /** POST is the one-click request. GET is what a browser sends. */
  method: 'POST' | 'GET';
  /** How often members asked for it. The other columns are about the last request. */
  tries: number;
  requested_at: string;
  /** JSON: status, redirect, time and TLS. */
  result: string | null;
}

/** Inboxes: reusable addresses. Each message to one becomes a new test with its settings. */
export interface InboxRow {
  /** `ibx_…`: inbox */
  id: string;
  /** The local part of the address, lower case. */
  token: string;
  /** 1: live. 0: sandbox. */
  livemode: number;
  name: string | null;
  kind: 'auto' | 'marketing' | 'transactional';
  metadata: string;
  /** JSON: the tags of its tests, in alphabetical order. */
  tags: string;
  /** The domain that its tests belong to; no reference, as it may be deleted. */
  domain_id: string | null;
  created_at: string;
  last_received_at: string | null;
  /** As in `tests`. */
  limited_to: string | null;
}

/** The tags of tests. */
export interface TestTagRow {
  test_id: string;
  /** The mode of the test, for the index. */
  livemode: number;
  tag: string;
}

/** The seed mailboxes of the configuration, each with the node that looks into it. */
export interface SeedMailboxRow {
  /** The name in the configuration. */
  id: string;
  provider: string;
  address: string;
  /** When it is next worth connecting, after failures; null: at once. */
  next_look_at: string | null;
  /** The last time that all folders were read. */
  last_read_at: string | null;
  /** Failed looks since then, the code of the last error, and what to do about it. */
  failures: number;
  error: string | null;
  error_detail: string | null;
  lease: string | null;
  leased_until: string | null;
  /** When the first of the failed looks began. */
  failing_since: string | null;
}

/** The sign-ins with OAuth 2 to seed mailboxes: from the configuration or the command, or as the provider replaced them. */
export interface SeedCredentialRow {
  /** The name of the mailbox in the configuration. */
  id: string;
  /** A keyed hash of the app and the token in the configuration. As long as they stay the same, this row counts. */
  configured: string;
  /** Encrypted. */
  refresh_token: string;
  stored_at: string;
  /** When the provider last rejected it; null while it works. */
  rejected_at: string | null;
}

/** Where the message of a test arrived in each seed mailbox. */
export interface PlacementRow {
  test_id: string;
  seed: string;
  provider: string;
  /** The address that the sender was told, with the token if the provider has plus addresses. */
  address: string;
  placement: 'inbox' | 'promotions' | 'social' | 'updates' | 'forums' | 'spam' | 'missing' | 'pending' | 'unknown';
  /** How the message was recognized; null until it is found. */
  matched_by: 'address' | 'token' | 'message_id' | 'probable' | null;
  /** The folder in which it was found. */
  folder: string | null;
  /** JSON: the folders that were read. */
  searched: string;
  /** JSON: what the header fields of the provider say. */
  reasons: string;
  /** The code of the reason why it is unknown, and the reason as a sentence. */
  problem: string | null;
  detail: string | null;
  /** When the provider received it, by its clock. */
  arrived_at: string | null;
  /** The folder, its UIDVALIDITY and the UID, so that no other test matches the same message. */
  message_key: string | null;
  created_at: string;
  /** When the placement became final. */
  settled_at: string | null;
  /** When the message was moved to the trash, or was found to be gone. */
  cleaned_at: string | null;
}

/** Received messages; those to postmaster belong to no test. */
export interface MessageRow {
  /** `msg_…`: received mail */
  id: string;
  test_id: string | null;
  recipient: string;
  sha256: string;
  size: number;
  envelope: string;
  received_at: string;
}

/**
 * The bytes of messages in chunks, because writing one large value would block the process. Chunks are
 * written before their message, so they have no reference; orphans are deleted at start.
 */
export interface MessageChunkRow {
  message_id: string;
  position: number;
  bytes: Uint8Array;
}

/** Events, each written in the transaction of the change that it reports. */
export interface EventRow {
  /** `evt_…`: event */
  id: string;
  type: string;
  livemode: number;
  created_at: string;
  data: string;
  /**
   * The order of commits on PostgreSQL, where ids of several nodes are not in that order: no event that commits
   * later has a lower one. Events of one transaction share it. Null on SQLite.
   */
  position: number | null;
}

/** URLs that events are delivered to. */
export interface WebhookEndpointRow {
  /** `whe_…`: webhook endpoint */
  id: string;
  url: string;
  /** JSON: the event types that it subscribes to, or `["*"]`. */
  events: string;
  description: string | null;
  enabled: number;
  /** Encrypted rather than hashed, because each signature needs it. */
  secret: string;
  /** The previous secret, which also signs until `former_secret_until`. */
  former_secret: string | null;
  former_secret_until: string | null;
  created_at: string;
  /** When the first attempt since the last success failed; null while deliveries succeed. */
  failing_since: string | null;
  auto_disabled_at: string | null;
  /** Deleted as far as users can see; its deliveries are removed in batches, then the row. */
  deleted_at: string | null;
  /** Receives the events of this mode only. */
  livemode: number;
}

/** Deliveries of events to endpoints, written in the transaction of the event. */
export interface WebhookDeliveryRow {
  /** `whd_…`: delivery */
  id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  /** JSON: the whole event if it is a sample, which is not stored in `events`. */
  sample: string | null;
  created_at: string;
  status: 'pending' | 'succeeded' | 'failed' | 'held';
  /** What started the current or last round of at most six attempts. */
  round_trigger: 'event' | 'test' | 'resend' | 'recover';
  round_failures: number;
  /** The number of attempts in all rounds. */
  attempts: number;
  /** When the next attempt is due; during an attempt, when its lease expires. Null if none is due. */
  due_at: string | null;
  /** Set during an attempt. */
  lease: string | null;
  /** When the scheduled attempt is due, while a resend before it is due or in progress. */
  resumes_at: string | null;
}

/** Delivery attempts, each written before its request, so that no request goes unrecorded. */
export interface WebhookAttemptRow {
  delivery_id: string;
  /** From 1, across all rounds. */
  number: number;
  trigger: string;
  started_at: string;
  /** Null during the attempt, and if it was interrupted. */
  duration_ms: number | null;
  url: string;
  /** JSON; signatures, but no secret. */
  request_headers: string;
  response_status: number | null;
  /** JSON. */
  response_headers: string | null;
  /** Its first 4 KiB. */
  response_body: string | null;
  /** Why it failed; null during the attempt and after a success. */
  error: string | null;
}

/** Domains of the team: verified by a TXT record, and checked daily from then on. */
export interface DomainRow {
  /** `dom_…`: domain */
  id: string;
  /** A-labels in lower case. */
  name: string;
  status: 'pending' | 'verified' | 'failed';
  /** What the TXT record has to contain. */
  token: string;
  created_at: string;
  verified_at: string | null;
  /** When the current search for the record began. */
  pending_since: string;
  /** When the last recorded lookup began; an older one that ends later is not recorded. */
  last_checked_at: string | null;
  /** The result of the last lookup in words; null if it found the record. */
  last_check_detail: string | null;
  next_check_at: string | null;
  /** For a verified domain: since when no lookup has found its record. */
  missing_since: string | null;
  /** JSON: the DKIM selectors that the team entered. */
  given_selectors: string;
  /** JSON: the DKIM selectors seen in received mail, each with the time of the last message. */
  learnt_selectors: string;
  badge_enabled: number;
  health_status: 'healthy' | 'warning' | 'critical' | 'unknown';
  health_score: number | null;
  /** JSON: as the API returns it. */
  health_checks: string;
  /** When the health check began. */
  health_checked_at: string | null;
  lease: string | null;
  leased_until: string | null;
  /**
   * When its records are next compared with those of the last look. If it is not verified, when its first lookup is due;
   * null after it.
   */
  next_look_at: string | null;
  /** JSON: its records as the last looks found them; null before the first one. */
  watched: string | null;
  /** JSON: its tags, in alphabetical order. They group domains, and members can be limited to them. */
  tags: string;
}

/**
 * What the table of domains and the overview show about each domain, as last read from its sources. Everything in it can be
 * read again, so a missing row means: not read yet.
 */
export interface DomainDigestRow {
  /** The ID of the domain. */
  id: string;
  /** When reading it began. */
  read_at: string;
  /** Its headline, and what its worst problem costs; 0 without one. */
  state: 'fail' | 'warn' | 'unknown' | 'pass';
  cost: number;
  headline: string;
  since: string | null;
  /** What to do first, and the page about it; null without a problem. */
  step: string | null;
  step_path: string | null;
  /** The DMARC policy that applies to it; null if it is not known. */
  policy: 'missing' | 'none' | 'quarantine' | 'reject' | null;
  sub_policy: string | null;
  pct: number | null;
  /** Messages in DMARC reports of the last 30 days, and which part passed, from 0 to 1; null without reports. */
  messages: number;
  spf_rate: number | null;
  dkim_rate: number | null;
  dmarc_rate: number | null;
  /** The latest that Google published in the last 30 days, and its day. */
  spam_rate: number | null;
  spam_day: string | null;
  /** Messages in seed mailboxes in the last 30 days, and which part arrived in an inbox; null with too few. */
  samples: number;
  inbox_rate: number | null;
  /** When its DNS records last changed, and which: "DMARC, SPF". It outlives the event. */
  changed_at: string | null;
  changed: string | null;
}

/** What the service serves at the hosts mta-sts.<domain> and bimi.<domain>. */
export interface HostedFileRow {
  domain_id: string;
  /**
   * JSON: the MTA-STS policy, when it last changed, and until when senders can remember one in enforce mode; null if none
   * is served.
   */
  policy: string | null;
  /** The BIMI logo (SVG) and its certificate (PEM). */
  logo: string | null;
  certificate: string | null;
}

/** Monitors: what is checked at regular intervals. */
export interface MonitorRow {
  /** `mon_…`: monitor */
  id: string;
  name: string;
  type: Vocabularies['monitorType'];
  domain_id: string | null;
  /** JSON: IP addresses and domain names. */
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
  /** `run_…`: run */
  id: string;
  monitor_id: string;
  started_at: string;
  finished_at: string;
  status: 'ok' | 'alerting' | 'unknown';
  /** JSON: what was found. */
  findings: string;
  /** JSON: what is new, resolved or unknown since the last run, and whether each target could be checked. */
  changes: string;
}

/** Alert rules: when, through which channels, and whom to notify. */
export interface AlertRow {
  /** `alt_…`: alert rule */
  id: string;
  name: string;
  condition: Vocabularies['condition'];
  threshold: number | null;
  /** JSON. */
  channels: string;
  enabled: number;
  domain_id: string | null;
  /** JSON: email addresses; null for the owner and the admins. */
  recipients: string | null;
  /** Encrypted, because anyone who has it can post there. */
  slack_webhook_url: string | null;
  last_triggered_at: string | null;
  created_at: string;
  /** How often it reminds of an open incident; null for never. */
  reminder_hours: number | null;
  /** JSON: it is evaluated only for domains with one of these tags; null for all. */
  tags: string | null;
}

/** Incidents: from the first result about a subject that meets a rule's condition until one that does not. */
export interface AlertIncidentRow {
  /** `inc_…`: incident */
  id: string;
  alert_id: string;
  /** Such as the From domain of a test, a monitor's target, or the ID of a source. */
  subject: string;
  status: 'open' | 'resolved';
  /** JSON: what the condition found, such as the score or the blocklists. */
  value: string;
  test_id: string | null;
  run_id: string | null;
  opened_at: string;
  resolved_at: string | null;
  resolution: string | null;
  /** The rule's condition when the incident opened: the rule may have another by now. */
  condition: Vocabularies['condition'];
  threshold: number | null;
  /** Set while it is closed with many others, in batches: it no longer counts as open. */
  closing_id: string | null;
  /** Null if none will follow. */
  next_reminder_at: string | null;
}

/** Why many incidents of a rule end at the same time; kept until the last of them is closed. */
export interface AlertClosingRow {
  id: string;
  resolution: string;
  /** JSON: the rule as the events contain it. */
  alert: string;
}

/** Notifications about incidents, sent or queued: one for each email recipient and each other channel. */
export interface AlertNotificationRow {
  /** `ntf_…`: notification */
  id: string;
  /** Null for a sample. */
  incident_id: string | null;
  alert_id: string;
  news: Vocabularies['news'];
  channel: Vocabularies['channel'];
  /** An email address; null for other channels. */
  recipient: string | null;
  /**
   * For a webhook, the deliveries of its event are more recent while they are kept. `suppressed`: the
   * incident was over before it could be sent.
   */
  status: 'queued' | 'sent' | 'failed' | 'unconfigured' | 'suppressed';
  error: string | null;
  attempts: number;
  /** The email that contains it; null while it waits for a digest. */
  mail_id: string | null;
  created_at: string;
  due_at: string | null;
  sent_at: string | null;
  lease: string | null;
  leased_until: string | null;
  /** The event that webhooks deliver. */
  event_id: string | null;
  /** What the service of the channel calls the posted message, so that a later one can change or answer it. */
  reference: string | null;
  /** What is posted, encrypted, if it was composed before the rule changed. Null once it was sent or given up. */
  post: string | null;
}

/** Counts of completed tests by the hour of completion: for all tests, and for each domain. */
export interface TestTallyRow {
  livemode: number;
  /** One of the team's domains, or '' for all tests. */
  domain_id: string;
  /** The start of the hour. */
  hour: string;
  tests: number;
  /** Tests that have a score. */
  scored: number;
  /** The sum of their scores. */
  score_sum: number;
  grade_a: number;
  grade_b: number;
  grade_c: number;
  grade_d: number;
  grade_f: number;
  /** Tests whose SPF result is known; `…_pass` are those of them that pass. DKIM and DMARC likewise. */
  spf_known: number;
  spf_pass: number;
  dkim_known: number;
  dkim_pass: number;
  dmarc_known: number;
  dmarc_pass: number;
  /** Seed mailboxes with a known placement; `placement_inbox` are those that had it in the inbox or its tabs. */
  placement_samples: number;
  placement_inbox: number;
  /** JSON: by check id, the number of tests in which the check found a problem. */
  issues: string;
  /** JSON: the sums of `placement_counts` of the tests. */
  placement_counts: string;
}

/** Share links: anyone who has one can read the reports of its tests. */
export interface SharedReportRow {
  /** `rpt_…`: shared report */
  id: string;
  livemode: number;
  title: string | null;
  token_hash: string;
  /** Encrypted rather than hashed, so that an admin can see the link again. */
  token: string;
  /** The member who shared; no reference: they may leave. */
  created_by: string | null;
  created_at: string;
  expires_at: string;
  revoked_at: string | null;
  view_count: number;
  last_viewed_at: string | null;
  /** Whether the shared page shows the messages. Links from before there was a choice show none. */
  preview: 'none' | 'without_images' | 'with_images';
  /** JSON: the link shows the status of the domains with one of these tags, and no tests; null for a link to tests. */
  tags: string | null;
}

/** The tests of a share link. No reference: the shared page says that a test was deleted. */
export interface SharedReportTestRow {
  report_id: string;
  position: number;
  test_id: string;
}

/** Scheduled reports by email. */
export interface ReportScheduleRow {
  /** `rps_…`: report schedule */
  id: string;
  name: string;
  frequency: 'daily' | 'weekly' | 'monthly';
  /** JSON: email addresses. */
  recipients: string;
  /** JSON: ids of domains; null for all. */
  domains: string | null;
  /** JSON: the sections that the report contains. */
  include_sections: string;
  format: 'html' | 'pdf';
  send_hour: number;
  timezone: string;
  weekday: 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday';
  day_of_month: number;
  enabled: number;
  /** Null while the schedule is disabled. */
  next_send_at: string | null;
  created_at: string;
  lease: string | null;
  leased_until: string | null;
  /** JSON: covers the domains with one of these tags; null for `domains`, which is otherwise an empty list. */
  tags: string | null;
  /** JSON: the recipients of each tag, who get a report about its domains only; null for `recipients`, otherwise empty. */
  recipients_by_tag: string | null;
}

/** Runs of a schedule, each written in the transaction that queues its emails, so that none is sent twice. */
export interface ReportRunRow {
  /** `rpr_…`: report run */
  id: string;
  schedule_id: string;
  trigger: 'schedule' | 'manual';
  /** The scheduled time that it is for; null for a manual run. */
  slot: string | null;
  period_from: string;
  period_to: string;
  created_at: string;
  /** Why nothing was sent at all. */
  error: string | null;
  /** The tag that it is about, if its schedule sends a report for each; otherwise empty. */
  tag: string;
}

/** Each recipient's copy of a run; while it is `queued`, the outbox has its state. */
export interface ReportCopyRow {
  run_id: string;
  recipient: string;
  mail_id: string | null;
  status: 'queued' | 'sent' | 'failed' | 'unsubscribed' | 'not_configured';
  error: string | null;
  sent_at: string | null;
}

/** Recipients of a schedule, and who has unsubscribed: they stay unsubscribed even if they are added again. */
export interface ReportReaderRow {
  schedule_id: string;
  email: string;
  /** Hash of the token in the unsubscribe link, which is derived from the secret key again for each email. */
  token_hash: string;
  left_at: string | null;
}

/**
 * The address of each domain for feedback, and what is known of its records. A row without its domain means that feedback
 * of a deleted domain is still being deleted.
 */
export interface FeedbackDomainRow {
  /** The ID of the domain. */
  id: string;
  /** The 16 characters of its address after `fb-`. */
  token: string;
  /** JSON: the DNS records for feedback, as the last lookup found them; null before it. */
  records: string | null;
  /** When they are looked up again. */
  lookup_at: string;
  /** When the first and the last report that counts arrived. */
  first_at: string | null;
  last_at: string | null;
  /** When the event `feedback.stopped` said that no more reports arrive. */
  stopped_at: string | null;
  lease: string | null;
  leased_until: string | null;
}

/** Mails and files with reports, as they came. Their bytes are in `message_chunks`. */
export interface FeedbackMailRow {
  /** `fbm_…`: received report mail */
  id: string;
  /** The domain whose address it was sent to; null for uploads. */
  domain_id: string | null;
  /** `smtp`, `https`, `upload` or `imap`. */
  source: string;
  /** What follows the + in the address. */
  suffix: string | null;
  size: number;
  /** JSON: the SMTP session; null for files. */
  envelope: string | null;
  received_at: string;
  /** When it is read, or read again after a failure; null once that is done. */
  due_at: string | null;
  /** How often reading it has begun: what ends the process must not do so forever. */
  attempts: number;
  lease: string | null;
  leased_until: string | null;
  /** JSON: the trusted servers whose Authentication-Results show who sent it. Null unless it came from a report mailbox. */
  authserv: string | null;
}

/** Mailboxes of the team from which reports are imported. */
export interface ReportMailboxRow {
  /** `fbx_…`: report mailbox */
  id: string;
  name: string;
  /** The name of a configured seed mailbox whose sign-in it uses; null for a server of its own. */
  sign_in: string | null;
  host: string | null;
  port: number | null;
  /** `implicit` or `starttls`. */
  tls: string | null;
  username: string | null;
  /** Encrypted. */
  password: string | null;
  /** The trusted authserv-id; null for those of the provider, if it is known. */
  authserv_id: string | null;
  folder: string;
  /** The folder to which messages with reports move; null if they stay. */
  move_to: string | null;
  /** `off`, `hourly` or `daily`. */
  schedule: string;
  /** The last message that was read. UIDs are valid only while the folder has this UIDVALIDITY. */
  uid_validity: string | null;
  last_uid: number;
  /** The message that is being read: stored, but not counted or moved yet. */
  pending_mail: string | null;
  /** The latest import: when it started and ended, and as JSON what it has read so far. */
  started_at: string | null;
  finished_at: string | null;
  counts: string;
  /** Why the latest import failed, what to do about it, and the number of failures since the last success. */
  problem: string | null;
  problem_detail: string | null;
  failures: number;
  /** When the next import starts, or this one resumes; null if only a person starts it. */
  next_run_at: string | null;
  lease: string | null;
  leased_until: string | null;
  created_at: string;
}

/** Who reports: whoever the messages with its reports authenticate. */
export interface FeedbackReporterRow {
  /** `rep_…`: reporter */
  id: string;
  /**
   * What makes it one reporter: its kind in upper case and its identity. Of reporters from before version 21, the name in
   * their reports, which is in lower case, so that neither can be taken for the other.
   */
  name: string;
  /** 1 if its reports count: it is a known receiver, or a person confirmed it. */
  trusted: number;
  first_at: string;
  last_at: string;
  /** The reports of any status, and those that count. */
  reports: number;
  counted: number;
  /** `known`, `dkim`, `spf` or `file` (named by a file that a person uploaded); null before version 21. */
  kind: string | null;
  /** Its domain, or its address where many share the domain; of files the name in them. */
  title: string | null;
  /** What its first report calls it, in lower case. */
  label: string | null;
}

/** Reports. Each mail can have several. */
export interface FeedbackReportRow {
  /** `fbr_…`: report */
  id: string;
  mail_id: string;
  /** Its place in the mail, so that a mail that is read again stores nothing twice. */
  position: number;
  /** `dmarc`, `dmarc_failure`, `tls`, `complaint` or `bounce`; null if it could not be read. */
  type: string | null;
  /** `counted`, `duplicate`, `conflict`, `unconfirmed`, `implausible`, `unverified` or `refused`. */
  status: string;
  /** Why it was refused, as a code, and in words. */
  reason: string | null;
  detail: string | null;
  /**
   * What makes it the same report of a reporter as another, and a hash of its figures. Of a refused one that a known or
   * confirmed reporter signed, only a hash of its message.
   */
  identity: string | null;
  figures: string | null;
  /** The report that it repeats. */
  original_id: string | null;
  reporter_id: string | null;
  domain_id: string | null;
  /** The domain that the report names: `domain_id` or one of its subdomains. */
  policy_domain: string | null;
  period_from: string | null;
  period_to: string | null;
  messages: number;
  passed: number;
  failed: number;
  /** 1 if its mail authenticates a reporter; null if it did not come by mail. */
  verified: number | null;
  source: string;
  suffix: string | null;
  /** JSON: what had to be repaired to read it. */
  repaired: string;
  /** JSON: what the report says beside its rows. */
  content: string;
  /** How many rows it has, how many of them are stored, and how many of those its sources include. */
  row_count: number;
  stored_rows: number;
  counted_rows: number;
  received_at: string;
  /** What the report calls its reporter, in lower case. */
  label: string | null;
  /** The same as `identity` with that name instead of the reporter: an upload is by it a copy of what came by mail. */
  file_identity: string | null;
  /** 1 once its reporter is the one that its mail authenticates; programs before version 21 leave 0. */
  attributed: number;
}

/** The rows of DMARC reports. */
export interface DmarcRowRow {
  report_id: string;
  position: number;
  domain_id: string;
  /** The first day of the report. */
  day: string;
  /** The IP address of the sender; null in the row that sums up the others. */
  address: string | null;
  count: number;
  outcome: string;
  /** What the receiver evaluated, and what it did. */
  dkim: string;
  spf: string;
  disposition: string;
  header_from: string | null;
  envelope_from: string | null;
  envelope_to: string | null;
  /** The signature and the SPF result that decided, or the first ones. */
  dkim_domain: string | null;
  dkim_selector: string | null;
  dkim_result: string | null;
  spf_domain: string | null;
  spf_result: string | null;
  /** JSON: all results, if there are more than one of a kind, and the reasons for another disposition. */
  results: string | null;
  reasons: string | null;
  /** Whether the report counts. */
  counted: number;
}

/** What DMARC reports count by day in UTC. */
export interface DmarcDayRow {
  domain_id: string;
  day: string;
  messages: number;
  passed: number;
  failed: number;
  none: number;
  quarantined: number;
  rejected: number;
  overridden: number;
}

/** The addresses that send with a domain in From, as the reports that count name them. */
export interface FeedbackAddressRow {
  /** The ID of the domain, a space, and the address. */
  id: string;
  domain_id: string;
  address: string;
  first_day: string;
  last_day: string;
  messages: number;
  passed: number;
  /** The source that it belongs to; null until it has been looked up. */
  source_id: string | null;
  /** The forward-confirmed host name. */
  host: string | null;
  /** When it is looked up, or looked up again. */
  look_up_at: string;
  lease: string | null;
  leased_until: string | null;
}

/** Who sends with a domain in From: a sending service, an own server, a forwarder, or a network. */
export interface FeedbackSourceRow {
  /** `src_…`: source */
  id: string;
  domain_id: string;
  /** What its addresses have in common, such as `service mailchimp` or `host example.net`. */
  key: string;
  name: string;
  /** What shows it, in a sentence. */
  evidence: string;
  /** What a person said about it: `own`, `forwarder` or `foreign`. */
  mark: string | null;
  label: string | null;
  /** Days: since when it is new, or failing. Null if it is not. */
  new_since: string | null;
  failing_since: string | null;
  /** What shows that the domain uses this sending service, as a sentence; null if nothing does. */
  claim: string | null;
}

/** What DMARC reports count by source and day in UTC. */
export interface FeedbackSourceDayRow {
  source_id: string;
  domain_id: string;
  day: string;
  messages: number;
  passed: number;
  /** Messages for which the result of this method is a pass, with alignment. */
  dkim: number;
  spf: number;
  quarantined: number;
  rejected: number;
  /** Messages that a receiver took for forwarded ones. */
  forwarded: number;
}

/** The same by month in UTC, such as `2026-11`, so that long periods are read from few rows. */
export interface FeedbackSourceMonthRow {
  source_id: string;
  domain_id: string;
  month: string;
  messages: number;
  passed: number;
  dkim: number;
  spf: number;
  quarantined: number;
  rejected: number;
  forwarded: number;
}

/** What TLS reports count by day in UTC. */
export interface TlsDayRow {
  domain_id: string;
  day: string;
  succeeded: number;
  failed: number;
}

/** The failures in TLS reports. */
export interface TlsFailureRow {
  report_id: string;
  position: number;
  domain_id: string;
  day: string;
  result_type: string;
  receiving_mx: string | null;
  sending_ip: string | null;
  reason_code: string | null;
  sessions: number;
}

/** Recipients who marked a message as spam, or as not spam. */
export interface ComplaintRow {
  /** `cpl_…`: complaint */
  id: string;
  report_id: string;
  domain_id: string | null;
  /** `abuse`, `fraud`, `virus`, `not-spam` or another type of RFC 5965. */
  kind: string;
  arrived_at: string | null;
  received_at: string;
  day: string;
  provider: string;
  address: string | null;
  from_domain: string | null;
  subject: string | null;
  message_id: string | null;
  recipient_domain: string | null;
  list_id: string | null;
  feedback_id: string | null;
  dkim_domain: string | null;
}

/** Messages that could not be delivered, one for each recipient. */
export interface BounceRow {
  /** `bnc_…`: bounce */
  id: string;
  report_id: string;
  position: number;
  domain_id: string | null;
  received_at: string;
  day: string;
  /** `policy`, `hard`, `soft` or `unknown`. */
  class: string;
  action: string;
  status_code: string | null;
  diagnostic: string | null;
  remote_server: string | null;
  reporting_server: string | null;
  provider: string;
  from_domain: string | null;
  recipient_domain: string | null;
  message_id: string | null;
  /** 1 if the mail authenticates who sent it; null if it did not come by mail, or before version 21. */
  authenticated: number | null;
}

/** How many complaints and bounces that count have each value of a column, by day and by month in UTC. */
export interface FeedbackMessageSumRow {
  domain_id: string;
  /** What is counted, such as `bounce provider`. */
  subject: string;
  /** A day, or a month such as `2026-11`. */
  period: string;
  /** Empty if the column is null. */
  value: string;
  count: number;
}

/** The accounts at receivers that publish figures: which node fetches from each, and whether it works. */
export interface ReceiverRow {
  /** The name in the configuration. */
  id: string;
  receiver: string;
  /** When it is next fetched; null: at once. */
  next_fetch_at: string | null;
  /** When the last fetch started, and when the last one without a problem did. */
  attempted_at: string | null;
  fetched_at: string | null;
  /** Failed fetches since then, the code of the last problem, and what to do about it. */
  failures: number;
  problem: string | null;
  problem_detail: string | null;
  failing_since: string | null;
  lease: string | null;
  leased_until: string | null;
  /** Identifies the key of the configuration without revealing it; null for a sign-in. */
  access: string | null;
  /** When somebody last signed in, or when the key was first seen. */
  access_since: string | null;
  /** What the last event said about the account, or would have; null before the first fetch. */
  state: string | null;
}

/** The sign-ins to receivers with OAuth 2, like those in `seed_credentials`. */
export interface ReceiverCredentialRow {
  id: string;
  configured: string;
  /** Encrypted. */
  refresh_token: string;
  stored_at: string;
  rejected_at: string | null;
}

/** The domains that an account at Google shows. */
export interface ReceiverDomainRow {
  receiver_id: string;
  /** In A-labels. */
  name: string;
  /** What Google says, such as `OWNER` and `VERIFIED`. */
  permission: string;
  verification: string | null;
  /** When the account was last seen to have it. */
  listed_at: string;
  /** When its days and its requirements were last read; null: never. */
  days_at: string | null;
  requirements_at: string | null;
  /** Why the last attempt to read them failed; null if it did not. */
  problem: string | null;
  problem_detail: string | null;
}

/** What Google publishes about a domain and a day. What is null was not published. */
export interface ReceiverDayRow {
  name: string;
  /** As Google counts days. */
  day: string;
  receiver_id: string;
  /** Rates are from 0 to 1. */
  spam_rate: number | null;
  spf_rate: number | null;
  dkim_rate: number | null;
  dmarc_rate: number | null;
  tls_rate: number | null;
  tls_messages: number | null;
  /** Messages that were rejected, and temporarily deferred. */
  reject_rate: number | null;
  temp_fail_rate: number | null;
  /** JSON: the errors by type and reason; null if none were published. */
  errors: string | null;
  /** JSON: the spam rates of feedback loop identifiers; null if none were published. */
  feedback_loops: string | null;
  fetched_at: string;
}

/** Whether a domain meets the requirements of Google for senders. */
export interface ReceiverRequirementRow {
  name: string;
  requirement: string;
  receiver_id: string;
  /** Such as `COMPLIANT` and `NEEDS_WORK`. */
  status: string;
  /** Why, as Google says it. */
  reason: string | null;
  /** When the status was first seen, and what it was before; null if there was none. */
  since: string;
  previous: string | null;
  checked_at: string;
}

/** What Microsoft publishes about an address and a period of activity. */
export interface ReceiverAddressRow {
  address: string;
  /** The day that was asked for. */
  day: string;
  receiver_id: string;
  started_at: string;
  ended_at: string;
  rcpt_commands: number;
  data_commands: number;
  recipients: number;
  /** `GREEN`, `YELLOW` or `RED`; null if none was published. */
  filter_result: string | null;
  /** From 0 to 1, and whether the real rate is below it. */
  complaint_rate: number | null;
  is_below_rate: number;
  trap_hits: number | null;
  sample_helo: string | null;
  sample_mail_from: string | null;
  comments: string | null;
  fetched_at: string;
}

/** The addresses about which Microsoft says whether they are blocked. */
export interface ReceiverBlockRow {
  receiver_id: string;
  first_address: string;
  last_address: string;
  blocked: number;
  details: string;
  /** When this state was first seen. */
  since: string;
  checked_at: string;
}

/** Name servers at which the service changes records for the team. */
export interface DnsServerRow {
  /** `dns_…`: name server */
  id: string;
  /** Such as `rfc2136`. */
  kind: string;
  name: string;
  /** JSON: what is not secret, such as the address and the name of the key. */
  settings: string;
  /** Encrypted JSON. */
  secrets: string;
  /** JSON: the zones that may be changed there. */
  zones: string;
  created_at: string;
  /** When the credentials were last tried, and what was wrong with them. */
  checked_at: string | null;
  problem: string | null;
}

/** Changes of records at name servers: one set of records with a common name and type each. */
export interface DnsChangeRow {
  /** `chg_…`: DNS change */
  id: string;
  /** The server may have been removed since, and so may the domain. */
  server_id: string;
  domain_id: string | null;
  zone: string;
  name: string;
  type: string;
  /** JSON: the values and the TTL, no values if there was no such record. */
  before: string;
  after: string;
  /** What the change is for, in words. */
  reason: string;
  /** `applying` until the server has answered, then `applied`, `failed` or `unknown`; `undone` by a later change. */
  status: 'applying' | 'applied' | 'failed' | 'unknown' | 'undone';
  error: string | null;
  /** The change that this one undoes. */
  undoes: string | null;
  created_at: string;
  finished_at: string | null;
  /** Until then, only the node that started an `applying` change works on it. */
  leased_until: string | null;
}

/** The team's name, logo and color, shown to people outside it. At most one row. */
export interface BrandRow {
  id: string;
  name: string;
  /** `#rrggbb` */
  color: string | null;
  /** PNG or JPEG in base64, without metadata. */
  logo: string | null;
}

/** Every table by its name. */
export interface Tables {
  service_facts: ServiceFactRow;
  rate_limits: RateLimitRow;
  failed_attempts: FailedAttemptRow;
  members: MemberRow;
  api_keys: ApiKeyRow;
  connected_assistants: ConnectedAssistantRow;
  assistant_tokens: AssistantTokenRow;
  sessions: SessionRow;
  invitations: InvitationRow;
  replaced_invitation_links: ReplacedInvitationLinkRow;
  password_links: PasswordLinkRow;
  audit_log: AuditRow;
  idempotency_keys: IdempotencyRow;
  outbox: OutboxRow;
  tests: TestRow;
  image_loads: ImageLoadRow;
  test_images: TestImageRow;
  unsubscribe_tries: UnsubscribeTryRow;
  inboxes: InboxRow;
  test_tags: TestTagRow;
  seed_mailboxes: SeedMailboxRow;
  seed_credentials: SeedCredentialRow;
  placements: PlacementRow;
  messages: MessageRow;
  message_chunks: MessageChunkRow;
  events: EventRow;
  webhook_endpoints: WebhookEndpointRow;
  webhook_deliveries: WebhookDeliveryRow;
  webhook_attempts: WebhookAttemptRow;
  domains: DomainRow;
  domain_digests: DomainDigestRow;
  hosted_files: HostedFileRow;
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
  feedback_domains: FeedbackDomainRow;
  feedback_mails: FeedbackMailRow;
  report_mailboxes: ReportMailboxRow;
  feedback_reporters: FeedbackReporterRow;
  feedback_reports: FeedbackReportRow;
  dmarc_rows: DmarcRowRow;
  dmarc_days: DmarcDayRow;
  feedback_addresses: FeedbackAddressRow;
  feedback_sources: FeedbackSourceRow;
  feedback_source_days: FeedbackSourceDayRow;
  feedback_source_months: FeedbackSourceMonthRow;
  tls_days: TlsDayRow;
  tls_failures: TlsFailureRow;
  complaints: ComplaintRow;
  bounces: BounceRow;
  feedback_message_sums: FeedbackMessageSumRow;
  receivers: ReceiverRow;
  receiver_credentials: ReceiverCredentialRow;
  receiver_domains: ReceiverDomainRow;
  receiver_days: ReceiverDayRow;
  receiver_requirements: ReceiverRequirementRow;
  receiver_addresses: ReceiverAddressRow;
  receiver_blocks: ReceiverBlockRow;
  dns_servers: DnsServerRow;
  dns_changes: DnsChangeRow;
  brand: BrandRow;
}

export const TABLES: (keyof Tables)[] = [
  'service_facts',
  'rate_limits',
  'failed_attempts',
  'members',
  'api_keys',
  'connected_assistants',
  'assistant_tokens',
  'sessions',
  'invitations',
  'replaced_invitation_links',
  'password_links',
  'audit_log',
  'idempotency_keys',
  'outbox',
  'tests',
  'image_loads',
  'test_images',
  'unsubscribe_tries',
  'inboxes',
  'test_tags',
  'seed_mailboxes',
  'seed_credentials',
  'placements',
  'messages',
  'message_chunks',
  'events',
  'webhook_endpoints',
  'webhook_deliveries',
  'webhook_attempts',
  'domains',
  'domain_digests',
  'hosted_files',
  'monitors',
  'monitor_runs',
  'alerts',
  'alert_incidents',
  'alert_closings',
  'alert_notifications',
  'test_tallies',
  'shared_reports',
  'shared_report_tests',
  'report_schedules',
  'report_runs',
  'report_copies',
  'report_readers',
  'feedback_domains',
  'feedback_mails',
  'report_mailboxes',
  'feedback_reporters',
  'feedback_reports',
  'dmarc_rows',
  'dmarc_days',
  'feedback_addresses',
  'feedback_sources',
  'feedback_source_days',
  'feedback_source_months',
  'tls_days',
  'tls_failures',
  'complaints',
  'bounces',
  'feedback_message_sums',
  'receivers',
  'receiver_credentials',
  'receiver_domains',
  'receiver_days',
  'receiver_requirements',
  'receiver_addresses',
  'receiver_blocks',
  'dns_servers',
  'dns_changes',
  'brand',
];

/** Tables whose IDs the service creates. */
export const TABLES_WITH_IDS = [
  'members',
  'api_keys',
  'connected_assistants',
  'sessions',
  'invitations',
  'audit_log',
  'outbox',
  'tests',
  'inboxes',
  'messages',
  'events',
  'webhook_endpoints',
  'webhook_deliveries',
  'domains',
  'monitors',
  'monitor_runs',
  'alerts',
  'alert_incidents',
  'alert_notifications',
  'shared_reports',
  'report_schedules',
  'report_runs',
  'feedback_mails',
  'report_mailboxes',
  'feedback_reporters',
  'feedback_reports',
  'feedback_sources',
  'complaints',
  'bounces',
  'dns_servers',
  'dns_changes',
] as const;
