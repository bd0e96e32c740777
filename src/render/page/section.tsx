/** A section of a page with its heading, a part of one that is folded, and one that scrolls. */

import type { ComponentChildren } from 'preact';
import { Chevron } from './icons.tsx';
import { Heading, useAnchor, useLandmark } from './place.tsx';

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
