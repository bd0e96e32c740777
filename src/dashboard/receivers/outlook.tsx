/** What Microsoft SNDS publishes about the addresses that send for a domain. */

import { formatCount } from '../../lib/format/numbers.ts';
import type { NoData as NoDataReason } from '../../receivers/no-data.ts';
import type { SendingAddresses } from '../../receivers/schema.ts';
import { Card } from '../frame/card.tsx';
import { AddressDays, Addresses } from './addresses.tsx';
import { NoData } from './no-data.tsx';

interface OutlookProps {
  domain: string;
  /** How many addresses are known to send for the domain. */
  known: number;
  /** How many of them have figures. */
  active: number;
  addresses: SendingAddresses['addresses'];
  from: string;
  to: string;
  /** Why there is nothing; null if there is. */
  noData: NoDataReason | null;
}

export function Outlook({ domain, known, active, addresses, from, to, noData }: OutlookProps) {
  return (
    <Card title="Outlook" id="outlook">
      {noData && <NoData reason={noData} />}
      {addresses.length > 0 && (
        <>
          <p>
            {`Microsoft has figures for ${formatCount(active)} of ${formatCount(known)} IP ${known === 1 ? 'address that sends' : 'addresses that send'} for ${domain}. They cover all mail of an address, not only mail of this domain.`}
          </p>
          <Addresses addresses={addresses} from={from} to={to} />
          <AddressDays addresses={addresses} />
        </>
      )}
    </Card>
  );
}
