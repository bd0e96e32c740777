/** How a provider's published rules are declared: which checks show that a message keeps one. */

import type { Reference } from '../check.ts';
import type { CheckResult } from '../result.ts';
import type { Provider, RuleVerdict } from './provider.ts';

/** A check's result by its id; undefined where it was not made. */
export type Find = (id: string) => CheckResult | undefined;

export interface Rule extends Pick<RuleVerdict, 'id' | 'title' | 'applies' | 'error'> {
  /**
   * Ids of checks: the rule is met where all of any one of these groups are. Empty where no single
   * message can show it.
   */
  needs: string[][];
  /** It is about marketing mail alone: for other mail it is left out. */
  marketingOnly?: true;
  /** It tells what others say of the sender: where they did not answer, it does not keep from `ready`. */
  toldByOthers?: true;
  /** Comes first, for what the statuses of checks do not tell; null leaves it to `needs`. */
  judge?(find: Find): Judgement | null;
}

export type Judgement = Pick<RuleVerdict, 'status' | 'detail'>;

export interface ProviderRules {
  provider: Provider;
  name: string;
  reference: Reference;
  rules: Rule[];
}
