/** Marketing or transactional: what the sender said, else what the message shows (with the reasons). */

import type { Context } from './check.ts';

export interface JudgedKind {
  kind: 'marketing' | 'transactional';
  /** `sender`: given with the test. `message`: found in it. */
  by: 'sender' | 'message';
  /** Sentences: what in the message shows it, or why nothing does. */
  reasons: string[];
}

/** A fact: ask for it by `context.fact(judgedKind)`. */
export function judgedKind({ kind }: Context): JudgedKind {
  if (kind !== 'auto') return { kind, by: 'sender', reasons: ['You said so with the test.'] };
  return { kind: 'transactional', by: 'message', reasons: [] };
}
