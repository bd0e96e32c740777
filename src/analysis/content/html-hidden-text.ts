/** Collects the text that a reader does not see, one entry for what is hidden by one cause. */

import type { HiddenText } from './html-facts.ts';
import type { Look } from './html-look.ts';
import { isVisible, type TextSink, textSink } from './html-text.ts';

interface HiddenCollector {
  add(piece: string, look: Look): void;
  space(): void;
  /** From now on hidden text comes after visible text. */
  visibleText(): void;
  /** Ends the entry that is open. */
  end(): HiddenText[];
}

const MAX_ENTRIES = 1000;
/** Characters of all entries together. */
const MAX_TEXT = 1_000_000;

export function collectHidden(): HiddenCollector {
  const entries: HiddenText[] = [];
  let left = MAX_TEXT;
  let preheader = true;
  let open: { cause: object | null; how: string; preheader: boolean; text: TextSink } | null = null;
  const end = () => {
    const text = open?.text.value() ?? '';
    // Filler alone hides nothing; before all text it may be there to make the preview short.
    if (
      open &&
      text !== '' &&
      (open.preheader || isVisible(text)) &&
      entries.length < MAX_ENTRIES
    ) {
      entries.push({ text, how: open.how, preheader: open.preheader });
      left -= text.length;
    }
    open = null;
    return entries;
  };
  return {
    add(piece, { cause, hides }) {
      if (open && open.cause !== cause) end();
      open ??= { cause, how: hides ?? '', preheader, text: textSink(left) };
      open.text.add(piece);
    },
    space: () => open?.text.space(),
    visibleText() {
      preheader = false;
    },
    end,
  };
}
