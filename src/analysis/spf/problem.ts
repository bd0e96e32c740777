/** What is wrong with an SPF record, and how to change it. */

import type { SpfNode } from './tree.ts';

export interface SpfProblem {
  /** `fail`: the record is unusable, or lets anyone pass. */
  level: 'fail' | 'warn';
  /** One complete sentence. */
  text: string;
  /** What to change, one sentence. */
  fix: string;
  /** What the sender's own record says is not read as it was meant. */
  isSyntax?: true;
  /** Too many lookups: most verifiers can still use the record for most mail. */
  isLimit?: true;
  /** The record works, but passes any sender. */
  isOpen?: true;
  /** The change to the record, if we can propose one. */
  change?: SpfChange;
}

type SpfChange =
  /** End the record of this node with `~all`. */
  | { kind: 'close'; node: SpfNode }
  /** Remove these terms from the sender's own record. */
  | { kind: 'remove'; terms: string[] }
  /** Write `by` in place of this term of the sender's own record. */
  | { kind: 'replace'; term: string; by: string }
  /** Remove the repetitions of terms from the sender's own record. */
  | { kind: 'without_repeated' }
  /** Remove every ptr term from the sender's own record. */
  | { kind: 'without_ptr' }
  /** Put what follows `all`, or is ignored beside it, before it. */
  | { kind: 'reach' };
