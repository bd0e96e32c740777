/**
 * Messages that were found, until their placement is final. Providers can move a message to spam or into a tab in the
 * minutes after its delivery, so it is checked twice whether it is still in the same place.
 */

import { isMove, MOVE_FIELD, type PlacementReason } from '../report/report.ts';
import type { PlacementRow } from '../store/tables.generated.ts';
import type { FoundMessage } from './match.ts';

export interface Sighting {
  /** Null if an earlier process or another node found it, until it is read again. */
  message: FoundMessage | null;
  nextCheckAt: number;
  /** When the placement becomes final. */
  finalAt: number;
  /** Whether it was in none of the folders at the last check. */
  isGone: boolean;
}

/** After this part of the time until the placement is final. */
const FIRST_CHECK = 1 / 4;
const GONE_RETRY_MS = 10_000;

export const newSighting = (
  message: FoundMessage | null,
  now: number,
  recheckMs: number,
): Sighting => ({
  message,
  nextCheckAt: now + recheckMs * FIRST_CHECK,
  finalAt: now + recheckMs,
  isGone: false,
});

/** Call this after a check that found the message. */
export function noteSeen(sighting: Sighting, message: FoundMessage): void {
  sighting.message = message;
  sighting.isGone = false;
  sighting.nextCheckAt = sighting.finalAt;
}

/**
 * Call this after a check that did not find the message. Returns whether an earlier check did not find it either: one
 * can miss a message that is being moved.
 */
export function noteGone(sighting: Sighting, now: number): boolean {
  const wasGone = sighting.isGone;
  sighting.isGone = true;
  sighting.nextCheckAt = now + GONE_RETRY_MS;
  return wasGone;
}

/** Whether the message could be the one of the sighting, in another folder. */
export const couldBe = (message: FoundMessage, { message: earlier }: Sighting): boolean =>
  earlier === null ||
  (message.messageId === earlier.messageId &&
    message.from === earlier.from &&
    message.subject === earlier.subject);

const IN_WORDS: Partial<Record<PlacementRow['placement'], string>> = {
  inbox: 'the inbox',
  promotions: 'the Promotions tab',
  social: 'the Social tab',
  updates: 'the Updates tab',
  forums: 'the Forums tab',
  spam: 'spam',
};

/** The reasons for a placement, after all moves of the message so far. */
export function withMoves(
  row: PlacementRow,
  placement: PlacementRow['placement'],
  reasons: PlacementReason[],
): PlacementReason[] {
  const earlier = (JSON.parse(row.reasons) as PlacementReason[]).filter(isMove);
  const [from, to] = [IN_WORDS[row.placement], IN_WORDS[placement]];
  if (from === undefined || to === undefined || from === to) return [...earlier, ...reasons];
  const move: PlacementReason = {
    field: MOVE_FIELD,
    name: 'moved_from',
    value: row.placement,
    text: `Moved from ${from} to ${to} after delivery.`,
  };
  return [...earlier, move, ...reasons];
}
