/** What one problem of an SPF record is, and the words for whose record it is in. */

import type { SpfNode } from './spf-tree.ts';

export interface SpfProblem {
  /** `fail`: receivers cannot use the record, or it lets everyone pass. */
  level: 'fail' | 'warn';
  /** One sentence, with a subject. */
  text: string;
  /** What to change, one sentence. */
  fix: string;
  /** How the text of a record is to be changed for it, where that can be done for the user. */
  change?: SpfChange;
}

type SpfChange =
  /** The record of this node is to end in `~all`. */
  | { kind: 'close'; node: SpfNode }
  /** The sender's own record is to lose this term. */
  | { kind: 'remove'; term: string };

/** A node and all below it. */
export function allNodes(node: SpfNode): SpfNode[] {
  return [node, ...node.children.flatMap(allNodes)];
}

/** The subject of a sentence. */
export const recordOf = (node: SpfNode): string =>
  node.via === null ? 'Your SPF record' : `The SPF record of ${node.domain}, which yours includes,`;
