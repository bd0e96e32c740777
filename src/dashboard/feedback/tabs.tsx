/** The parts of the section "Feedback". */

const TABS = [
  { name: 'domains', href: '/feedback', text: 'Domains' },
  { name: 'reports', href: '/feedback/reports', text: 'Reports' },
] as const;

export function FeedbackTabs({ current }: { current: (typeof TABS)[number]['name'] }) {
  return (
    <nav class="tabs screen-only" aria-label="Feedback">
      {TABS.map(({ name, href, text }) => (
        <a key={name} href={href} aria-current={name === current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}
