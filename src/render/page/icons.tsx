/** States as icon, word and colour together: the icons are drawn once and hidden from screen readers. */

import type { CheckStatus } from '../../analysis/check.ts';
import { STATUS_WORDS } from '../report-words.ts';

export type Tone = 'pass' | 'warn' | 'fail' | 'info' | 'unknown';

const STATUS_TONES: Record<CheckStatus, Tone> = {
  pass: 'pass',
  warn: 'warn',
  fail: 'fail',
  info: 'info',
  error: 'unknown',
  skipped: 'unknown',
};

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
  return <State tone={STATUS_TONES[status]} word={STATUS_WORDS[status]} badge={badge} />;
}
