/** What this process counts for Prometheus: https://prometheus.io/docs/practices/naming/ */

import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { memoizePerObject } from './memoize.ts';

export const METRIC_PREFIX = 'deliverability_';

export type Metrics = ReturnType<typeof createMetrics>;

/** Labels never contain IDs, addresses or host names: each value is a time series. */
export function createMetrics() {
  const registry = new Registry();
  const counter = <const L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({
      name: METRIC_PREFIX + name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
    });
  const histogram = <const L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: number[],
  ) =>
    new Histogram({
      name: METRIC_PREFIX + name,
      help,
      labelNames: [...labelNames],
      buckets,
      registers: [registry],
    });
  return {
    registry,
    httpRequests: counter('http_requests_total', 'HTTP requests by route and status.', [
      'method',
      'route',
      'status',
    ]),
    httpDuration: histogram(
      'http_request_duration_seconds',
      'Time to respond, without requests that wait for a change.',
      ['surface'],
      [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    ),
    smtpConnections: counter('smtp_connections_total', 'SMTP connections that got a greeting.', []),
    smtpMessages: counter('smtp_messages_total', 'Messages accepted over SMTP.', ['for']),
    smtpRefusals: counter('smtp_refusals_total', 'Recipients and messages refused over SMTP.', [
      'code',
    ]),
    analyses: counter('analyses_total', 'Analyses of messages by outcome.', ['outcome']),
    analysisDuration: histogram(
      'analysis_duration_seconds',
      'Time that the analysis of a message takes, with DNS and spam engines.',
      [],
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    ),
    feedbackReports: counter('feedback_reports_total', 'Reports of receivers by type and status.', [
      'type',
      'status',
    ]),
    webhookAttempts: counter('webhook_attempts_total', 'Attempts to deliver webhooks.', [
      'outcome',
    ]),
    mailAttempts: counter('mail_attempts_total', 'Attempts to send email.', ['outcome']),
    jobRuns: counter('job_runs_total', 'Runs of background jobs.', ['job', 'outcome']),
  };
}

/** Watching the event loop and the garbage collector has a cost, so it begins with the first question. */
const watchProcess = memoizePerObject((registry: Registry) =>
  collectDefaultMetrics({ register: registry, prefix: METRIC_PREFIX }),
);

/** The text format of Prometheus. The first call begins to watch the process. */
export function formatMetrics({ registry }: Pick<Metrics, 'registry'>): Promise<string> {
  watchProcess(registry);
  return registry.metrics();
}
