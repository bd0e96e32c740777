/** The rows of webhooks; `schema.sql` is the same in SQL, with the reasons. */

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
