/** How each part that the service leans on is now. */

import type { App } from '../app.ts';
import { errorMessage } from '../lib/errors.ts';

export interface Dependency {
  name: string;
  /** `disabled` where it is not configured. */
  status: 'up' | 'degraded' | 'down' | 'disabled';
  detail: string | null;
  latency_ms: number | null;
}

/** A balancer asks every few seconds: DNS need not be asked each time. */
const DNS_PROBE_EVERY_MS = 30_000;

/** In the order of the contract; never rejects. */
export async function probeDependencies(app: App): Promise<Dependency[]> {
  return [
    await probeDatabase(app),
    plain(
      'mail_listener',
      app.mailListening() ? 'up' : 'down',
      app.mailListening() ? null : 'It does not listen.',
    ),
    plain(
      'scheduler',
      app.scheduler.running() ? 'up' : 'degraded',
      app.scheduler.running() ? null : 'It is stopped.',
    ),
    await probeDns(app),
    plain('outgoing_smtp', 'disabled', 'Not configured.'),
    plain('seed_mailboxes', 'disabled', 'Not configured.'),
  ];
}

const plain = (name: string, status: Dependency['status'], detail: string | null): Dependency => ({
  name,
  status,
  detail,
  latency_ms: null,
});

async function probeDatabase({ db, clock }: App): Promise<Dependency> {
  const started = clock.now();
  try {
    await db.selectFrom('members').select('id').limit(1).execute();
    return { name: 'database', status: 'up', detail: null, latency_ms: clock.now() - started };
  } catch (error) {
    return { ...plain('database', 'down', 'It does not answer.'), detail: codeOf(error) };
  }
}

/** Only a code leaves: a message may hold a path. */
function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? errorMessage(error).slice(0, 20);
}

interface DnsProbe {
  at: number;
  result: Promise<Dependency>;
}
const dnsProbes = new WeakMap<App, DnsProbe>();

/** The root's name servers: a question that every resolver can answer. */
async function probeDns(app: App): Promise<Dependency> {
  const now = app.clock.now();
  const last = dnsProbes.get(app);
  if (last && now - last.at < DNS_PROBE_EVERY_MS) return last.result;
  const result = app.resolver('', 'NS').then((answer): Dependency => {
    const latency_ms = app.clock.now() - now;
    if (answer.status !== 'error') return { name: 'dns', status: 'up', detail: null, latency_ms };
    return {
      name: 'dns',
      status: 'degraded',
      detail: `It cannot be asked: ${answer.reason}.`,
      latency_ms,
    };
  });
  dnsProbes.set(app, { at: now, result });
  return result;
}
