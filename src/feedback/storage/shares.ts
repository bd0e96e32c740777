/** The shares of the disk in words and figures, for the state of the service, metrics and the doctor. */

import { formatSize } from '../../lib/durations.ts';
import { fullnessOf, type StorageUsage } from './usage.ts';

/** From here on, administrators are told. */
export const NEARLY_FULL = 0.8;

export interface Share {
  /** The label of metrics. */
  id: 'all' | 'all_unverified' | 'fullest_domain' | 'fullest_domain_unverified';
  /** Continues "12 MB of 1 GB …". */
  text: string;
  used: number;
  limit: number;
}

export function sharesOf(usage: StorageUsage): Share[] {
  const { all, domains, limits } = usage;
  const none = { used: { total: 0, unverified: 0 }, limit: limits.domain };
  const fullest = domains
    .map((id) => usage.ofDomain(id))
    .reduce((first, next) => (fullnessOf(next) > fullnessOf(first) ? next : first), none);
  const of = (id: 'all' | 'fullest_domain', { used, limit }: typeof all, text: string): Share[] => [
    { id, text, used: used.total, limit: limit.total },
    {
      id: `${id}_unverified`,
      text: `${text} from reporters that nobody has confirmed`,
      used: used.unverified,
      limit: limit.unverified,
    },
  ];
  return [...of('all', all, 'for all domains'), ...of('fullest_domain', fullest, 'for one domain')];
}

export const isNearlyFull = ({ used, limit }: Pick<Share, 'used' | 'limit'>): boolean =>
  used >= limit * NEARLY_FULL;

/** "12 MB of 1 GB for all domains (1%)": those that are nearly full, otherwise all. */
export function sharesInWords(shares: Share[]): string {
  const full = shares.filter(isNearlyFull);
  const texts = (full.length > 0 ? full : shares).map(
    ({ text, used, limit }) =>
      `${formatSize(used)} of ${formatSize(limit)} ${text} (${Math.floor((used / limit) * 100)}%)`,
  );
  return `${full.length > 0 ? 'Nearly full: ' : ''}${texts.join(', ')}.`;
}

/** What happens to reports meanwhile, and what to do. */
export const STORAGE_ADVICE =
  'While a share is full, reports of reporters that nobody has confirmed are deferred. Delete reports that you don’t need, or raise DELIVERABILITY_FEEDBACK_STORAGE or DELIVERABILITY_FEEDBACK_STORAGE_PER_DOMAIN.';
