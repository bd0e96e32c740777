/** The parts of a message, including those of the messages attached to it. */

import { scanHeaders } from './headers.ts';
import { LIMITS, type Message, type Multipart, type Part } from './message.ts';
import { parseMime } from './parse-message.ts';

/** Deeper nesting is left to the second reading, which does not depend on structure. */
const MAX_DEPTH = 8;

export interface PartTree {
  parts: Part[];
  multiparts: Multipart[];
  /** Parts with content that is not in the raw message as it is, because the part is encoded. */
  encodedMessages: Part[];
}

/**
 * For `context.fact`. Offsets of parts within an encoded message refer to its own content.
 */
export function messageParts({ message }: { message: Message }): PartTree {
  const { parts, multiparts } = message;
  const tree: PartTree = { parts: [], multiparts: [...multiparts], encodedMessages: [] };
  addParts(tree, parts, 0, 0);
  return tree;
}

function addParts(tree: PartTree, parts: Part[], shift: number | null, depth: number): void {
  for (const part of parts) {
    if (tree.parts.length >= LIMITS.parts) return;
    const isView = part.content.length === part.end - part.start;
    const placed =
      shift === null ? part : { ...part, start: part.start + shift, end: part.end + shift };
    tree.parts.push(placed);
    if (!isAttachedMessage(part) || depth >= MAX_DEPTH) continue;
    if (!isView) tree.encodedMessages.push(placed);
    const inner = parseMime(part.content, scanHeaders(part.content));
    const innerShift = isView && shift !== null ? part.start + shift : null;
    for (const multipart of inner.multiparts)
      if (tree.multiparts.length < LIMITS.parts) tree.multiparts.push(moved(multipart, innerShift));
    addParts(tree, inner.parts, innerShift, depth + 1);
  }
}

function moved(multipart: Multipart, shift: number | null): Multipart {
  if (shift === null) return multipart;
  const { start, end, firstDelimiter } = multipart;
  return {
    ...multipart,
    start: start + shift,
    end: end + shift,
    firstDelimiter: firstDelimiter === null ? null : firstDelimiter + shift,
  };
}

const isAttachedMessage = ({ type, filename }: Part): boolean =>
  /^message\/(?:rfc822|global|news|partial)$/.test(type) || /\.eml$/i.test(filename ?? '');
