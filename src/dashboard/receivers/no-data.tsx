/** Why a receiver publishes nothing: gray, unless someone has to act. */

import type { NoData as NoDataReason } from '../../receivers/no-data.ts';
import { StateMark } from '../../ui/components.tsx';
import { NotSetUp, Waiting } from '../frame/states.tsx';
import { RECEIVERS } from './set-up.tsx';

/** Nobody has to do anything about these. */
const WAITING: NoDataReason['code'][] = ['not_fetched', 'not_yet', 'too_little_mail'];

interface NoDataProps {
  reason: NoDataReason;
  /** Whether the page lists the accounts itself. */
  isOnReceivers?: boolean;
}

export function NoData({ reason: { code, message }, isOnReceivers = false }: NoDataProps) {
  return (
    <p>
      <NoDataMark code={code} /> <bdi>{message}</bdi>{' '}
      {!isOnReceivers && <a href={RECEIVERS}>Accounts</a>}
    </p>
  );
}

function NoDataMark({ code }: Pick<NoDataReason, 'code'>) {
  if (code === 'not_set_up') return <NotSetUp>Not set up.</NotSetUp>;
  if (WAITING.includes(code)) return <Waiting>No data.</Waiting>;
  return <StateMark state="warn" word="No data." />;
}
