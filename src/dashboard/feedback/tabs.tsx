/** The parts of the section "Feedback". */

import { Tabs } from '../frame/tabs.tsx';

const TABS = [
  { name: 'domains', href: '/feedback', text: 'Domains' },
  { name: 'reports', href: '/feedback/reports', text: 'Reports' },
] as const;

export const FeedbackTabs = ({ current }: { current: (typeof TABS)[number]['name'] }) => (
  <Tabs label="Feedback" tabs={TABS} current={current} />
);
