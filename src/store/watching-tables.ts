/** The rows of domains, monitors and alert rules; `schema.sql` is the same in SQL, with the reasons. */

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

export interface AlertClosingRow {
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
