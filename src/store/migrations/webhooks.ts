/** Step 5: endpoints of webhooks, deliveries to them, and each attempt. */

export const WEBHOOKS = `
CREATE TABLE webhook_endpoints (
  id                  TEXT NOT NULL PRIMARY KEY,
  url                 TEXT NOT NULL,
  events              TEXT NOT NULL,
  description         TEXT,
  enabled             INTEGER NOT NULL,
  secret              TEXT NOT NULL,
  former_secret       TEXT,
  former_secret_until TEXT,
  created_at          TEXT NOT NULL,
  failing_since       TEXT,
  auto_disabled_at    TEXT,
  deleted_at          TEXT
);
CREATE TABLE webhook_deliveries (
  id             TEXT NOT NULL PRIMARY KEY,
  endpoint_id    TEXT NOT NULL,
  event_id       TEXT NOT NULL,
  event_type     TEXT NOT NULL,
  sample         TEXT,
  created_at     TEXT NOT NULL,
  status         TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'held')),
  round_trigger  TEXT NOT NULL CHECK (round_trigger IN ('event', 'test', 'resend', 'recover')),
  round_failures INTEGER NOT NULL DEFAULT 0,
  attempts       INTEGER NOT NULL DEFAULT 0,
  due_at         TEXT,
  lease          TEXT
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at)
  WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (endpoint_id, id);
CREATE INDEX webhook_deliveries_status ON webhook_deliveries (endpoint_id, status, id);
CREATE INDEX webhook_deliveries_created ON webhook_deliveries (created_at);
CREATE TABLE webhook_attempts (
  delivery_id      TEXT NOT NULL,
  number           INTEGER NOT NULL,
  trigger          TEXT NOT NULL,
  started_at       TEXT NOT NULL,
  duration_ms      INTEGER,
  url              TEXT NOT NULL,
  request_headers  TEXT NOT NULL,
  response_status  INTEGER,
  response_headers TEXT,
  response_body    TEXT,
  error            TEXT,
  PRIMARY KEY (delivery_id, number)
);
`;
