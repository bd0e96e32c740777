/** A section of a page with its heading, a part of one that is folded, and one that scrolls. */

import { type ComponentChildren, createContext, type JSX } from 'preact';
import { useContext } from 'preact/hooks';
import type { CheckStatus } from '../../analysis/check.ts';
import {
  exactly,
  type State as ReportState,
  stateOf,
  textLines,
  time,
  wordsOf,
} from '../blocks.ts';
import { STATUS_WORDS } from '../content.ts';
import { authState } from '../document/evidence.ts';

export { exactly, isIsoTime, oneLine } from '../blocks.ts';
export {
  formatCount,
  formatOctets,
  formatSeconds,
  humanKey,
  isAuthResult,
} from '../document/evidence.ts';

interface SectionProps {
  id: string;
  title: string;
  /** A sentence below the heading. */
  note?: ComponentChildren;
  children: ComponentChildren;
}

export function Section({ id, title, note, children }: SectionProps) {
  const anchor = useAnchor();
  const landmark = useLandmark();
  return (
    <section id={anchor(id)} class="section" aria-labelledby={landmark(anchor(`${id}-title`))}>
      <Heading rank={2} id={anchor(`${id}-title`)}>
        {title}
      </Heading>
      {note && <p class="note muted">{note}</p>}
      {children}
    </section>
  );
}

interface FoldProps {
  title: string;
  /** How many things are in it. */
  count?: string;
  open?: boolean;
  children: ComponentChildren;
}

export function Fold({ title, count, open, children }: FoldProps) {
  return (
    <details class="card fold" open={open}>
      <summary>
        <Chevron />
        <Heading rank={3}>{title}</Heading>
        {count && <span class="muted small">{count}</span>}
      </summary>
      <div class="folded">{children}</div>
    </details>
  );
}

/** Who has no mouse scrolls by the arrow keys, for which the part must be able to have the focus. */
const REACHED_BY_KEYS = 0;

interface ScrollProps {
  /** What is in it, for those who come upon it by keys. */
  label: string;
  class?: string;
  children: ComponentChildren;
}

/** What is too wide or too long for its place scrolls inside, and never the page. */
export function Scroll({ label, class: more, children }: ScrollProps) {
  return (
    <figure
      class={more ? `scroll ${more}` : 'scroll'}
      aria-label={label}
      tabIndex={REACHED_BY_KEYS}
    >
      {children}
    </figure>
  );
}

// Where on a page a report stands: alone, or as one of many, with anchors and headings of its own.

interface Place {
  /** Before every anchor, so that none is there twice. */
  prefix: string;
  /** By how much its headings stand below those of a report alone. */
  depth: number;
  /** Without the evidence of what passed and the points of each check. */
  brief?: boolean;
}

const PlaceOnPage = createContext<Place>({ prefix: '', depth: 0 });

interface AtProps extends Place {
  children: ComponentChildren;
}

export function At({ children, ...place }: AtProps) {
  return <PlaceOnPage.Provider value={place}>{children}</PlaceOnPage.Provider>;
}

export const useBrief = (): boolean => useContext(PlaceOnPage).brief === true;

/** What makes an anchor of a report one of the page. */
export function useAnchor(): (name: string) => string {
  const { prefix } = useContext(PlaceOnPage);
  return (name) => prefix + name;
}

/** The heading that names a part as a landmark: of many reports alike, each with the same, none is one. */
export function useLandmark(): (id: string) => string | undefined {
  const { depth } = useContext(PlaceOnPage);
  return (id) => (depth === 0 ? id : undefined);
}

interface HeadingProps {
  /** As in a report alone; it looks like that everywhere. */
  rank: 1 | 2 | 3 | 4;
  id?: string;
  children: ComponentChildren;
}

export function Heading({ rank, id, children }: HeadingProps) {
  const { depth } = useContext(PlaceOnPage);
  const Tag = `h${rank}` as const;
  return (
    <Tag id={id} aria-level={depth > 0 ? rank + depth : undefined}>
      {children}
    </Tag>
  );
}

// Single values from outside, made readable and harmless: text on one line, times, sizes, results.

/** Text with lines, in one piece. */
export const linesOf = (text: string): string => textLines(text).join('\n');

/** A name, an address, a record: to be read letter by letter. */
export function Code({ text, max }: { text: string; max?: number }) {
  return <code>{exactly(text, max)}</code>;
}

/** `21 Nov 2026, 10:00:05 UTC`; text that is no time stays as it is. */
export function Time({ iso }: { iso: string }) {
  const span = time(iso);
  if (typeof span === 'string') return <>{span}</>;
  return <time dateTime={iso}>{wordsOf(span)}</time>;
}

/** A result in the words of RFC 8601; null is "not asked". */
export function AuthState({ result, badge }: { result: string | null; badge?: boolean }) {
  const { state, word } = authState(result);
  return <State tone={state} word={word} badge={badge} />;
}

/** A box with one text of ours or theirs to copy; the button is there only where it works. */
export function Copyable({ text, label }: { text: string; label: string }): JSX.Element {
  return (
    <span class="copyable">
      <code>{text}</code>
      <button
        type="button"
        class="button copy needs-script"
        data-action="copy"
        aria-label={`Copy ${label}`}
      >
        <span aria-live="polite">Copy</span>
      </button>
    </span>
  );
}

// States as icon, word and colour together: the icons are drawn once and hidden from screen readers.

export type Tone = ReportState;

/** Each has a shape of its own: no two differ by colour alone. */
export function IconSprite() {
  return (
    <svg hidden aria-hidden="true">
      <symbol id="icon-pass" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="6.6" />
        <path d="m5.2 8.2 2 2 3.6-4.2" />
      </symbol>
      <symbol id="icon-warn" viewBox="0 0 16 16">
        <path d="M8 1.8 15 14H1z" />
        <path d="M8 6.4v3.2m0 2.1v.1" />
      </symbol>
      <symbol id="icon-fail" viewBox="0 0 16 16">
        <path d="M5.3 1.4h5.4l3.9 3.9v5.4l-3.9 3.9H5.3l-3.9-3.9V5.3z" />
        <path d="m5.9 5.9 4.2 4.2m0-4.2-4.2 4.2" />
      </symbol>
      <symbol id="icon-info" viewBox="0 0 16 16">
        <rect x="1.6" y="1.6" width="12.8" height="12.8" rx="3" />
        <path d="M8 7.4v4M8 4.7v.1" />
      </symbol>
      <symbol id="icon-unknown" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="6.6" stroke-dasharray="2.6 2.2" />
        <path d="M6.1 6.2c.2-2.6 4-2.4 3.8 0C9.8 7.6 8 7.6 8 9.2m0 2.3v.1" />
      </symbol>
      <symbol id="chevron" viewBox="0 0 16 16">
        <path d="m6 3.5 4.5 4.5L6 12.5" />
      </symbol>
    </svg>
  );
}

export function Icon({ tone }: { tone: Tone }) {
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`#icon-${tone}`} />
    </svg>
  );
}

/** Before the words of a <summary>. */
export function Chevron() {
  return (
    <svg class="chevron" aria-hidden="true">
      <use href="#chevron" />
    </svg>
  );
}

export function State({ tone, word, badge }: { tone: Tone; word: string; badge?: boolean }) {
  return (
    <span class={`state ${tone}${badge ? ' badge' : ''}`}>
      <Icon tone={tone} />
      {word}
    </span>
  );
}

/** The state of a check by its status. */
export function CheckState({ status, badge }: { status: CheckStatus; badge?: boolean }) {
  return <State tone={stateOf(status)} word={STATUS_WORDS[status]} badge={badge} />;
}
