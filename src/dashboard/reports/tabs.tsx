/** The three parts of the section "Reports". */

const TABS = [
  { name: 'summary', href: '/reports', text: 'Summary' },
  { name: 'shares', href: '/reports/shares', text: 'Shared links' },
  { name: 'schedules', href: '/reports/schedules', text: 'Schedules' },
] as const;

export function ReportTabs({ current }: { current: (typeof TABS)[number]['name'] }) {
  return (
    <nav class="tabs screen-only" aria-label="Reports">
      {TABS.map(({ name, href, text }) => (
        <a key={name} href={href} aria-current={name === current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}
