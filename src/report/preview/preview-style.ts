/** What the preview itself adds to a message: base colors, links, and marks for what is not shown. */

import { DARK_BASE } from './dark-colors.ts';
import { LINK_CLASS } from './rewrite-css.ts';

/** `:where` has no specificity, so every rule of the message is stronger. */
export function baseStyle(font: string, isDark: boolean, linkColor: string | null): string {
  const link = linkColor ?? (isDark ? DARK_BASE.link : '#0000ee');
  const page = isDark
    ? `:where(body){background-color:${DARK_BASE.background};color:${DARK_BASE.text}}`
    : ':where(body){background-color:#ffffff;color:#000000}';
  return [
    // Not that of the browser that shows the preview.
    `:root{color-scheme:only ${isDark ? 'dark' : 'light'}}`,
    `html{font:${font}}`,
    page,
    `:where(.${LINK_CLASS}){color:${link};text-decoration:underline;cursor:pointer}`,
    ':where(.preview--control){display:inline-block;box-sizing:border-box;border:1px solid #8b8d9e;padding:2px 6px}',
    '.preview--blocked{outline:1px dashed #8b8d9e;outline-offset:-1px}',
    ':where(.preview--blocked){display:inline-block;overflow:hidden;background:#f3f3f8;color:#585a6b;font:12px/1.4 Arial,sans-serif}',
    '@media (prefers-reduced-motion:reduce){*{animation:none!important;transition:none!important}}',
  ].join('\n');
}

/** Declarations that the styles of the message cannot change. */
const important = (declarations: string[]): string =>
  ['all:initial', ...declarations].map((text) => `${text}!important`).join(';');

const BADGE = important([
  'display:inline-block',
  'position:relative',
  'padding:1px 6px',
  'border:1px solid #855000',
  'border-radius:4px',
  'background:#fff4e0',
  'color:#6b4100',
  'font:bold 11px/16px Arial,sans-serif',
  'white-space:nowrap',
]);

/** `label` is HTML. */
export const badge = (label: string): string => `<span style="${BADGE}">${label}</span>`;

export const TRACKING_PIXEL = badge('Tracking pixel');

/** What stands for a video or sound, which is never loaded. */
export const MEDIA_LABELS: Readonly<Record<string, string | undefined>> = {
  video: '▶ Video',
  audio: '♪ Audio',
};

const LINE = important([
  'display:block',
  'clear:both',
  'margin:16px 0 0',
  'padding:12px 8px',
  'border-top:2px dashed #b3201a',
  'background:#ffffff',
  'color:#5f6368',
  'font:14px/20px Arial,sans-serif',
]);
const LINK_TEXT = important([
  'color:#1155cc',
  'font:14px/20px Arial,sans-serif',
  'text-decoration:underline',
]);

const NOTE_TEXT = important(['font:italic 12px/20px Arial,sans-serif', 'color:#5f6368']);

/** The line of Gmail, and that the preview drew it. */
export const CLIP_LINE = `<div style="${LINE}">[Message clipped]&nbsp; <span style="${LINK_TEXT}">View entire message</span><br><span style="${NOTE_TEXT}">Preview: Gmail hides the rest of the message, after 102 KB of HTML.</span></div>`;
