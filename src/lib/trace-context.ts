/** W3C Trace Context (https://www.w3.org/TR/trace-context/): continues the trace that a request belongs to. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  sampled: boolean;
  /** The header `tracestate`, passed on unchanged; null without a valid one. */
  state: string | null;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_PARENT = '0'.repeat(16);
const SAMPLED = 1;
/** What must be passed on at least (§3.3.1.5). */
const MAX_STATE_LENGTH = 512;
/** Visible ASCII, spaces and tabs. */
const STATE = /^[\x20-\x7e\t]+$/;

/** Null without a valid `traceparent`, which is then ignored (§3.2.2.5). Also reads later versions, as far as they agree. */
export function readTraceContext(headers: Headers): TraceContext | null {
  const [, version, traceId, parentId, flags, rest] =
    TRACEPARENT.exec(headers.get('traceparent') ?? '') ?? [];
  if (traceId === undefined || version === 'ff') return null;
  if (version === '00' && rest !== undefined) return null;
  if (traceId === NO_TRACE || parentId === NO_PARENT) return null;
  const state = headers.get('tracestate') ?? '';
  const isValidState = state.length <= MAX_STATE_LENGTH && STATE.test(state);
  return {
    traceId,
    sampled: (Number.parseInt(flags!, 16) & SAMPLED) === SAMPLED,
    state: isValidState ? state : null,
  };
}

/** The headers of a request that belongs to the trace. Each request has its own parent ID. */
export function traceHeaders({ traceId, sampled, state }: TraceContext): Record<string, string> {
  const flags = sampled ? '01' : '00';
  return {
    traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-${flags}`,
    ...(state === null ? {} : { tracestate: state }),
  };
}

// The trace that the current work belongs to.

const storage = new AsyncLocalStorage<TraceContext | null>();

export const currentTrace = (): TraceContext | null => storage.getStore() ?? null;

/** Calls `work` as part of a trace. Costs nothing without one. */
export const inTrace = <T>(trace: TraceContext | null, work: () => T): T =>
  trace === null ? work() : storage.run(trace, work);

/** Calls `work` apart from the current trace, for jobs that a request wakes. */
export const outsideTrace = <T>(work: () => T): T =>
  currentTrace() === null ? work() : storage.run(null, work);
