/** What Microsoft SNDS says about the addresses that send for a domain. */

import { RECEIVER_NAMES } from '../config/receivers.ts';
import { addressBlocks, addressDays } from '../receivers/queries.ts';
import { formatCount } from '../report/summary.ts';
import { dayInWords } from '../report/times.ts';
import type { ReceiverAddressRow } from '../store/tables.generated.ts';
import { sendingAddresses } from './addresses.ts';
import { type Finding, fine, problem, sectionOf } from './findings.ts';
import type { Reading } from './reading.ts';

const SAID = {
  source: 'receivers',
  origin: RECEIVER_NAMES.microsoft_snds,
  topic: 'reputation',
} as const;

interface OutlookReading extends Reading {
  from: string;
  to: string;
}

/** Empty if Microsoft says nothing about any address that sends for the domain. */
export async function outlookFindings(reading: OutlookReading): Promise<Finding[]> {
  const { db, domain, from, to } = reading;
  const path = sectionOf(domain.id, 'outlook');
  const addresses = await sendingAddresses(db, domain, to);
  const days = await addressDays(db, { from, to, addresses });
  const latest = [...Map.groupBy(days, ({ address }) => address).values()].map((rows) => rows[0]!);
  return [
    ...(await blockFindings(reading, addresses, path)),
    ...latest.map((row) => dayFinding(row, days, path)),
  ];
}

async function blockFindings(
  { db }: OutlookReading,
  addresses: string[],
  path: string,
): Promise<Finding[]> {
  const blocks = await addressBlocks(db);
  const found = blocks.filter(
    ({ first_address, last_address, blocked }) =>
      blocked === 1 && first_address === last_address && addresses.includes(first_address),
  );
  return found.map(({ first_address, details, since, checked_at }) =>
    problem('address_blocked', {
      ...{ ...SAID, path, since, at: checked_at },
      text: `Outlook blocks ${first_address}${details ? `: ${details}` : ''}.`,
      title: `Outlook blocks your sending address ${first_address}.`,
      firstStep: {
        text: 'Stop the cause, then ask Microsoft for delisting with the form that its replies link to.',
        ...{ record: null, path },
      },
    }),
  );
}

function dayFinding(row: ReceiverAddressRow, days: ReceiverAddressRow[], path: string): Finding {
  const { address, day, filter_result, trap_hits, recipients } = row;
  const said = {
    ...{ ...SAID, path, at: day },
    text: `Outlook rates ${address} ${filter_result ?? 'not at all'} on ${dayInWords(day)}.`,
    basis: formatCount(recipients, 'recipient'),
  };
  const ofAddress = days.filter((one) => one.address === address);
  const end = ofAddress.findIndex((one) => one.filter_result !== filter_result);
  const since = ofAddress.slice(0, end < 0 ? undefined : end).at(-1)!.day;
  const firstStep = {
    text: 'Stop mail to recipients who did not ask for it from this address, and clean your lists.',
    ...{ record: null, path },
  };
  if (filter_result === 'RED')
    return problem('address_red', {
      ...{ ...said, since, firstStep },
      title: `Outlook filters most mail from ${address} as spam.`,
    });
  if (filter_result === 'YELLOW')
    return problem('address_yellow', {
      ...{ ...said, since, firstStep },
      title: `Outlook filters some mail from ${address} as spam.`,
    });
  if ((trap_hits ?? 0) > 0)
    return problem('trap_hits', {
      ...{ ...said, firstStep },
      text: `${address} sent ${formatCount(trap_hits!, 'message')} to spam traps of Outlook.`,
      title: `${address} sends to spam traps of Outlook.`,
    });
  return fine(said);
}
