/** Text put together from pieces, white space collapsed, up to a limit. */

export interface TextSink {
  add(piece: string): void;
  /** Keeps what comes next apart from what came before, as the border of a block does. */
  space(): void;
  /** Without white space at its ends. */
  value(): string;
}

/** Holds at most `max` characters. */
export function textSink(max: number): TextSink {
  const pieces: string[] = [];
  let length = 0;
  // What has not been written yet: at the start and after a space, another one adds nothing.
  let pending = false;
  const add = (piece: string) => {
    if (length >= max) return;
    const text = piece.replace(/\s+/g, ' ');
    if (text.startsWith(' ')) pending = true;
    const inner = text.trim();
    if (inner === '') return;
    const kept = `${pending && length > 0 ? ' ' : ''}${inner}`.slice(0, max - length);
    pieces.push(kept);
    length += kept.length;
    pending = text.endsWith(' ');
  };
  return {
    add,
    space() {
      pending = true;
    },
    value: () => pieces.join(''),
  };
}

// Neither white space nor one of the invisible characters that fill a text without saying anything.
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}]/u;

/** Whether there is anything to see in it. */
export const isVisible = (text: string): boolean => VISIBLE.test(text);
