/** The states of things: empty, waiting, fine, and broken never look alike. And why something is broken. */

import type { ComponentChildren } from 'preact';
import { printable } from '../../lib/log.ts';
import { meterState } from '../../report/content.ts';

interface EmptyProps {
  title: string;
  /** What this is for, in a sentence or two. */
  children?: ComponentChildren;
  /** The button for the next step. */
  action?: ComponentChildren;
}

/** Instead of a list without rows. Says what to do, with the button that does it. */
export function EmptyState({ title, children, action }: EmptyProps) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action && <div class="actions">{action}</div>}
    </div>
  );
}

/** Not set up: gray, with a dashed outline. */
export const NotSetUp = ({ children = 'Not set up' }: { children?: string }) => (
  <span class="state unset">
    <StateIcon name="unset" />
    {children}
  </span>
);

/** Waiting for data: gray, with a clock. */
export const Waiting = ({ children = 'Waiting' }: { children?: string }) => (
  <span class="state waiting">
    <StateIcon name="waiting" />
    {children}
  </span>
);

const StateIcon = ({ name }: { name: 'unset' | 'waiting' }) => (
  <svg class="icon" aria-hidden="true">
    <use href={`#icon-${name}`} />
  </svg>
);

/** The score and grade of a test or domain; gray without one. */
export function Score({ score, grade }: { score: number | null; grade: string | null }) {
  if (score === null) return <span class="muted">–</span>;
  return (
    <span class={`score ${meterState(score)}`}>
      {Math.round(score)}
      {grade && <span class="grade">{grade}</span>}
    </span>
  );
}

/**
 * Stored error messages begin in lower case, some of them with a code: "no_such_name: the host name does not resolve"
 * becomes "The host name does not resolve." They may quote other servers, so what reorders text is replaced.
 */
export function asErrorSentence(error: string): string {
  const text = printable(error).replace(/^[a-z]+(?:_[a-z]+)*: /, '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

interface FoldProps {
  summary: ComponentChildren;
  children: ComponentChildren;
  /** Whether it is open at first. */
  isOpen?: boolean;
}

/** Folds what is fine into one line. */
export function Fold({ summary, children, isOpen = false }: FoldProps) {
  return (
    <details class="fold" open={isOpen}>
      <summary>
        <svg class="chevron" aria-hidden="true">
          <use href="#chevron" />
        </svg>
        {summary}
      </summary>
      <div>{children}</div>
    </details>
  );
}
