/** The rows of every table, as Kysely sees them; `schema.sql` is the same in SQL, with the reasons. */

import type {
  ReportCopyRow,
  ReportReaderRow,
  ReportRunRow,
  ReportScheduleRow,
  SharedReportRow,
  SharedReportTestRow,
  TestTallyRow,
} from './report-tables.ts';
import type {
  AlertClosingRow,
  AlertIncidentRow,
  AlertNotificationRow,
  AlertRow,
  DomainRow,
  MonitorRow,
  MonitorRunRow,
} from './watching-tables.ts';
import type {
  WebhookAttemptRow,
  WebhookDeliveryRow,
  WebhookEndpointRow,
} from './webhook-tables.ts';

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

export interface MessageChunkRow {
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

export interface ReplacedInvitationLinkRow {
  hash: string;
  invitation_id: string;
}

export interface ServiceFactRow {
  name: string;
  value: string;
}

export interface PasswordLinkRow {
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
