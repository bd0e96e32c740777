/** Links to the parts of a section, above the one that is shown. */

export interface Tab<Name extends string> {
  name: Name;
  href: string;
  text: string;
}

interface TabsProps<Name extends string> {
  /** Names the links for screen readers. */
  label: string;
  tabs: readonly Tab<Name>[];
  current: Name;
}

export function Tabs<Name extends string>({ label, tabs, current }: TabsProps<Name>) {
  return (
    <nav class="tabs screen-only" aria-label={label}>
      {tabs.map(({ name, href, text }) => (
        <a key={name} href={href} aria-current={name === current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}
