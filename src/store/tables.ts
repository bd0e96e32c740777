/** The rows of every table, as Kysely sees them; `schema.sql` is the same in SQL, with the reasons. */

export interface MemberRow {
  id: string;
  email: string;
  name: string;
  role: 'owner' | 'admin' | 'member' | 'viewer';
  joined_at: string;
  password_hash: string | null;
}

export interface ApiKeyRow {
  id: string;
  member_id: string;
  name: string;
  role: MemberRow['role'];
  livemode: number;
  hash: string;
  prefix: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

export interface TestRow {
  id: string;
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
  line_ends_converted: number;
  analysis_due_at: string | null;
  analysis_attempts: number;
  lease: string | null;
  leased_until: string | null;
  keep_until: string | null;
  previous: string | null;
  envelope: string | null;
  categories: string | null;
  cap: string | null;
  search: string;
  checks: string | null;
  judged_kind: string | null;
  providers: string | null;
  domain_id: string | null;
}

export interface MessageRow {
  id: string;
  test_id: string | null;
  recipient: string;
  sha256: string;
  size: number;
  envelope: string;
  received_at: string;
}

interface MessageChunkRow {
  message_id: string;
  position: number;
  bytes: Uint8Array;
}

export interface EventRow {
  id: string;
  type: string;
  livemode: number;
  created_at: string;
  data: string;
}

export interface SessionRow {
  id: string;
  member_id: string;
  hash: string;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  ip: string | null;
  user_agent: string | null;
}

export interface InvitationRow {
  id: string;
  email: string;
  role: 'admin' | 'member' | 'viewer';
  hash: string;
  invited_by: string;
  created_at: string;
  expires_at: string;
  accepted_at: string | null;
  revoked_at: string | null;
  mail_id: string | null;
}

interface ReplacedInvitationLinkRow {
  hash: string;
  invitation_id: string;
}

interface ServiceFactRow {
  name: string;
  value: string;
}

interface PasswordLinkRow {
  hash: string;
  member_id: string;
  created_at: string;
  expires_at: string;
  used_at: string | null;
}

export interface AuditRow {
  id: string;
  created_at: string;
  member_id: string | null;
  member_email: string | null;
  key_id: string | null;
  session_id: string | null;
  ip: string | null;
  action: string;
  object_type: string;
  object_id: string;
  details: string;
}

export interface IdempotencyRow {
  caller: string;
  key: string;
  request_hash: string;
  created_at: string;
  status: number | null;
  response: string | null;
}

export interface OutboxRow {
  id: string;
  created_at: string;
  recipient: string;
  content: string | null;
  status: 'queued' | 'sent' | 'failed';
  attempts: number;
  due_at: string | null;
  lease: string | null;
  leased_until: string | null;
  sent_at: string | null;
  error: string | null;
  useful_until: string | null;
  bulk: number;
}

export interface Tables {
  test_tallies: TestTallyRow;
  shared_reports: SharedReportRow;
  shared_report_tests: SharedReportTestRow;
  report_schedules: ReportScheduleRow;
  report_runs: ReportRunRow;
  report_copies: ReportCopyRow;
  report_readers: ReportReaderRow;
  domains: DomainRow;
  monitors: MonitorRow;
  monitor_runs: MonitorRunRow;
  alerts: AlertRow;
  alert_incidents: AlertIncidentRow;
  alert_closings: AlertClosingRow;
  alert_notifications: AlertNotificationRow;
  webhook_endpoints: WebhookEndpointRow;
  webhook_deliveries: WebhookDeliveryRow;
  webhook_attempts: WebhookAttemptRow;
  service_facts: ServiceFactRow;
  replaced_invitation_links: ReplacedInvitationLinkRow;
  sessions: SessionRow;
  invitations: InvitationRow;
  password_links: PasswordLinkRow;
  audit_log: AuditRow;
  idempotency_keys: IdempotencyRow;
  outbox: OutboxRow;
  members: MemberRow;
  api_keys: ApiKeyRow;
  tests: TestRow;
  messages: MessageRow;
  message_chunks: MessageChunkRow;
  events: EventRow;
}

// The rows of webhooks; `schema.sql` is the same in SQL, with the reasons.

export interface WebhookEndpointRow {
  id: string;
  url: string;
  events: string;
  description: string | null;
  enabled: number;
  secret: string;
  former_secret: string | null;
  former_secret_until: string | null;
  created_at: string;
  failing_since: string | null;
  auto_disabled_at: string | null;
  deleted_at: string | null;
}

export interface WebhookDeliveryRow {
  id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  sample: string | null;
  created_at: string;
  status: 'pending' | 'succeeded' | 'failed' | 'held';
  round_trigger: 'event' | 'test' | 'resend' | 'recover';
  round_failures: number;
  attempts: number;
  due_at: string | null;
  lease: string | null;
}

export interface WebhookAttemptRow {
  delivery_id: string;
  number: number;
  trigger: string;
  started_at: string;
  duration_ms: number | null;
  url: string;
  request_headers: string;
  response_status: number | null;
  response_headers: string | null;
  response_body: string | null;
  error: string | null;
}

// The rows of domains, monitors and alert rules; `schema.sql` is the same in SQL, with the reasons.

export interface DomainRow {
  id: string;
  name: string;
  status: 'pending' | 'verified' | 'failed';
  token: string;
  created_at: string;
  verified_at: string | null;
  pending_since: string;
  last_checked_at: string | null;
  last_check_detail: string | null;
  next_check_at: string | null;
  missing_since: string | null;
  given_selectors: string;
  learnt_selectors: string;
  badge_enabled: number;
  health_status: 'healthy' | 'warning' | 'critical' | 'unknown';
  health_score: number | null;
  health_checks: string;
  health_checked_at: string | null;
  lease: string | null;
  leased_until: string | null;
}

export interface MonitorRow {
  id: string;
  name: string;
  type: 'domain_health' | 'blocklist' | 'placement';
  domain_id: string | null;
  targets: string | null;
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
  findings: string;
  changes: string;
}

export interface AlertRow {
  id: string;
  name: string;
  condition: 'score_below' | 'auth_fail' | 'blocklist_hit';
  threshold: number | null;
  channels: string;
  enabled: number;
  domain_id: string | null;
  recipients: string | null;
  slack_webhook_url: string | null;
  last_triggered_at: string | null;
  created_at: string;
}

export interface AlertIncidentRow {
  id: string;
  alert_id: string;
  subject: string;
  status: 'open' | 'resolved';
  value: string;
  test_id: string | null;
  run_id: string | null;
  opened_at: string;
  resolved_at: string | null;
  resolution: string | null;
  condition: AlertRow['condition'];
  threshold: number | null;
  closing_id: string | null;
}

interface AlertClosingRow {
  id: string;
  resolution: string;
  alert: string;
}

export interface AlertNotificationRow {
  id: string;
  incident_id: string | null;
  alert_id: string;
  news: 'triggered' | 'resolved' | 'test';
  channel: 'email' | 'webhook' | 'slack';
  recipient: string | null;
  status: 'queued' | 'sent' | 'failed' | 'unconfigured' | 'suppressed';
  error: string | null;
  attempts: number;
  mail_id: string | null;
  created_at: string;
  due_at: string | null;
  sent_at: string | null;
  lease: string | null;
  leased_until: string | null;
  event_id: string | null;
}

// The rows of counted tests and of reports; `schema.sql` is the same in SQL, with the reasons.

export interface TestTallyRow {
  livemode: number;
  domain_id: string;
  hour: string;
  tests: number;
  scored: number;
  score_sum: number;
  grade_a: number;
  grade_b: number;
  grade_c: number;
  grade_d: number;
  grade_f: number;
  spf_known: number;
  spf_pass: number;
  dkim_known: number;
  dkim_pass: number;
  dmarc_known: number;
  dmarc_pass: number;
  placement_samples: number;
  placement_inbox: number;
  issues: string;
}

export interface SharedReportRow {
  id: string;
  livemode: number;
  title: string | null;
  token_hash: string;
  token: string;
  created_by: string | null;
  created_at: string;
  expires_at: string;
  revoked_at: string | null;
  view_count: number;
  last_viewed_at: string | null;
}

interface SharedReportTestRow {
  report_id: string;
  position: number;
  test_id: string;
}

export interface ReportScheduleRow {
  id: string;
  name: string;
  frequency: 'daily' | 'weekly' | 'monthly';
  recipients: string;
  domains: string | null;
  include_sections: string;
  format: 'html' | 'pdf';
  send_hour: number;
  timezone: string;
  weekday: 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday';
  day_of_month: number;
  enabled: number;
  next_send_at: string | null;
  created_at: string;
  lease: string | null;
  leased_until: string | null;
}

export interface ReportRunRow {
  id: string;
  schedule_id: string;
  trigger: 'schedule' | 'manual';
  slot: string | null;
  period_from: string;
  period_to: string;
  created_at: string;
  error: string | null;
}

export interface ReportCopyRow {
  run_id: string;
  recipient: string;
  mail_id: string | null;
  status: 'queued' | 'sent' | 'failed' | 'unsubscribed' | 'not_configured';
  error: string | null;
  sent_at: string | null;
}

interface ReportReaderRow {
  schedule_id: string;
  email: string;
  token_hash: string;
  left_at: string | null;
}
