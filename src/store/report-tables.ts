/** The rows of counted tests and of reports; `schema.sql` is the same in SQL, with the reasons. */

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

export interface SharedReportTestRow {
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

export interface ReportReaderRow {
  schedule_id: string;
  email: string;
  token_hash: string;
  left_at: string | null;
}
