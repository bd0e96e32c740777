/** How each part that the service leans on is now. */

import { setTimeout as after } from 'node:timers/promises';
import { NOT_TESTED } from '../analysis/blocklists/watch.ts';
import type { App } from '../app.ts';
import { errorMessage } from '../lib/errors.ts';
import type { Mailer } from '../net/smtp/mailer.ts';

export interface Dependency {
  name: string;
  /** `disabled` where it is not configured. */
  status: 'up' | 'degraded' | 'down' | 'disabled';
  detail: string | null;
  latency_ms: number | null;
}

/** A balancer asks every few seconds: DNS need not be asked each time. */
const DNS_PROBE_EVERY_MS = 30_000;
/** Where no mail has gone out for so long, the server is asked whether it would take some. */
const MAIL_PROBE_EVERY_MS = 5 * 60_000;

/** In the order of the contract; never rejects. */
export async function probeDependencies(app: App): Promise<Dependency[]> {
  const [dns, outgoing] = await Promise.all([probeDns(app), probeOutgoing(app)]);
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
    dns,
    outgoing,
    plain('seed_mailboxes', 'disabled', 'Not configured.'),
    blocklists(app),
  ];
}

const plain = (name: string, status: Dependency['status'], detail: string | null): Dependency => ({
  name,
  status,
  detail,
  latency_ms: null,
});

/** By their last tests; the zone that is asked may hold a key and is not shown. */
function blocklists({ blocklists: watch }: App): Dependency {
  const known = watch.known();
  if (known.length === 0) return plain('blocklists', 'disabled', 'None is switched on.');
  const out = known.filter(({ fault }) => fault !== null);
  if (out.length === 0) return plain('blocklists', 'up', null);
  const names = out.map(({ list }) => list.name).join(', ');
  const untested = out.every(({ fault }) => fault === NOT_TESTED);
  return plain('blocklists', 'degraded', `${untested ? 'Not tested yet' : 'Left out'}: ${names}.`);
}

async function probeDatabase({ db, clock, hasSpace }: App): Promise<Dependency> {
  const started = clock.now();
  try {
    await db.selectFrom('members').select('id').limit(1).execute();
    const latency_ms = clock.now() - started;
    const roomy = await hasSpace();
    const detail = roomy ? null : 'The disk is nearly full: no messages are taken.';
    return { name: 'database', status: roomy ? 'up' : 'degraded', detail, latency_ms };
  } catch (error) {
    return { ...plain('database', 'down', 'It does not answer.'), detail: codeOf(error) };
  }
}

/** Only a code leaves: a message may hold a path. */
function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? errorMessage(error).slice(0, 20);
}

/** A first answer is waited for so long; a balancer must have its own soon. */
const PROBE_WAIT_MS = 1_000;

interface DnsProbe {
  at: number;
  /** What the last probe that has ended found. */
  known: Dependency;
  running: Promise<void>;
}
const dnsProbes = new WeakMap<App, DnsProbe>();

/** What was found last; a probe that is due runs beside the answer. */
async function probeDns(app: App): Promise<Dependency> {
  const now = app.clock.now();
  const last = dnsProbes.get(app);
  if (last && now - last.at < DNS_PROBE_EVERY_MS) return last.known;
  const known = last?.known ?? plain('dns', 'degraded', 'It has not answered yet.');
  const probe: DnsProbe = { at: now, known, running: Promise.resolve() };
  dnsProbes.set(app, probe);
  probe.running = askDns(app).then((found) => {
    probe.known = found;
  });
  if (!last) await Promise.race([probe.running, after(PROBE_WAIT_MS, null, { ref: false })]);
  return probe.known;
}

/** A question that every resolver can answer; whatever it says, it has answered. */
async function askDns({ resolver, clock }: App): Promise<Dependency> {
  const started = clock.now();
  const answer = await resolver('com', 'NS');
  const latency_ms = clock.now() - started;
  return answer.status === 'error'
    ? {
        name: 'dns',
        status: 'degraded',
        detail: `It cannot be asked: ${answer.reason}.`,
        latency_ms,
      }
    : { name: 'dns', status: 'up', detail: null, latency_ms };
}

const mailProbes = new WeakMap<Mailer, Promise<void>>();

/** As the last attempt found the server; one that is due runs beside the answer. */
async function probeOutgoing({ mailer, clock }: App): Promise<Dependency> {
  if (mailer === null) return plain('outgoing_smtp', 'disabled', 'Not configured.');
  const last = mailer.known();
  const due = !last || clock.now() - last.at >= MAIL_PROBE_EVERY_MS;
  if (due && !mailProbes.has(mailer)) {
    const probe = mailer.verify().finally(() => mailProbes.delete(mailer));
    mailProbes.set(mailer, probe);
    if (!last) await Promise.race([probe, after(PROBE_WAIT_MS, null, { ref: false })]);
  }
  const known = mailer.known();
  if (!known) return plain('outgoing_smtp', 'degraded', 'It has not answered yet.');
  if (known.fault === null) return plain('outgoing_smtp', 'up', null);
  return plain('outgoing_smtp', 'degraded', `It cannot be used: ${known.fault}.`);
}
