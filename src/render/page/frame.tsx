/** The document around every page: head with its protections, bar with the theme switch, main part, foot. */

import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { FRAME_SCRIPT, FRAME_SCRIPT_HASH } from './frame-script.ts';
import { FRAME_STYLE } from './frame-style.ts';
import { IconSprite } from './icons.tsx';

/**
 * What a page that holds a message may do: show itself. No request at all leaves it. The style of
 * messages is inline, and what a frame shows is bound by the policy of the page around it.
 */
export const PAGE_CSP = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  `script-src '${FRAME_SCRIPT_HASH}'`,
  'img-src data:',
  'font-src data:',
  // A srcdoc is no request, so it is shown all the same; nothing can be loaded into a frame.
  "frame-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

export interface Page {
  title: string;
  /** What the skip link leads to, in its words: "Skip to the report". */
  skip: string;
  /** Beyond the style that all pages share. */
  style: string;
  main: VNode;
  /** Beside the main part on a wide screen. */
  aside?: ComponentChildren;
  foot?: ComponentChildren;
  /** Kept in the page itself too, so that a saved copy is as safe. `PAGE_CSP` unless said. */
  csp?: string;
  /** `no-referrer` unless said, with which the forms of a page tell no origin either. */
  referrer?: string;
}

/** A complete HTML document. */
export function renderPage({ csp = PAGE_CSP, referrer = 'no-referrer', ...page }: Page): string {
  const head = renderToString(
    <>
      <meta charset="utf-8" />
      <meta http-equiv="Content-Security-Policy" content={csp} />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <meta name="referrer" content={referrer} />
      <meta http-equiv="x-dns-prefetch-control" content="off" />
      <meta name="color-scheme" content="light dark" />
      <title>{page.title}</title>
      <link rel="icon" href="data:," />
    </>,
  );
  // Style and script are our own constants, and must not be escaped.
  const style = `<style>${FRAME_STYLE}${page.style}</style>`;
  const script = `<script>${FRAME_SCRIPT}</script>`;
  const body = renderToString(<Body {...page} />);
  return `<!doctype html>\n<html lang="en"><head>${head}${style}${script}</head><body>${body}</body></html>\n`;
}

function Body({ skip, main, aside, foot }: Omit<Page, 'csp' | 'referrer'>) {
  return (
    <>
      <a class="skip" href="#main">
        {skip}
      </a>
      <IconSprite />
      <header class="bar">
        <div class="wrap">
          <span class="brand">
            <BrandMark />
            Deliverability
          </span>
          <button
            type="button"
            class="button needs-script"
            data-action="theme"
            aria-pressed="false"
          >
            <svg class="icon" aria-hidden="true" viewBox="0 0 16 16">
              <circle cx="8" cy="8" r="6" />
              <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" stroke="none" />
            </svg>
            Dark theme
          </button>
        </div>
      </header>
      <div class={aside ? 'wrap with-aside' : 'wrap'}>
        {aside}
        <main id="main" tabIndex={-1}>
          {main}
        </main>
      </div>
      {foot && (
        <footer class="foot">
          <div class="wrap">{foot}</div>
        </footer>
      )}
    </>
  );
}

function BrandMark() {
  return (
    <svg aria-hidden="true" width="24" height="24" viewBox="0 0 24 24">
      <rect x="1" y="4" width="22" height="16" rx="4" fill="currentColor" />
      <path
        d="m6.5 12.2 3.6 3.4 7.4-7.2"
        fill="none"
        stroke="var(--surface)"
        stroke-width="2.4"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
