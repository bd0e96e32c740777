/** The "?" in the header: three sentences about the page, questions, and the chapter. */

/** Plain data, because reports are rendered in a thread. */
export interface HelpPanel {
  title: string;
  text: string;
  /** Questions, and the chapter as the last. */
  links: { href: string; text: string }[];
}

/** Without a panel, it leads to the list of chapters. */
export function HelpMenu({ help }: { help: HelpPanel | null }) {
  if (help === null)
    return (
      <a class="button help-button screen-only" href="/help" aria-label="Help">
        ?
      </a>
    );
  return (
    <details class="menu screen-only" data-menu>
      <summary class="button help-button" aria-label="Help for this page">
        ?
      </summary>
      <section class="menu-panel help-panel" aria-labelledby="help-title">
        <p>
          <strong id="help-title">{help.title}</strong>
        </p>
        <p>{help.text}</p>
        <ul>
          {help.links.map(({ href, text }) => (
            <li key={href}>
              <a href={href}>{text}</a>
            </li>
          ))}
          <li>
            <a href="/help">All chapters</a>
          </li>
        </ul>
      </section>
    </details>
  );
}

export const HELP_MENU_STYLE = `
.help-button { display: inline-flex; justify-content: center; min-width: 32px; font-weight: 650; text-decoration: none; }
.help-panel { width: min(400px, calc(100vw - 32px)); font-size: 14px; }
.help-panel > * + * { margin-top: 8px; }
@media (max-width: 640px) {
  .menu-panel.help-panel { position: fixed; inset: auto 0 0; width: auto; max-height: 80vh; margin: 0; padding: 16px; overflow-y: auto; border-radius: 8px 8px 0 0; font-size: 16px; }
}
`;
