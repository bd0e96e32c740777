/** What Microsoft SNDS says about the addresses that send for a domain. */

import { RECEIVER_NAMES } from '../config/receivers.ts';
import { dayBefore } from '../feedback/sums.ts';
import { formatCount } from '../lib/format/numbers.ts';
import { blockFinder } from '../receivers/blocks.ts';
import { FILTER_RESULTS, type FilterResult } from '../receivers/observations.ts';
import { accountNames, addressBlocks, addressDays } from '../receivers/queries.ts';
import type { ReceiverAddressRow, ReceiverBlockRow } from '../store/tables.generated.ts';
import { sendingAddresses } from './addresses.ts';
import { type Finding, fine, notKnown, problem, sectionOf } from './findings.ts';
import { CURRENT_DAYS, RECENT_DAYS, type Reading } from './reading.ts';

const SAID = {
  source: 'receivers',
  origin: RECEIVER_NAMES.microsoft_snds,
  topic: 'reputation',
} as const;

/** Empty if Microsoft says nothing about any address that sends for the domain. `today` is a day such as `2026-11-21`. */
export async function outlookFindings(reading: Reading, today: string): Promise<Finding[]> {
  const { db, domain, config } = reading;
  const path = sectionOf(domain.id, 'outlook');
  const addresses = await sendingAddresses(db, domain, today);
  const from = dayBefore(today, RECENT_DAYS - 1);
  const rows = await addressDays(db, { from, to: today, addresses });
  const current = dayBefore(today, CURRENT_DAYS);
  return [
    ...blockFindings(await addressBlocks(db, accountNames(config)), addresses, { current, path }),
    ...[...Map.groupBy(rows, ({ address }) => address).values()].map((ofAddress) =>
      addressFinding(daysOf(ofAddress), { current, path }),
    ),
  ];
}

/** Addresses in one range are blocked together. */
function blockFindings(
  blocks: ReceiverBlockRow[],
  addresses: string[],
  { current, path }: { current: string; path: string },
): Finding[] {
  const find = blockFinder(blocks);
  const blocked = addresses.flatMap((address) => {
    const block = find(address);
    return block?.blocked === 1 ? [{ address, block }] : [];
  });
  return [...Map.groupBy(blocked, ({ block }) => block)].map(([block, group]) => {
    const { address } = group[0]!;
    const others = group.length === 1 ? '' : ` and ${formatCount(group.length - 1)} more`;
    const said = { ...SAID, path, at: block.checked_at };
    if (block.checked_at < current)
      return notKnown({
        ...said,
        text: `Outlook blocked ${address}${others} when Microsoft was last asked.`,
      });
    return problem('address_blocked', {
      ...said,
      since: block.since,
      text: `Outlook blocks ${address}${others}${block.details ? `: “${block.details.replace(/\.$/, '')}”` : ''}.`,
      title: `Outlook blocks your sending address ${address}.`,
      firstStep: {
        text: 'Fix the cause, then ask Microsoft to remove the block. Its SMTP replies link to the form.',
        record: null,
        path,
      },
    });
  });
}

interface AddressDay {
  address: string;
  day: string;
  /** The worst of the day; null if Microsoft published none. */
  result: FilterResult | null;
  recipients: number;
}

/** A day can have several periods. `rows`: of one address, newest days first. */
const daysOf = (rows: ReceiverAddressRow[]): AddressDay[] =>
  [...Map.groupBy(rows, ({ day }) => day)].map(([day, periods]) => ({
    address: periods[0]!.address,
    day,
    result:
      FILTER_RESULTS.findLast((one) => periods.some((row) => row.filter_result === one)) ?? null,
    recipients: periods.reduce((sum, row) => sum + row.recipients, 0),
  }));

const RATINGS = {
  RED: 'over 90% of its mail is filtered as spam',
  YELLOW: '10% to 90% of its mail is filtered as spam',
  GREEN: 'less than 10% of its mail is filtered as spam',
};

function addressFinding(
  days: AddressDay[],
  { current, path }: { current: string; path: string },
): Finding {
  const { address, day, result, recipients } = days[0]!;
  const said = {
    ...SAID,
    path,
    at: day,
    text:
      result === null
        ? `Outlook published no rating for ${address}.`
        : `Outlook rated ${address} ${result.toLowerCase()}: ${RATINGS[result]}.`,
    basis: `Mail to ${formatCount(recipients, 'recipient')}`,
  };
  if (day < current || result === null) return notKnown(said);
  if (result === 'GREEN') return fine(said);
  const end = days.findIndex((one) => one.result !== result);
  return problem(result === 'RED' ? 'address_red' : 'address_yellow', {
    ...said,
    title: `Outlook filters ${result === 'RED' ? 'most' : 'some'} mail from ${address} as spam.`,
    since: days.slice(0, end < 0 ? undefined : end).at(-1)!.day,
  });
}
