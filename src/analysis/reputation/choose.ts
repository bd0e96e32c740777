/** Which of the declared blocklists are asked, by the operator's configuration. */

import type { Blocklist } from './blocklist.ts';

/** `+zone` or `-zone`; `all` stands for every declared one. */
export interface BlocklistChange {
  on: boolean;
  zone: string;
}

export interface ChosenBlocklist {
  list: Blocklist;
  /** The zone to ask, with the key where one is configured. Never shown. */
  asked: string;
}

/** The default set with the changes made in their order. Throws an Error that names an unknown zone. */
export function chooseBlocklists(
  _changes: BlocklistChange[],
  _dqsKey: string | null,
): ChosenBlocklist[] {
  return [];
}
