/** A section of a page with its heading, and a part of one that is folded. */

import type { ComponentChildren } from 'preact';
import { Chevron } from './icons.tsx';

export interface SectionProps {
  id: string;
  title: string;
  /** A sentence below the heading. */
  note?: ComponentChildren;
  children: ComponentChildren;
}

export function Section({ id, title, note, children }: SectionProps) {
  return (
    <section id={id} class="section" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {note && <p class="note muted">{note}</p>}
      {children}
    </section>
  );
}

export interface FoldProps {
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
        <h3>{title}</h3>
        {count && <span class="muted small">{count}</span>}
      </summary>
      <div class="folded">{children}</div>
    </details>
  );
}
