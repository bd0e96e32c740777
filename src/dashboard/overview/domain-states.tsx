/** How many domains are in which state: failing first, healthy last. */

import type { DomainCounts } from '../../domains/overview.ts';
import { formatCount } from '../../report/summary.ts';
import { DOMAIN_STATES, type DomainState, DomainStateMark } from '../domains/states.tsx';
import { Card } from '../frame/card.tsx';
import { NotSetUp } from '../frame/states.tsx';

export function DomainStates({ counts }: { counts: DomainCounts }) {
  const countOf = (state: DomainState): number =>
    state === 'failed' || state === 'pending' ? counts[state] : counts.health[state];
  return (
    <Card
      title="Domains"
      id="domains"
      actions={
        <a class="small" href="/domains">
          All domains
        </a>
      }
    >
      {counts.total === 0 ? (
        <p>
          <NotSetUp>No domain added</NotSetUp>
        </p>
      ) : (
        <ul class="counts">
          {DOMAIN_STATES.filter((state) => countOf(state) > 0).map((state) => (
            <li key={state}>
              <a href={`/domains?state=${state}`}>
                <DomainStateMark state={state} />
              </a>
              <span class="number">{formatCount(countOf(state))}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
