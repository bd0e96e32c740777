/** Step 7, of alert rules: what opened each incident stays with it, and what became of each notification. */

/** Of an incident whose rule is gone, the value tells which condition it had. */
const INCIDENTS = `
ALTER TABLE alert_incidents RENAME TO former_incidents;
DROP INDEX alert_incidents_open;
DROP INDEX alert_incidents_listed;
CREATE TABLE alert_incidents (
  id          TEXT NOT NULL PRIMARY KEY,
  alert_id    TEXT NOT NULL,
  subject     TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('open', 'resolved')),
  value       TEXT NOT NULL,
  test_id     TEXT,
  run_id      TEXT,
  opened_at   TEXT NOT NULL,
  resolved_at TEXT,
  resolution  TEXT,
  condition   TEXT NOT NULL CHECK (condition IN ('score_below', 'auth_fail', 'blocklist_hit')),
  threshold   INTEGER,
  closing_id  TEXT
);
CREATE UNIQUE INDEX alert_incidents_open ON alert_incidents (alert_id, subject)
  WHERE status = 'open' AND closing_id IS NULL;
CREATE INDEX alert_incidents_closing ON alert_incidents (closing_id, id)
  WHERE closing_id IS NOT NULL;
CREATE INDEX alert_incidents_listed ON alert_incidents (alert_id, id);
CREATE INDEX alert_incidents_status ON alert_incidents (status, id);
CREATE INDEX alert_incidents_resolved ON alert_incidents (resolved_at)
  WHERE resolved_at IS NOT NULL;
INSERT INTO alert_incidents
SELECT former.id, alert_id, subject, status, value, test_id, run_id, opened_at, resolved_at, resolution,
  CASE WHEN json_extract(value, '$.threshold') IS NOT NULL THEN 'score_below'
    WHEN json_extract(value, '$.lists') IS NOT NULL THEN 'blocklist_hit' ELSE 'auth_fail' END,
  json_extract(value, '$.threshold'), NULL
FROM former_incidents AS former;
DROP TABLE former_incidents;
CREATE TABLE alert_closings (
  id         TEXT NOT NULL PRIMARY KEY,
  resolution TEXT NOT NULL,
  alert      TEXT NOT NULL
);
`;

/** What the outbox has forgotten by now was shown as sent. */
const NOTIFICATIONS = `
ALTER TABLE alert_notifications RENAME TO former_notifications;
DROP INDEX alert_notifications_of;
DROP INDEX alert_notifications_due;
CREATE TABLE alert_notifications (
  id           TEXT NOT NULL PRIMARY KEY,
  incident_id  TEXT,
  alert_id     TEXT NOT NULL,
  news         TEXT NOT NULL CHECK (news IN ('triggered', 'resolved', 'test')),
  channel      TEXT NOT NULL CHECK (channel IN ('email', 'webhook', 'slack')),
  recipient    TEXT,
  status       TEXT NOT NULL CHECK
    (status IN ('queued', 'sent', 'failed', 'unconfigured', 'suppressed')),
  error        TEXT,
  attempts     INTEGER NOT NULL DEFAULT 0,
  mail_id      TEXT,
  created_at   TEXT NOT NULL,
  due_at       TEXT,
  sent_at      TEXT,
  lease        TEXT,
  leased_until TEXT,
  event_id     TEXT
);
CREATE INDEX alert_notifications_of ON alert_notifications (incident_id);
CREATE INDEX alert_notifications_due ON alert_notifications (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX alert_notifications_mail ON alert_notifications (mail_id) WHERE mail_id IS NOT NULL;
CREATE INDEX alert_notifications_recipient ON alert_notifications (alert_id, recipient, created_at)
  WHERE recipient IS NOT NULL;
CREATE INDEX alert_notifications_held ON alert_notifications (alert_id, recipient)
  WHERE channel = 'email' AND status = 'queued' AND mail_id IS NULL;
CREATE INDEX alert_notifications_carried ON alert_notifications (id)
  WHERE channel = 'webhook' AND status = 'queued';
CREATE INDEX alert_notifications_samples ON alert_notifications (created_at)
  WHERE incident_id IS NULL;
INSERT INTO alert_notifications
SELECT former.id, incident_id, alert_id, news, channel, former.recipient,
  CASE WHEN mail_id IS NULL THEN former.status ELSE coalesce(outbox.status, 'sent') END,
  CASE WHEN mail_id IS NULL THEN former.error
    WHEN outbox.id IS NULL THEN 'what became of the mail is no longer known' ELSE outbox.error END,
  former.attempts, mail_id, former.created_at, former.due_at,
  coalesce(former.sent_at, outbox.sent_at), former.lease, former.leased_until, NULL
FROM former_notifications AS former LEFT JOIN outbox ON outbox.id = former.mail_id;
DROP TABLE former_notifications;
`;

/** Mail of which there may be a lot waits behind other mail; and deliveries are found by their event. */
const SENDING = `
ALTER TABLE outbox ADD COLUMN bulk INTEGER NOT NULL DEFAULT 0;
DROP INDEX outbox_due;
CREATE INDEX outbox_due ON outbox (bulk, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);
`;

export const ALERTS = `${INCIDENTS}${NOTIFICATIONS}${SENDING}`;
