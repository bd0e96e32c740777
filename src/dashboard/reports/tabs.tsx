/** The parts of the section "Reports". */

import { useReader } from '../frame/reader.tsx';
import { Tabs } from '../frame/tabs.tsx';

const TABS = [
  { name: 'summary', href: '/reports', text: 'Summary' },
  { name: 'shares', href: '/reports/shares', text: 'Shared links' },
  { name: 'schedules', href: '/reports/schedules', text: 'Schedules', wholeTeam: true },
  { name: 'brand', href: '/reports/brand', text: 'Brand', wholeTeam: true },
] as const;

export function ReportTabs({ current }: { current: (typeof TABS)[number]['name'] }) {
  const { limit } = useReader();
  const tabs = TABS.filter((tab) => limit === null || !('wholeTeam' in tab));
  return <Tabs label="Reports" tabs={tabs} current={current} />;
}
