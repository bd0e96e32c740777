/** The parts of the section "Reports". */

import { useReader } from '../frame/reader.tsx';
import { Tabs } from '../frame/tabs.tsx';

const TABS = [
  { name: 'summary', href: '/reports', text: 'Summary' },
  { name: 'shares', href: '/reports/shares', text: 'Shared links' },
  { name: 'schedules', href: '/reports/schedules', text: 'Schedules' },
  { name: 'brand', href: '/reports/brand', text: 'Brand' },
] as const;

export function ReportTabs({ current }: { current: (typeof TABS)[number]['name'] }) {
  const { limit } = useReader();
  const tabs = TABS.filter(({ name }) => name !== 'schedules' || limit === null);
  return <Tabs label="Reports" tabs={tabs} current={current} />;
}
