/** Which addresses Microsoft blocks, from what it says about ranges. */

import { addressNumber } from '../lib/addresses.ts';
import type { ReceiverBlockRow } from '../store/tables.generated.ts';

export type FindBlock = (address: string) => ReceiverBlockRow | null;

/** Finds the range that an address is in: a blocked one if there is any, else the smallest. Null if there is none. */
export function blockFinder(blocks: ReceiverBlockRow[]): FindBlock {
  const ranges = blocks.map((block) => {
    const first = addressNumber(block.first_address);
    const last = addressNumber(block.last_address);
    return { block, first, last, size: last - first };
  });
  ranges.sort(
    (a, b) => b.block.blocked - a.block.blocked || (a.size < b.size ? -1 : Number(a.size > b.size)),
  );
  return (address) => {
    const number = addressNumber(address);
    return ranges.find(({ first, last }) => first <= number && number <= last)?.block ?? null;
  };
}

type Range = Pick<ReceiverBlockRow, 'first_address' | 'last_address'>;

export const isSingle = ({ first_address, last_address }: Range): boolean =>
  first_address === last_address;

/** The address, or the first and the last of the range. */
export const subjectOf = (range: Range): string =>
  isSingle(range) ? range.first_address : `${range.first_address}-${range.last_address}`;
