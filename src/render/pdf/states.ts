/** States as words with their icon and colour, as cells and lines show them. */

import { MARKS, type State } from './look.ts';
import type { Span } from './pieces.ts';
import { shown } from './shown-text.ts';

/** `✓ aligned`, in the colour of the state. */
export function mark(state: State, word: string): Span[] {
  const { icon, color } = MARKS[state];
  return [{ text: `${icon} ${word}`, face: 'bold', color }];
}

/** By the words of RFC 8601; null is "not asked". */
export function authMark(result: string | null): Span[] {
  if (result === null) return mark('unknown', 'not asked');
  if (result === 'pass') return mark('pass', result);
  return mark(result === 'temperror' ? 'unknown' : 'fail', shown(result, 20));
}
