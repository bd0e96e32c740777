/** What receivers publish about one domain and the addresses that send for it, for its page. */

import { dayBefore, lastDays } from '../../feedback/sums.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { sendingAddresses } from '../../picture/addresses.ts';
import { eventsOf } from '../../picture/explaining-events.ts';
import { pictureOperations } from '../../picture/routes.ts';
import type { NoData } from '../../receivers/no-data.ts';
import { presentAddresses } from '../../receivers/present.ts';
import { receiverOperations } from '../../receivers/routes.ts';
import type { PageCall } from '../frame/app-page.tsx';

interface Period {
  from: string;
  to: string;
}

/** `days`: the length of the period. */
export async function receiversOf(
  call: PageCall,
  { id, name }: { id: string; name: string },
  days: number,
) {
  const { to } = lastDays(call.app);
  const period = { from: dayBefore(to, days - 1), to };
  const [stats, compliance, outlook] = await Promise.all([
    call.invoke(receiverOperations.stats, { query: { domain_id: id, ...period } }),
    call.invoke(pictureOperations.compliance, { query: { domain_id: id } }),
    outlookOf(call, { id, name }, period),
  ]);
  return {
    period,
    gmail: {
      ...period,
      days: stats.days,
      noData: stats.no_data,
      requirements: compliance.requirements,
      events: await eventsOf(call, id, period),
    },
    outlook,
  };
}

async function outlookOf({ app }: PageCall, domain: { id: string; name: string }, period: Period) {
  const known = await sendingAddresses(app.db, domain, period.to);
  const { addresses, address_count, no_data } = await presentAddresses(app, period, known);
  return {
    domain: readableDomain(domain.name),
    ...period,
    known: known.length,
    addresses,
    active: address_count,
    noData: no_data?.code === 'too_little_mail' && known.length === 0 ? NO_ADDRESSES : no_data,
  };
}

const NO_ADDRESSES: NoData = {
  code: 'too_little_mail',
  message:
    'No address is known to send for this domain yet. Feedback reports and tests show which ones do.',
};
