/** Whether a list answers rightly at the points that its operator publishes for that. */

import type { Resolver } from '../../net/resolver.ts';
import { askList } from './ask.ts';
import type { ChosenBlocklist } from './choose.ts';

/**
 * null for a list that works; else why it must be left out, a sentence. A zone that is dead does not
 * list its test point, or lists the world.
 */
export async function faultOf(resolver: Resolver, chosen: ChosenBlocklist): Promise<string | null> {
  const { test } = chosen.list;
  const [listed, unlisted] = await Promise.all([
    askList(resolver, chosen, test.listed),
    askList(resolver, chosen, test.unlisted),
  ]);
  if (listed.status === 'error') return listed.reason;
  if (unlisted.status === 'error') return unlisted.reason;
  if (listed.codes.length === 0) return 'It does not list its test point.';
  if (unlisted.codes.length > 0)
    return `It lists what it must not list (${unlisted.codes[0]}): it may list the world.`;
  return null;
}
