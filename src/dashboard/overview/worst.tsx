/** The domains with the worst headlines, each with what to do first. */

import { countGroups } from '../../domain-table/queries.ts';
import { tableOperations } from '../../domain-table/routes.ts';
import type { TableRow } from '../../domain-table/schema.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import type { PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { ProblemLine } from './broken.tsx';

const MAX_DOMAINS = 5;

const WITH_STEP = { next_step: 'yes', sort: 'next_step' } as const;

export interface Worst {
  domains: TableRow[];
  count: number;
  /** Whether receivers refuse mail of one, or are about to. */
  isAnyFailing: boolean;
}

/** What costs most first. That a new domain waits for its verification is no problem, but a next step. */
export async function findWorst(call: PageCall): Promise<Worst> {
  const query = { ...WITH_STEP, limit: String(MAX_DOMAINS) };
  const { data } = await call.invoke(tableOperations.table, { query });
  const domains = data.filter(
    ({ state, next_step }) => state !== 'pending' || !next_step!.path.endsWith('#verification'),
  );
  const counts = await countGroups(call.app.db, WITH_STEP);
  return {
    domains,
    count: counts.get(null) ?? 0,
    isAnyFailing: domains.some(
      ({ headline_state, state }) => headline_state === 'fail' || state === 'failed',
    ),
  };
}

export function WorstDomains({ domains, count }: Worst) {
  if (domains.length === 0) return null;
  return (
    <Card
      title={domains.length === 1 ? 'Fix this domain first' : 'Fix these domains first'}
      id="worst"
    >
      <ul class="problems">
        {domains.map(({ id, name, headline, headline_state: state, since, next_step: step }) => (
          <ProblemLine
            key={id}
            state={state}
            word={state === 'fail' ? 'Failing' : 'Warning'}
            href={`/domains/${id}`}
            text={`${readableDomain(name)}: ${headline}`}
            since={since}
          >
            <p class="small">
              <a class="first-step" href={step!.path}>
                {step!.text}
              </a>
            </p>
          </ProblemLine>
        ))}
      </ul>
      {count > domains.length && (
        <p class="links small">
          <a href="/domains?next_step=yes">
            All {formatCount(count, 'domain')} with something to fix
          </a>
        </p>
      )}
    </Card>
  );
}
