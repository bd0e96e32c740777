/** Where the messages of a domain landed in the last 30 days. */

import { Card } from '../frame/card.tsx';
import { NotSetUp } from '../frame/states.tsx';
import type { SummaryFigures } from '../overview/figures.tsx';
import { Placement } from '../overview/placement.tsx';

export function DomainPlacement({ summary }: { summary: SummaryFigures }) {
  if (summary.placement.by_provider.length > 0) return <Placement summary={summary} />;
  return (
    <Card title="Inbox placement by provider" id="placement">
      <p>
        <NotSetUp>No placement tests.</NotSetUp>{' '}
        <span class="muted">
          No test of this domain looked into seed mailboxes in the last 30 days.
        </span>{' '}
        <a href="/tests/new">New test</a>
      </p>
    </Card>
  );
}
