/** The frame of pages for signed-in members: navigation, account menu, and switches. */

import { Popover } from './components.tsx';
import { HELP_MENU_STYLE, type HelpPanel } from './help-panel.tsx';

interface ShellLink {
  href: string;
  text: string;
  /** The path of its icon, drawn on 16 × 16 units. */
  icon: string;
  current: boolean;
}

/** Plain data, because reports are rendered in a thread. */
export interface Shell {
  /** Groups of links; only the first has no title. */
  groups: { title: string | null; links: ShellLink[] }[];
  /** `limit`: the tags to which they are limited. */
  member: { id: string; name: string; email: string; limit: string[] | null };
  testMode: boolean;
  /** What the "?" in the header shows; null without help for this page. */
  help: HelpPanel | null;
  /** Whether the member's role allows new tests. */
  canCreateTests: boolean;
  /** The path and query of the page, to which the switches return. */
  path: string;
}

/** Stylesheet and script as files of the service, for pages that need not work without it. */
export interface Assets {
  style: string;
  script: string;
}

export function ShellIcons() {
  return (
    <svg hidden aria-hidden="true">
      <symbol id="icon-unset" viewBox="0 0 16 16">
        <rect x="2" y="2" width="12" height="12" rx="3" stroke-dasharray="2.4 2.4" />
      </symbol>
      <symbol id="icon-waiting" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="6.6" />
        <path d="M8 4.2V8l2.6 1.6" />
      </symbol>
    </svg>
  );
}

export function ShellNavigation({ groups }: Pick<Shell, 'groups'>) {
  return (
    <nav id="navigation" class="side" aria-label="Main">
      {groups.map(({ title, links }) => (
        <div key={title} class="side-group">
          {title && <h2 class="side-title">{title}</h2>}
          <ul>
            {links.map(({ href, text, icon, current }) => (
              <li key={href}>
                <a href={href} aria-current={current ? 'page' : undefined}>
                  <svg class="icon" aria-hidden="true" viewBox="0 0 16 16">
                    <path d={icon} />
                  </svg>
                  {text}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** Shown above every page in test mode. */
export function TestModeBanner({ path }: Pick<Shell, 'path'>) {
  return (
    <div class="test-mode-banner">
      <form method="post" action="/mode">
        <input type="hidden" name="next" value={path} />
        <strong>Test mode.</strong> You see the tests, events and webhooks of test-mode keys. They
        don't count in summaries and alerts.{' '}
        <button type="submit" name="mode" value="live" class="link">
          Switch to live
        </button>
      </form>
    </div>
  );
}

/** The right side of the header. */
export function ShellControls({ member, testMode, canCreateTests, path }: Shell) {
  return (
    <>
      {canCreateTests && (
        <form method="post" action="/tests" class="screen-only">
          <button type="submit" class="button primary">
            Get a test address
          </button>
        </form>
      )}
      <Popover
        id="account-menu"
        class="menu"
        button={
          <>
            <svg class="icon" aria-hidden="true" viewBox="0 0 16 16">
              <path d="M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm-5.5 6c0-5.6 11-5.6 11 0" />
            </svg>
            <span class="menu-name">{member.name}</span>
          </>
        }
      >
        <p class="small muted">{member.email}</p>
        {member.limit && <p class="small muted">You see only {member.limit.join(', ')}.</p>}
        <ul>
          <li>
            <a href="/account">Account</a>
          </li>
          <li>
            <a href="/docs">API reference</a>
          </li>
          <li class="needs-script">
            <button type="button" data-action="theme" class="link">
              <span>Dark theme</span>
            </button>
          </li>
          <li>
            <form method="post" action="/mode">
              <input type="hidden" name="next" value={path} />
              <button type="submit" name="mode" value={testMode ? 'live' : 'test'} class="link">
                {testMode ? 'Switch to live mode' : 'Switch to test mode'}
              </button>
            </form>
          </li>
          <li>
            <form method="post" action="/sign-out">
              <button type="submit" class="link">
                Sign out
              </button>
            </form>
          </li>
        </ul>
      </Popover>
    </>
  );
}

/** Opens the search; without a script, its page. */
export function SearchLink() {
  return (
    <a
      class="button search-link screen-only"
      href="/search"
      data-action="search"
      aria-keyshortcuts="/ Control+K"
    >
      <svg class="icon" aria-hidden="true" viewBox="0 0 16 16">
        <circle cx="7" cy="7" r="4.5" />
        <path d="M10.3 10.3 14 14" />
      </svg>
      <span>Search</span>
      <span class="key" aria-hidden="true">
        /
      </span>
    </a>
  );
}

/** The button that opens the navigation on small screens. */
export function MenuButton() {
  return (
    <button
      type="button"
      class="button needs-script menu-button"
      data-action="navigation"
      aria-controls="navigation"
      aria-expanded="false"
    >
      <svg class="icon" aria-hidden="true" viewBox="0 0 16 16">
        <path d="M2 4h12M2 8h12M2 12h12" />
      </svg>
      <span>Menu</span>
    </button>
  );
}

/** Added to the style of all pages. */
export const SHELL_STYLE = `
.button.primary { border-color: var(--accent); background: var(--accent); color: var(--page); font-weight: 600; }
.bar:has(.menu) .wrap { max-width: 1440px; padding: 0 24px 0 28px; }
.bar:has(.menu) .brand { margin-right: auto; }
.bar-end { display: flex; align-items: center; gap: 8px; }
.bar-end > .button { display: inline-flex; gap: 6px; }
.bar .brand { text-decoration: none; }
button.link { padding: 0; border: 0; background: none; color: var(--accent); font: inherit; text-decoration: underline; text-underline-offset: 2px; cursor: pointer; }
.app { display: grid; grid-template-columns: 208px minmax(0, 1fr); max-width: 1440px; margin: 0 auto; }
.side { padding: 24px 0 24px 16px; }
.side-group + .side-group { margin-top: 20px; }
.side-title { padding: 0 12px 4px; color: var(--muted); font-size: 14px; font-weight: 600; }
.side a { display: flex; align-items: center; gap: 10px; min-height: 36px; padding: 4px 12px; border-radius: 8px; color: var(--ink); text-decoration: none; }
.side a:hover { background: var(--sunken); }
.side a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }
.side .icon { vertical-align: 0; }
.menu { min-width: 220px; padding-bottom: 4px; }
.menu-name { overflow: hidden; max-width: 160px; line-height: 1.5; text-overflow: ellipsis; }
.menu ul { margin: 8px -16px 0; }
.menu :is(a, .link) { display: flex; align-items: center; width: 100%; min-height: 44px; padding: 0 16px; color: var(--ink); text-decoration: none; }
.script .menu .needs-script { display: block; }
.menu :is(a, .link):hover { background: var(--sunken); }
.test-mode-banner { padding: 8px 24px; border-bottom: 1px solid var(--warn); background: var(--warn-soft); font-size: 14px; }
.menu-button { display: none !important; }
.search-link { display: inline-flex; color: var(--muted); text-decoration: none; }
.search-link .key { display: none; margin-left: auto; padding: 0 6px; border: 1px solid var(--line); border-radius: 4px; font: 14px/1.4 var(--mono); }
.script .search-link .key { display: inline; }
.search { width: min(640px, calc(100vw - 32px)); max-width: none; max-height: min(640px, calc(100vh - 32px)); margin: 16px auto auto; padding: 0; border: 1px solid var(--strong-line); border-radius: 8px; background: var(--surface); color: var(--ink); }
.search[open] { display: flex; flex-direction: column; }
.search::backdrop { background: rgb(0 0 0 / 0.4); }
.search form { display: flex; align-items: center; gap: 8px; padding: 12px; }
.search form > * { margin: 0; }
.search input { flex: 1; min-width: 0; min-height: 44px; padding: 8px 12px; border: 1px solid var(--strong-line); border-radius: 8px; background: var(--surface); color: var(--ink); font: 16px/1.5 var(--sans); }
.search > p { padding: 8px 20px 12px; }
.search [role="listbox"] { overflow-y: auto; padding: 0 8px 12px; }
.search-group { padding: 8px 12px 4px; color: var(--muted); font-size: 14px; font-weight: 600; }
.search [role="option"] { display: block; padding: 8px 12px; border-radius: 8px; color: var(--ink); text-decoration: none; }
.search [role="option"] bdi { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.search .row-note { color: var(--muted); font-size: 14px; }
.search [role="option"]:hover { background: var(--sunken); }
.search [role="option"][aria-selected="true"] { outline: 2px solid var(--accent); outline-offset: -2px; background: var(--accent-soft); }
@media (min-width: 961px) { .search-link { min-width: 220px; } .search { margin-top: 10vh; } }
@media (max-width: 960px) {
  .app { display: block; }
  .script .menu-button { display: inline-flex !important; }
  .side { padding: 12px 16px; border-bottom: 1px solid var(--line); background: var(--surface); }
  .script .side:not(.open) { display: none; }
  .side ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 4px; }
  .side a { min-height: 44px; }
  .search-link > span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
}
@media (max-width: 800px) { .menu-name { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); } }
@media (max-width: 640px) {
  .search-link .key { display: none !important; }
  .test-mode-banner { padding: 8px 16px; }
  /* One row of targets for fingers. The texts of icons are still read aloud. */
  .bar:has(.menu) .wrap { gap: 0; min-height: 55px; padding: 0 4px; }
  .bar:has(.menu) .brand { justify-content: center; min-width: 44px; min-height: 44px; }
  .brand > span, .menu-button > span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .bar-end { gap: 4px; min-width: 0; }
  .bar:has(.menu) .button:not(.primary) { justify-content: center; min-width: 44px; padding: 0; border-color: transparent; background: none; }
  .bar .primary { padding: 0 8px; line-height: 1.2; white-space: normal; }
}
@media (max-width: 400px) { .bar:has(.menu) .brand { display: none; } }
${HELP_MENU_STYLE}@media print { .side, .test-mode-banner { display: none !important; } /* Otherwise its space below can fill a page of its own. */ .app { display: block; } .app > .wrap, .app main { padding-bottom: 0 !important; margin-bottom: 0 !important; } }
`;
