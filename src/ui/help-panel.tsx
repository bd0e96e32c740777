/** The "?" in the header: three sentences about the page, questions, and the chapter. */

import { Popover } from './components.tsx';

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
    <Popover
      id="help-panel"
      class="menu help-panel"
      button="?"
      label="Help for this page"
      buttonClass="button help-button"
    >
      <p>
        <strong>{help.title}</strong>
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
    </Popover>
  );
}

export const HELP_MENU_STYLE = `
.help-button { display: inline-flex; justify-content: center; min-width: 32px; font-weight: 650; text-decoration: none; }
.help-panel > * + * { margin-top: 8px; }
@media (min-width: 641px) { .help-panel { width: 400px; font-size: 14px; } }
`;
