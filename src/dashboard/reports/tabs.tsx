/** The parts of the section "Reports". */

import { Tabs } from '../frame/tabs.tsx';

const TABS = [
  { name: 'summary', href: '/reports', text: 'Summary' },
  { name: 'shares', href: '/reports/shares', text: 'Shared links' },
  { name: 'schedules', href: '/reports/schedules', text: 'Schedules' },
  { name: 'brand', href: '/reports/brand', text: 'Brand' },
] as const;

export const ReportTabs = ({ current }: { current: (typeof TABS)[number]['name'] }) => (
  <Tabs label="Reports" tabs={TABS} current={current} />
);
