/** Components that all pages share: states with icons, chevrons, scrolling areas, text to copy. */

import type { ComponentChildren, JSX } from 'preact';

/** How good something is. Each state has a color and an icon, and a page says it in a word too. */
export type State = 'pass' | 'warn' | 'fail' | 'info' | 'unknown';

/** Each icon has its own shape, so that no two states differ only by color. */
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

export function Icon({ state }: { state: State }) {
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`#icon-${state}`} />
    </svg>
  );
}

/** The marker before the text of a <summary>. */
export function Chevron() {
  return (
    <svg class="chevron" aria-hidden="true">
      <use href="#chevron" />
    </svg>
  );
}

interface MarkProps {
  state: State;
  word: string;
  badge?: boolean;
}

/** A state as icon, word and color. */
export function StateMark({ state, word, badge }: MarkProps) {
  return (
    <span class={`state ${state}${badge ? ' badge' : ''}`}>
      <Icon state={state} />
      {word}
    </span>
  );
}

/** Keyboard users scroll with the arrow keys, which requires focus. */
const FOCUSABLE = 0;

interface ScrollProps {
  /** Names the content for screen reader and keyboard users. */
  label: string;
  class?: string;
  children: ComponentChildren;
}

/** Content that is too wide or too long scrolls in its own area, never the whole page. */
export function ScrollArea({ label, class: className, children }: ScrollProps) {
  return (
    <figure
      class={className ? `scroll ${className}` : 'scroll'}
      aria-label={label}
      tabIndex={FOCUSABLE}
    >
      {children}
    </figure>
  );
}

interface PopoverProps {
  id: string;
  button: ComponentChildren;
  label?: string;
  buttonClass?: string;
  class?: string;
  children: ComponentChildren;
}

/**
 * A button that opens a panel above the page, which moves nothing; on phones at the bottom. The browser closes it on
 * Escape or a click elsewhere, and returns the focus, without a script.
 */
export function Popover(props: PopoverProps) {
  const { id, button, label, buttonClass = 'button', class: className, children } = props;
  return (
    <>
      <button
        type="button"
        class={`${buttonClass} screen-only`}
        popovertarget={id}
        aria-label={label}
        title={label}
      >
        {button}
      </button>
      <div id={id} popover="auto" class={className ? `popover ${className}` : 'popover'}>
        {children}
      </div>
    </>
  );
}

/** Text with a copy button, which is shown only if scripts run. */
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
