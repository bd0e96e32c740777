/** What this node knows about tests in progress beyond the database: connections, rejections, finished checks. */

import type { AnalysisStep, StepOutcome } from '../analysis/analyze.ts';
import type { Envelope } from '../analysis/check.ts';
import type { App } from '../app.ts';
import { DAY_MS } from '../lib/durations.ts';
import { memoizePerObject } from '../lib/memoize.ts';

/** An SMTP session that named the address of a test. */
export interface DeliveryAttempt {
  /** As sent at RCPT. */
  recipient: string;
  client: Pick<Envelope, 'client_ip' | 'helo' | 'tls'>;
  /** The reply that rejected the address or the message; null if neither was rejected so far. */
  rejection: { code: number; enhanced: string; text: string } | null;
}

export interface LiveTest {
  /** The last one; null if there was none, or another node handled it. */
  attempt: (Omit<DeliveryAttempt, 'recipient'> & { at: number }) | null;
  /** The parts of a running analysis that are finished. */
  steps: Partial<Record<AnalysisStep, StepOutcome>>;
}

interface Entry extends LiveTest {
  /** Milliseconds since the epoch. */
  usedAt: number;
}

/** The least recently used entries beyond this number are dropped. Anyone may connect. */
const MAX_TESTS = 1000;
const MAX_AGE_MS = DAY_MS;
const MAX_HELO_LENGTH = 255;

interface LiveState {
  /** By test ID; the least recently used first. */
  tests: Map<string, Entry>;
  /** Test IDs by the local part of the address, for the tests that RCPT named lately. */
  ids: Map<string, string>;
}

const stateOf = memoizePerObject(
  (_app: App['signals']): LiveState => ({ tests: new Map(), ids: new Map() }),
);

type LiveApp = Pick<App, 'clock' | 'signals'>;

/** Raised for what is known here only. The signal of the test itself would wake the clients that wait for its end. */
export const liveSignal = (testId: string): string => `${testId} live`;

/** Remembers which test an address belongs to, so that its attempts need no query. */
export function expectAttempt({ signals }: LiveApp, token: string, testId: string): void {
  const { ids } = stateOf(signals);
  ids.delete(token);
  ids.set(token, testId);
  dropOldest(ids);
}

/** Returns the ID of the test; null for addresses that `expectAttempt` was not called for. */
export function recordAttempt(
  app: LiveApp,
  { recipient, client, rejection }: DeliveryAttempt,
): string | null {
  const token = recipient.slice(0, recipient.lastIndexOf('@')).toLowerCase();
  const id = stateOf(app.signals).ids.get(token);
  if (id === undefined) return null;
  const helo = client.helo?.slice(0, MAX_HELO_LENGTH) ?? null;
  entryOf(app, id).attempt = { client: { ...client, helo }, rejection, at: app.clock.now() };
  // Other nodes don't know about it.
  app.signals.raiseHere(liveSignal(id));
  return id;
}

/** An analysis of the test begins, or has ended. */
export function clearSteps({ signals }: LiveApp, testId: string): void {
  const entry = stateOf(signals).tests.get(testId);
  if (entry) entry.steps = {};
}

export function recordStep(app: LiveApp, id: string, step: AnalysisStep, outcome: StepOutcome) {
  entryOf(app, id).steps[step] = outcome;
  app.signals.raiseHere(liveSignal(id));
}

const NOTHING: LiveTest = { attempt: null, steps: {} };

export function liveTest({ clock, signals }: LiveApp, testId: string): LiveTest {
  const entry = stateOf(signals).tests.get(testId);
  return entry && clock.now() - entry.usedAt < MAX_AGE_MS ? entry : NOTHING;
}

function entryOf({ clock, signals }: LiveApp, id: string): Entry {
  const { tests } = stateOf(signals);
  const entry = tests.get(id) ?? { ...NOTHING, steps: {}, usedAt: 0 };
  entry.usedAt = clock.now();
  tests.delete(id);
  tests.set(id, entry);
  dropOldest(tests);
  return entry;
}

function dropOldest(entries: Map<string, unknown>): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= MAX_TESTS) return;
    entries.delete(oldest);
  }
}
