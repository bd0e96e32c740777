/** The period and the domain of figures: read from the URL, shown as links and as a filter. */

import * as v from 'valibot';
import { findDomain, findDomainByName } from '../../domains/queries.ts';
import { domainOperations } from '../../domains/routes.ts';
import { allows } from '../../http/actor.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { PERIODS, type Period } from '../../summary/summary.ts';
import type { PageCall } from '../frame/app-page.tsx';
import { Filters } from '../frame/filters.tsx';
import { Select, TextField } from '../frame/form.tsx';
import { pathWith } from '../frame/table.tsx';

/** Values that do not exist fall back to the default, because links are kept for a long time. */
export const ScopeQuery = {
  period: v.fallback(v.optional(v.picklist(PERIODS), 'week'), 'week'),
  domain_id: v.optional(v.string()),
  /** A name, for teams with more domains than a list can show. */
  domain: v.optional(v.string()),
};

export interface Scope {
  period: Period;
  domain: { id: string; name: string } | null;
  /** What was asked for, if there is no such domain. */
  unknownDomain: string | null;
  /** To choose from; null if there are too many, or if the role may not see them. */
  choices: { id: string; name: string }[] | null;
  canChoose: boolean;
}

/** As many as a list returns at once. */
const MAX_CHOICES = 100;

export async function readScope(
  call: PageCall,
  query: { period: Period; domain_id?: string; domain?: string },
): Promise<Scope> {
  const { app, actor } = call;
  const { period, domain_id, domain: name } = query;
  const asked = domain_id ?? name?.trim();
  const found = domain_id
    ? await findDomain(app.db, domain_id)
    : asked && (await findDomainByName(app.db, normalizeDomain(asked) ?? ''));
  const domain = found ? { id: found.id, name: found.name } : null;
  const canChoose = allows(actor.role, 'member');
  const domains = canChoose
    ? await call.invoke(domainOperations.list, { query: { limit: String(MAX_CHOICES) } })
    : null;
  return {
    period,
    domain,
    unknownDomain: asked && !domain ? asked : null,
    choices:
      domains && !domains.has_more
        ? domains.data.toSorted((a, b) => (a.name < b.name ? -1 : 1))
        : null,
    canChoose: canChoose && domains!.data.length > 0,
  };
}

/** The query of the URL of a scope. */
export const queryOf = ({ period, domain }: Pick<Scope, 'period' | 'domain'>) => ({
  period,
  domain_id: domain?.id,
});

export const PERIOD_NAMES: Record<Period, string> = {
  day: 'Last 24 hours',
  week: 'Last 7 days',
  month: 'Last 30 days',
};

const SHORT_NAMES: Record<Period, string> = { day: '24 hours', week: '7 days', month: '30 days' };

/** "the previous 7 days". */
export const previousPeriod = (period: Period): string => `the previous ${SHORT_NAMES[period]}`;

/** Links to the other periods, and the choice of a domain. */
export function ScopeControls({ path, scope }: { path: string; scope: Scope }) {
  const { period, domain, choices, canChoose } = scope;
  return (
    <div class="scope screen-only">
      <nav class="segments" aria-label="Period">
        {PERIODS.map((name) => (
          <a
            key={name}
            href={pathWith(path, queryOf({ period: name, domain }))}
            aria-current={name === period ? 'true' : undefined}
          >
            {SHORT_NAMES[name]}
          </a>
        ))}
      </nav>
      {canChoose && (
        <Filters path={path} active={domain !== null}>
          <input type="hidden" name="period" value={period} />
          {choices ? (
            <Select
              name="domain_id"
              label="Domain"
              options={[
                ['', 'All domains'],
                ...choices.map(({ id, name }) => [id, name] as [string, string]),
              ]}
              value={domain?.id ?? ''}
            />
          ) : (
            <TextField
              name="domain"
              label="Domain"
              type="search"
              placeholder="All domains"
              value={domain?.name}
            />
          )}
        </Filters>
      )}
    </div>
  );
}
