/** Joins what a screen reader reads without a pause. */

import {
  collapseSpace,
  hasVisibleText,
  type TextSink,
  textSink,
  withoutControls,
} from '../../analysis/text.ts';
import type { ProblemList } from './accessibility-problems.ts';

/** What is read without a pause. `file_name`: an image without alt text. */
export interface ReadItem {
  /** Tables and lists are announced at their start and at their end. */
  kind: 'text' | 'image' | 'file_name' | 'table' | 'end_of_table' | 'list' | 'end_of_list';
  /** As read, at most 500 characters: the text, the alt text, "3 columns, 4 rows", "5 items". */
  text: string;
  /** The level of the heading that it is in, from 1 to 6. */
  headingLevel: number | null;
  /** The URL of the link that it is in, at most 200 characters. */
  link: string | null;
  /** From 1, in the HTML. */
  line: number;
}

export interface Heading {
  level: number;
  line: number;
  hasContent: boolean;
}

interface Link {
  href: string;
  hasContent: boolean;
  /** Its image has a problem that is reported there. */
  isReported: boolean;
}

/** What surrounds a piece of text. */
export interface ReadPlace {
  heading: Heading | null;
  link: Link | null;
}

const MAX_ITEMS = 1000;
export const MAX_ITEM_TEXT = 500;

export interface ItemCollector {
  /** Adds a piece of text. Returns whether it has visible text. */
  text(piece: string, place: ReadPlace, line: number): boolean;
  /** Ends the current run of text and adds an item; null beyond the limit. */
  item(kind: ReadItem['kind'], text: string, place: ReadPlace, line: number): ReadItem | null;
  remove(item: ReadItem): void;
  space(): void;
  endRun(): void;
  /** Nothing is read so far. */
  isEmpty(): boolean;
  end(): { items: ReadItem[]; isFull: boolean };
}

/** Between links; read as a pause. */
const PUNCTUATION = /^[\s.,;:!?()]*$/;

export function collectItems(problems: ProblemList): ItemCollector {
  const items: ReadItem[] = [];
  const removed = new Set<ReadItem>();
  let isFull = false;
  let lastLevel = 0;
  let run: { item: ReadItem; heading: Heading | null; link: Link | null; sink: TextSink } | null =
    null;

  const newItem = (
    kind: ReadItem['kind'],
    text: string,
    place: ReadPlace,
    line: number,
  ): ReadItem => ({
    kind,
    text: withoutControls(collapseSpace(text.slice(0, 2 * MAX_ITEM_TEXT)).trim()).slice(
      0,
      MAX_ITEM_TEXT,
    ),
    headingLevel: place.heading?.level ?? null,
    link: place.link?.href ?? null,
    line,
  });
  const endRun = () => {
    if (run) run.item.text = withoutControls(run.sink.value());
    if (run && PUNCTUATION.test(run.item.text)) removed.add(run.item);
    run = null;
  };
  const push = (item: ReadItem): ReadItem | null => {
    // Removed marks do not count, but a flood of them ends the list too.
    if (items.length - removed.size >= MAX_ITEMS || items.length >= 10 * MAX_ITEMS) {
      isFull = true;
      return null;
    }
    items.push(item);
    return item;
  };
  const markContent = ({ heading, link }: ReadPlace) => {
    if (link) link.hasContent = true;
    if (!heading || heading.hasContent) return;
    heading.hasContent = true;
    reportLevel(heading, lastLevel, problems);
    lastLevel = heading.level;
  };
  return {
    text(piece, place, line) {
      if (run && (run.heading !== place.heading || run.link !== place.link)) endRun();
      if (!hasVisibleText(piece)) {
        run?.sink.add(piece);
        return false;
      }
      markContent(place);
      if (!run) {
        const item = newItem('text', '', place, line);
        run = { item, heading: place.heading, link: place.link, sink: textSink(MAX_ITEM_TEXT) };
        push(item);
      }
      run.sink.add(piece);
      return true;
    },
    item(kind, text, place, line) {
      endRun();
      if (kind === 'text' || kind === 'image' || kind === 'file_name') markContent(place);
      return push(newItem(kind, text, place, line));
    },
    remove: (item) => void removed.add(item),
    space: () => run?.sink.space(),
    endRun,
    isEmpty: () => items.length === 0,
    end() {
      endRun();
      return { items: items.filter((item) => !removed.has(item)), isFull };
    },
  };
}

function reportLevel({ level, line }: Heading, lastLevel: number, problems: ProblemList): void {
  if (level <= lastLevel + 1) return;
  problems.add({
    kind: 'headings',
    key: `heading ${lastLevel} ${level}`,
    line,
    text: `h${level}`,
    detail: () =>
      lastLevel === 0
        ? `The first heading has level ${level}. Start with level 1.`
        : `A heading of level ${level} follows one of level ${lastLevel}. Do not skip levels.`,
  });
}
