/**
 * Which trace caused a test or an event, so that the webhooks that result from it belong to the trace. In memory:
 * after a restart, or on another node, they begin without it.
 */

import type { App } from '../app.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { currentTrace, type TraceContext } from '../lib/trace-context.ts';

const MAX_REMEMBERED = 10_000;

type Context = Pick<App, 'subscribers'>;

/** All parts of an App that features pass on have its subscribers. */
const tracesOf = memoizePerObject((_: App['subscribers']) => new Map<string, TraceContext>());

/** Assigns the object to the current trace, if there is one. */
export function rememberTrace({ subscribers }: Context, id: string): void {
  const trace = currentTrace();
  if (trace === null) return;
  const traces = tracesOf(subscribers);
  traces.set(id, trace);
  // A Map keeps the order of insertion.
  if (traces.size > MAX_REMEMBERED) traces.delete(traces.keys().next().value!);
}

export const traceOf = ({ subscribers }: Context, id: string): TraceContext | null =>
  tracesOf(subscribers).get(id) ?? null;
