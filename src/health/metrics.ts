/** `GET /metrics`: the counters of this process and the state of the service, for Prometheus. */

import { timingSafeEqual } from 'node:crypto';
import { Gauge, Registry } from 'prom-client';
import type { App } from '../app.ts';
import { PREFIX } from '../config/config.ts';
import { type Route, route } from '../http/route.ts';
import { inNetworks, parseNetwork } from '../lib/addresses.ts';
import { AppError } from '../lib/errors.ts';
import { formatMetrics, METRIC_PREFIX } from '../lib/metrics.ts';
import { describeSystem, type SystemFacts } from './system.ts';

const LOOPBACK = ['127.0.0.0/8', '::1'].map((network) => parseNetwork(network)!);
/** Their presence shows that a proxy on this machine passes on the request of someone else. */
const PROXY_FIELDS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

export const metricsRoute: Route = route({
  method: 'GET',
  path: '/metrics',
  operation: 'getMetrics',
  role: 'public',
  summary: 'Get metrics for Prometheus',
  description:
    'Returns the counters of this node and the state of the service in the text format of Prometheus. Requires the token that the operator has set, as `Authorization: Bearer`. Without one, only programs on the same machine can read it.',
  produces: ['text/plain'],
  errors: ['unauthenticated', 'forbidden'],
  async handle({ app, caller, headers }) {
    requireAccess(app, caller.ip, headers);
    const state = await stateOf(app, await describeSystem(app)).metrics();
    return new Response(`${await formatMetrics(app.metrics)}\n${state}`, {
      headers: { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE, 'cache-control': 'no-store' },
    });
  },
}) as Route;

function requireAccess({ config }: App, ip: string | null, headers: Headers): void {
  if (config.METRICS_TOKEN !== null) {
    const sent = Buffer.from(headers.get('authorization') ?? '');
    const expected = Buffer.from(`Bearer ${config.METRICS_TOKEN}`);
    if (sent.length === expected.length && timingSafeEqual(sent, expected)) return;
    throw new AppError('unauthenticated', 'Send the metrics token as a bearer token.');
  }
  const isPassedOn = PROXY_FIELDS.some((name) => headers.has(name));
  if (!isPassedOn && ip !== null && inNetworks(ip, LOOPBACK)) return;
  throw new AppError(
    'forbidden',
    `Only programs on the same machine can read the metrics. To read them from elsewhere, set ${PREFIX}METRICS_TOKEN.`,
  );
}

const STATES = ['up', 'degraded', 'down', 'disabled'] as const;

/** Gauges of the present state. What is not known is missing. */
function stateOf({ version, nodeVersion, clock, config }: App, facts: SystemFacts): Registry {
  const registry = new Registry();
  const gauge = (name: string, help: string, value: number | null | undefined) => {
    if (value === null || value === undefined) return;
    new Gauge({ name: METRIC_PREFIX + name, help, registers: [registry] }).set(value);
  };
  const labelled = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge({ name: METRIC_PREFIX + name, help, labelNames, registers: [registry] });
  const secondsSince = (time: string | null) =>
    time === null ? 0 : Math.max(0, (clock.now() - Date.parse(time)) / 1000);

  const { versions, database, feedbackShares, work, dependencies, otherNodes } = facts;
  labelled('build_info', 'Versions of the program; always 1.', [
    'version',
    'nodejs',
    'ruleset',
  ]).set({ version, nodejs: nodeVersion ?? '', ruleset: versions.ruleset }, 1);
  const states = labelled('dependency_state', 'Whether a dependency has this state: 0 or 1.', [
    'dependency',
    'state',
  ]);
  for (const { name, status } of dependencies)
    for (const state of STATES) states.set({ dependency: name, state }, Number(state === status));
  gauge('analysis_threads', 'Threads that analyze messages.', config.WORKERS);
  gauge('nodes', 'Nodes that use the database.', otherNodes && otherNodes.length + 1);
  gauge('database_bytes', 'Size of the database.', database.size);
  gauge('database_disk_free_bytes', 'Free space on the disk of the database.', database.free);
  gauge(
    'database_clock_skew_seconds',
    'How far the clock of this node is ahead of the database.',
    database.clock_skew_ms === null ? null : database.clock_skew_ms / 1000,
  );
  const used = labelled('feedback_storage_bytes', 'Stored feedback by share of the disk.', [
    'share',
  ]);
  const limits = labelled('feedback_storage_limit_bytes', 'The size of each share.', ['share']);
  for (const share of feedbackShares ?? []) {
    used.set({ share: share.id }, share.used);
    limits.set({ share: share.id }, share.limit);
  }
  if (work === null) return registry;
  const { tests, outbox, deliveries } = work;
  // Counted up to a limit, so that a scrape stays cheap.
  gauge('tests_waiting_for_mail', 'Tests without a message.', tests.waitingForMail.count);
  gauge('analyses_due', 'Messages to analyze.', tests.waitingForAnalysis.count);
  gauge(
    'analyses_oldest_due_seconds',
    'Time since when an analysis is due; 0 if none is.',
    secondsSince(tests.oldestDueAt),
  );
  gauge('mail_queued', 'Emails to send.', outbox.queued.count);
  gauge(
    'mail_oldest_queued_seconds',
    'Age of the oldest email to send; 0 if there is none.',
    secondsSince(outbox.oldestQueuedAt),
  );
  gauge('webhook_deliveries_pending', 'Webhook deliveries to attempt.', deliveries.pending.count);
  gauge(
    'webhook_deliveries_held',
    'Webhook deliveries of disabled endpoints.',
    deliveries.held.count,
  );
  return registry;
}
