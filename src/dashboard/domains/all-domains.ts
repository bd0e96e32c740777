/** All domains that the list of the API has for a query, for pages without paging. */

import { MAX_BATCH } from '../../domains/lookup-schema.ts';
import { domainOperations } from '../../domains/routes.ts';
import type { ListedDomain } from '../../domains/schema.ts';
import type { PageCall } from '../frame/app-page.tsx';

/** At most as many as a batch can add. */
export async function allDomains(
  call: PageCall,
  query: { status?: string; created_at?: string },
): Promise<ListedDomain[]> {
  const found: ListedDomain[] = [];
  for (let starting_after: string | undefined; ; starting_after = found.at(-1)!.id) {
    const { data, has_more } = await call.invoke(domainOperations.list, {
      query: { ...query, limit: '100', starting_after },
    });
    found.push(...data);
    if (!has_more || found.length >= MAX_BATCH) return found;
  }
}
