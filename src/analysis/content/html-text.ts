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

const INVISIBLE_RUN = /[\s\p{Default_Ignorable_Code_Point}]{2,}/gu;
/** What emoji are put together with: the form of what is before, what joins it to the next, flags. */
const OF_EMOJI = /^\ufe0f?(?:\u200d$|[\u{e0020}-\u{e007f}]*)/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/**
 * The text without the invisible characters that fill it up, white space collapsed, and how long the
 * longest run of them was. One alone, as in Persian words and in emoji, belongs to the text.
 */
export function withoutFiller(text: string): { text: string; longest: number } {
  let longest = 0;
  const rest = text.replace(INVISIBLE_RUN, (run) => {
    const emoji = OF_EMOJI.exec(run)?.[0] ?? '';
    const filler = run.slice(emoji.length);
    const [first = ''] = filler.trim();
    // White space alone, or a single sign and white space around it: nothing to fill with.
    if (filler.trim() === first && !(INVISIBLE.test(first) && /\s/.test(filler)))
      return emoji + filler;
    longest = Math.max(longest, run.length);
    return `${emoji} `;
  });
  return { text: rest.replace(/\s+/g, ' ').trim(), longest };
}
