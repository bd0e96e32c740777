/** Notes the text before and after each link while HTML is read. */

export interface Surrounded {
  before: string;
  after: string;
}

interface Surroundings {
  /** A piece of text that a reader sees. */
  add(piece: string): void;
  /** What was read last, at most 120 characters. */
  before(): string;
  /** From here on comes what is after the link. */
  follow(link: Surrounded): void;
  /** No more text comes. */
  end(): void;
}

const BEFORE = 120;
const AFTER = 60;
/** What is kept of a piece at its start and its end: more is neither before nor after a link. */
const KEPT = 400;
const LONGEST_TAIL = 8000;

/** Takes the same time for each piece, however many links there are. */
export function noteSurroundings(): Surroundings {
  let tail = '';
  // How much was cut off the tail: places count from the start of all that was kept.
  let cut = 0;
  let spaced = true;
  let waiting: { link: Surrounded; from: number }[] = [];
  const settle = (until: number) => {
    const done = waiting.filter(({ from }) => from <= until);
    for (const { link, from } of done) link.after = tail.slice(from - cut, from - cut + AFTER);
    waiting = waiting.slice(done.length);
  };
  return {
    add(piece) {
      const text = shortened(shortened(piece, 4 * KEPT).replace(/\s+/g, ' '), KEPT);
      const kept = spaced && text.startsWith(' ') ? text.slice(1) : text;
      if (kept === '') return;
      spaced = kept.endsWith(' ');
      tail += kept;
      const end = cut + tail.length;
      if (waiting.length > 0 && waiting[0]!.from <= end - AFTER) settle(end - AFTER);
      if (tail.length <= LONGEST_TAIL) return;
      cut += tail.length - BEFORE;
      tail = tail.slice(-BEFORE);
    },
    before: () => tail.slice(-BEFORE),
    follow(link) {
      waiting.push({ link, from: cut + tail.length });
    },
    end: () => settle(Number.POSITIVE_INFINITY),
  };
}

function shortened(text: string, kept: number): string {
  return text.length <= 2 * kept ? text : `${text.slice(0, kept)} ${text.slice(-kept)}`;
}
