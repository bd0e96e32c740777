/** The parts of the section "Feedback", and of the feedback on one domain. */

import { allows } from '../../http/actor.ts';
import { useReader } from '../frame/reader.tsx';
import { Tabs } from '../frame/tabs.tsx';

const TABS = [
  { name: 'domains', href: '/feedback', text: 'Domains' },
  { name: 'reports', href: '/feedback/reports', text: 'Reports' },
  { name: 'mailboxes', href: '/feedback/mailboxes', text: 'Mailboxes' },
] as const;

export function FeedbackTabs({ current }: { current: (typeof TABS)[number]['name'] }) {
  const { role, limit } = useReader();
  const canImport = allows(role, 'member') && limit === null;
  const tabs = TABS.filter(({ name }) => name !== 'mailboxes' || canImport);
  return <Tabs label="Feedback" tabs={tabs} current={current} />;
}

const DOMAIN_TABS = [
  { name: 'overview', path: '', text: 'Overview' },
  { name: 'reporters', path: '/reporters', text: 'Reporters' },
  { name: 'tls', path: '/tls', text: 'TLS' },
  { name: 'complaints', path: '/complaints', text: 'Complaints' },
  { name: 'bounces', path: '/bounces', text: 'Bounces' },
] as const;

interface DomainTabsProps {
  id: string;
  current: (typeof DOMAIN_TABS)[number]['name'];
}

export function DomainTabs({ id, current }: DomainTabsProps) {
  const { limit } = useReader();
  const tabs = DOMAIN_TABS.filter(({ name }) => name !== 'reporters' || limit === null).map(
    ({ path, ...tab }) => ({
      ...tab,
      href: `/feedback/domains/${id}${path}`,
    }),
  );
  return <Tabs label="Feedback on the domain" tabs={tabs} current={current} />;
}
