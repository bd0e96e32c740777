/** An event in a line: what a developer wants to see of it at a glance. */

import { printable } from '../lib/log.ts';
import type { ReceivedEvent } from './receive.ts';

type Data = Record<string, unknown>;

/** Empty for a type that is not known. What comes from outside is made harmless and kept short. */
export function summarizeEvent({ type, data }: ReceivedEvent): string {
  // The type is the caller's word, and `constructor` is one that every object has.
  const summarize = Object.hasOwn(SUMMARIES, type) ? SUMMARIES[type] : undefined;
  const parts = (summarize?.(data) ?? []).filter((part) => part !== null);
  return parts.join(', ');
}

const SUMMARIES: Record<string, (data: Data) => (string | null)[]> = {
  'test.completed': (data) => [
    typeof data.score === 'number' ? `score ${data.score}, grade ${word(data.grade)}` : 'no score',
    quoted(data.subject),
    labelled('from', data.from_address),
    ...authentication(data.auth_results),
  ],
  'test.failed': (data) => [word(data.failure_reason), labelled('address', data.address)],
  'domain.verified': (data) => [word(data.name)],
  'domain.verification_failed': (data) => [word(data.name)],
  'domain.health_changed': (data) => [
    word(data.name),
    labelled('now', field(data.health, 'status')),
    labelled('before', data.previous_health),
  ],
  'monitor.alert': (data) => [
    word(field(data.monitor, 'name')),
    word(field(data.monitor, 'type')),
    word(data.status),
  ],
  'alert.triggered': (data) => incident(data),
  'alert.resolved': (data) => [...incident(data), word(data.resolution)],
};

function incident(data: Data): (string | null)[] {
  return [word(field(data.alert, 'name')), word(data.subject), labelled('value', data.value)];
}

function authentication(results: unknown): (string | null)[] {
  return ['spf', 'dkim', 'dmarc'].map((name) => labelled(name.toUpperCase(), field(results, name)));
}

const field = (object: unknown, name: string): unknown =>
  typeof object === 'object' && object !== null ? (object as Data)[name] : null;

/** Text or a number; null for anything else. */
function word(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = printable(String(value));
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function labelled(label: string, value: unknown): string | null {
  const text = word(value);
  return text === null ? null : `${label} ${text}`;
}

function quoted(value: unknown): string | null {
  const text = word(value);
  return text === null ? null : `“${text}”`;
}
