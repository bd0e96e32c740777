/** The HTML document of every page: head with its security policy, header with the theme switch, content, footer. */

import { createHash } from 'node:crypto';
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { IconSprite } from './components.tsx';
import { HelpMenu } from './help-panel.tsx';
import { LEVEL_STYLE } from './level.tsx';
import {
  type Assets,
  MenuButton,
  SearchLink,
  type Shell,
  ShellControls,
  ShellIcons,
  ShellNavigation,
  TestModeBanner,
} from './shell.tsx';

// The only script of a page: theme, copy buttons, opening collapsed targets. Pages are readable without it.

/** Runs in the head to apply the stored theme before the first paint. */
export const FRAME_SCRIPT = `(() => {
  const root = document.documentElement;
  const stored = (value) => {
    try {
      if (value === undefined) return localStorage.getItem('theme');
      if (value === null) localStorage.removeItem('theme');
      else localStorage.setItem('theme', value);
    } catch { /* Storage is unavailable: the choice lasts until the page is closed. */ }
    return null;
  };
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
  const show = () => {
    for (const button of document.querySelectorAll('[data-action="theme"]'))
      button.querySelector('span').textContent = isDark() ? 'Light theme' : 'Dark theme';
  };
  const storedTheme = stored();
  if (storedTheme === 'light' || storedTheme === 'dark') root.dataset.theme = storedTheme;
  root.classList.add('script');
  const switchTheme = () => {
    const theme = isDark() ? 'light' : 'dark';
    if ((theme === 'dark') === system.matches) delete root.dataset.theme;
    else root.dataset.theme = theme;
    stored(root.dataset.theme ?? null);
    show();
  };
  const copy = async (button) => {
    const source = button.parentElement.querySelector('code');
    let done = true;
    try { await navigator.clipboard.writeText(source.textContent); } catch {
      getSelection().selectAllChildren(source);
      done = document.execCommand('copy');
    }
    const label = button.querySelector('span');
    label.textContent = done ? 'Copied' : 'Press Ctrl+C';
    setTimeout(() => { label.textContent = 'Copy'; }, 2000);
  };
  addEventListener('click', ({ target }) => {
    const button = target.closest?.('[data-action]');
    if (button?.dataset.action === 'theme') switchTheme();
    if (button?.dataset.action === 'copy') copy(button);
    // A link to the same part again changes nothing in the URL.
    if (target.closest?.('a[href^="#"]')) setTimeout(openTarget);
  });
  const openTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    let collapsed = target?.closest('details');
    for (; collapsed; collapsed = collapsed.parentElement.closest('details')) collapsed.open = true;
  };
  addEventListener('hashchange', openTarget);
  addEventListener('DOMContentLoaded', () => { show(); openTarget(); });
  system.addEventListener('change', show);
  // For browsers without ::details-content.
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('details:not([open])')];
    for (const details of opened) details.open = true;
  });
  addEventListener('afterprint', () => { for (const details of opened) details.open = false; });
})();`;

/** For `script-src`: the page may run this script only. */
const FRAME_SCRIPT_HASH = `sha256-${createHash('sha256').update(FRAME_SCRIPT).digest('base64')}`;

/**
 * The policy of a page that may contain a message: no requests, no other scripts. Inline styles are
 * allowed because messages have them, and a `srcdoc` frame inherits the policy of its page.
 */
export const PAGE_CSP = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  `script-src '${FRAME_SCRIPT_HASH}'`,
  'img-src data:',
  'font-src data:',
  // Frames with `srcdoc` make no request and still work; no other frame can load.
  "frame-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The policy of a page with a form: it may be submitted to this service only. */
export const FORM_CSP = PAGE_CSP.replace("form-action 'none'", "form-action 'self'");

/**
 * The policy of a page of the web application that contains a message, or that may become such a page without being
 * loaded again. The message is in frames with a stricter policy of their own.
 */
export const APP_REPORT_CSP = [
  "default-src 'none'",
  "style-src 'self' 'unsafe-inline'",
  "script-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  'font-src data:',
  // The frames of the preview: `GET /v1/tests/:id/preview.html`, with a stricter policy of their own.
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
].join('; ');

/** The referrer policy of a page with a form. Without `Sec-Fetch-Site`, only the origin shows where a form comes from. */
export const FORM_REFERRER = 'strict-origin';

/** Shown instead of ours on pages for people outside the team. */
interface PageBrand {
  name: string;
  /** With a `data:` URL and its size in CSS pixels. */
  logo: { url: string; width: number; height: number } | null;
}

interface Page {
  title: string;
  brand?: PageBrand | null;
  /** Text of the skip link, such as "Skip to the report". */
  skip: string;
  /** CSS added to the style that all pages share. */
  style: string;
  main: VNode;
  /** Beside the main content on wide screens. */
  aside?: ComponentChildren;
  foot?: ComponentChildren;
  /** Also written into the page, so that a saved copy stays safe. Default: `PAGE_CSP`. */
  csp?: string;
  /** Default: `no-referrer`, which makes forms send `Origin: null`. */
  referrer?: string;
  /** Loads style and script from files; `style` is then added to them. */
  assets?: Assets;
  /** For signed-in members. */
  shell?: Shell;
}

/** The brand mark, for browser tabs. */
export const ICON_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect x="1" y="4" width="22" height="16" rx="4" fill="#4338ca"/><path d="m6.5 12.2 3.6 3.4 7.4-7.2" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/></svg>';

/** In the page itself, because a saved report loads nothing. */
const ICON_URL = `data:image/svg+xml,${encodeURIComponent(ICON_SVG)}`;

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
      <link rel="icon" type="image/svg+xml" href={ICON_URL} />
    </>,
  );
  const { assets } = page;
  const body = renderToString(<Body {...page} />);
  return `<!doctype html>\n<html lang="en"><head>${head}${assets ? linkedAssets(assets, page.style) : inlineAssets(page.style)}</head><body>${body}</body></html>\n`;
}

// Style and script are trusted constants and must not be escaped.
const inlineAssets = (style: string): string =>
  `<style>${FRAME_STYLE}${style}</style><script>${FRAME_SCRIPT}</script>`;

/** The script is not deferred: it applies the stored theme before the first paint. */
const linkedAssets = ({ style: href, script }: Assets, style: string): string =>
  `<link rel="stylesheet" href="${href}"><script src="${script}"></script>${style === '' ? '' : `<style>${style}</style>`}`;

function Body({ skip, main, aside, foot, shell, brand }: Omit<Page, 'csp' | 'referrer'>) {
  return (
    <>
      <a class="skip" href="#main">
        {skip}
      </a>
      <IconSprite />
      {shell && <ShellIcons />}
      <header class="bar">
        <div class="wrap">
          {shell && <MenuButton />}
          {shell ? (
            <a class="brand" href="/">
              <BrandMark />
              <span>Deliverability</span>
            </a>
          ) : (
            <span class="brand">
              {brand ? brand.logo && <Logo {...brand.logo} /> : <BrandMark />}
              <bdi>{brand?.name ?? 'Deliverability'}</bdi>
            </span>
          )}
          <div class="bar-end">
            {shell ? (
              <>
                <SearchLink />
                <HelpMenu help={shell.help} />
                <ShellControls {...shell} />
              </>
            ) : (
              <button type="button" class="button needs-script" data-action="theme">
                <svg class="icon" aria-hidden="true" viewBox="0 0 16 16">
                  <circle cx="8" cy="8" r="6" />
                  <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" stroke="none" />
                </svg>
                <span>Dark theme</span>
              </button>
            )}
          </div>
        </div>
      </header>
      {shell?.testMode && <TestModeBanner path={shell.path} />}
      {shell ? (
        <div class="app" data-member={shell.member.id}>
          <ShellNavigation groups={shell.groups} />
          <Content main={main} aside={aside} />
        </div>
      ) : (
        <Content main={main} aside={aside} />
      )}
      {foot && (
        <footer class="foot">
          <div class="wrap">{foot}</div>
        </footer>
      )}
    </>
  );
}

function Content({ main, aside }: Pick<Page, 'main' | 'aside'>) {
  return (
    <div class={aside ? 'wrap with-aside' : 'wrap'}>
      {aside}
      <main id="main" tabIndex={-1}>
        {main}
      </main>
    </div>
  );
}

const Logo = ({ url, width, height }: NonNullable<PageBrand['logo']>) => (
  <img src={url} width={width} height={height} alt="" />
);

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

// The style of every page: colors of both themes, type, spacing, shared components, print.

/** Font sizes 14, 16, 20 and 28 px; spacing in steps of 4 px; borders instead of shadows. */
export const FRAME_STYLE = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f6f6f9, #0f1015);
  --surface: light-dark(#ffffff, #17181f);
  --sunken: light-dark(#f3f3f8, #101117);
  --ink: light-dark(#1b1c26, #e8e9f1);
  --muted: light-dark(#585a6b, #a6a9ba);
  --line: light-dark(#dddee7, #2e303b);
  --strong-line: light-dark(#8b8d9e, #6d7083);
  --accent: light-dark(#4338ca, #aab4ff);
  --accent-soft: light-dark(#eef0fe, #23264a);
  --pass: light-dark(#0f6b35, #74d99b);
  --pass-soft: light-dark(#e7f5ec, #14291d);
  --warn: light-dark(#855000, #f2bd62);
  --warn-soft: light-dark(#fdf2de, #2e2412);
  --fail: light-dark(#b3201a, #ff9d95);
  --fail-soft: light-dark(#fdeceb, #351918);
  --info: light-dark(#0a58a6, #88bdff);
  --info-soft: light-dark(#e8f1fb, #13263c);
  --unknown: light-dark(#585a6b, #a6a9ba);
  --unknown-soft: light-dark(#efeff4, #22242d);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
*, ::before, ::after { box-sizing: border-box; }
html { scroll-padding-top: 16px; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 var(--sans); }
h1, h2, h3, h4, p, ul, ol, dl, dd, table, pre, figure, fieldset { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1, h2, h3, h4 { font-weight: 650; text-wrap: balance; overflow-wrap: anywhere; }
h1 { font-size: 28px; line-height: 1.25; }
h2 { font-size: 20px; line-height: 1.4; }
h3, h4 { font-size: 16px; line-height: 1.5; }
p, li, dd, td, th, summary { overflow-wrap: anywhere; }
p { max-width: 72ch; }
.small { font-size: 14px; }
.muted { color: var(--muted); }
code, pre, .mono { font-family: var(--mono); font-size: 14px; overflow-wrap: anywhere; }
a { color: var(--accent); text-underline-offset: 2px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
[hidden] { display: none !important; }
.visually-hidden { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.needs-script, .print-only { display: none; }
.script .needs-script { display: inline-flex; }
.skip { position: absolute; left: 16px; top: -80px; z-index: 1; padding: 8px 16px; border-radius: 8px; background: var(--accent); color: var(--page); }
.skip:focus { top: 8px; }
.wrap { max-width: 1136px; margin: 0 auto; padding: 0 24px; }
.bar { border-bottom: 1px solid var(--line); background: var(--surface); }
.bar .wrap { display: flex; align-items: center; justify-content: space-between; gap: 16px; min-height: 56px; }
.brand { display: inline-flex; align-items: center; gap: 8px; font-weight: 650; color: var(--ink); text-decoration: none; }
.brand svg { color: var(--accent); }
.brand img { flex: none; box-sizing: content-box; padding: 4px; border-radius: 4px; background: #fff; }
.brand bdi { overflow-wrap: anywhere; }
.foot { margin: 32px 0; color: var(--muted); font-size: 14px; }
.foot .wrap { display: flex; flex-wrap: wrap; gap: 4px 24px; }

.button { align-items: center; gap: 4px; min-height: 32px; padding: 0 12px; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); color: var(--ink); font: 14px/1 var(--sans); cursor: pointer; white-space: nowrap; }
.button:hover { border-color: var(--strong-line); }
.icon { flex: none; width: 16px; height: 16px; vertical-align: -3px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
.state { display: inline-flex; align-items: baseline; gap: 4px; font-size: 14px; font-weight: 600; white-space: nowrap; }
.state > .icon { align-self: center; }
.pass { --tone: var(--pass); --soft: var(--pass-soft); }
.warn { --tone: var(--warn); --soft: var(--warn-soft); }
.fail { --tone: var(--fail); --soft: var(--fail-soft); }
.info { --tone: var(--info); --soft: var(--info-soft); }
.unknown { --tone: var(--unknown); --soft: var(--unknown-soft); }
.state, .tone { color: var(--tone); }
${LEVEL_STYLE}.badge { padding: 0 8px 0 6px; border-radius: 8px; background: var(--soft); }

.card { border: 1px solid var(--line); border-radius: 8px; background: var(--surface); }
.stack > * + * { margin-top: 12px; }
.scroll { overflow-x: auto; max-width: 100%; }
table { width: 100%; border-collapse: collapse; font-size: 14px; }
th, td { padding: 8px 12px; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { font-weight: 600; }
thead th { color: var(--muted); white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tbody:last-child > tr:last-child > * { border-bottom: 0; }
.copyable { display: flex; align-items: flex-start; gap: 8px; }
.copyable > code { flex: 1 1 auto; min-width: 0; }
.copy { flex: none; min-height: 28px; padding: 0 8px; color: var(--accent); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.box { padding: 12px; border: 1px solid var(--line); border-radius: 8px; background: var(--sunken); font-size: 14px; line-height: 1.5; }

.popover { inset: auto; position-area: block-end span-inline-start; position-try-fallbacks: flip-block, flip-inline, flip-block flip-inline; width: max-content; max-width: min(480px, 100vw - 32px); max-height: calc(100vh - 32px); margin: 4px 0; padding: 16px; border: 1px solid var(--strong-line); border-radius: 8px; background: var(--surface); color: var(--ink); font-size: 16px; font-weight: 400; text-align: left; white-space: normal; overflow: auto; overscroll-behavior: contain; }
.popover > * + * { margin-top: 12px; }
/* Without anchors, in the middle. */
@supports not (position-area: block-end) { .popover { inset: 0; margin: auto; } }

details > summary { cursor: pointer; list-style: none; }
details > summary::-webkit-details-marker { display: none; }
.chevron { flex: none; width: 16px; height: 16px; fill: none; stroke: var(--muted); stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; transition: transform 0.12s; }
details[open] > summary .chevron { transform: rotate(90deg); }
/* Without scripts, a link to a fold opens it too. */
details:target::details-content { content-visibility: visible; display: block; block-size: auto; }
@media (prefers-reduced-motion: reduce) { .chevron { transition: none; } }
@media (max-width: 640px) {
  .wrap { padding: 0 16px; }
  h1 { font-size: 20px; line-height: 1.35; }
  th, td { padding: 8px; }
  .popover { position-area: none; inset: auto 0 0; width: 100%; max-width: none; max-height: 80vh; margin: 0; padding: 16px 16px max(16px, env(safe-area-inset-bottom)); border-width: 1px 0 0; border-radius: 8px 8px 0 0; }
  .popover::backdrop { background: rgb(0 0 0 / 0.4); }
  .popover .button, .bar .button { min-height: 44px; }
}

@media print {
  :root, :root[data-theme] { color-scheme: light; }
  @page { margin: 16mm; }
  body { background: #fff; font-size: 14px; }
  .wrap { max-width: none; padding: 0; }
  .bar, .skip, .button, .chevron, .screen-only, .script .needs-script { display: none !important; }
  .print-only { display: initial; }
  /* A closed <details> prints like an open one. */
  details::details-content { content-visibility: visible; display: block; block-size: auto; }
  .scroll { overflow: visible; }
  h2, h3, h4, summary, thead, .note { break-after: avoid; }
  tr { break-inside: avoid; }
  a[href^="http"]::after { content: " <" attr(href) ">"; font-size: 14px; color: var(--muted); text-decoration: none; overflow-wrap: anywhere; }
  a { text-decoration: none; }
}
`;
