/** The accounts at receivers that publish figures about senders, and what they publish about addresses. */

import * as v from 'valibot';
import { RECEIVER_IDS } from '../../config/receivers.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { receiverOperations } from '../../receivers/routes.ts';
import type { SendingAddresses } from '../../receivers/schema.ts';
import { StateMark } from '../../ui/components.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { type FormProblem, Notice, ProblemNotice, submit } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { DataTable } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { Account } from './accounts.tsx';
import { AddressDays, Addresses } from './addresses.tsx';
import { NoData } from './no-data.tsx';
import { RECEIVERS, SetUp } from './set-up.tsx';

const Query = v.strictObject({ done: v.optional(v.string()) });

async function render(call: PageCall, { done, problem }: { done?: string; problem?: FormProblem }) {
  const { data: accounts } = await call.invoke(receiverOperations.list, {});
  const hasSnds = accounts.some(({ receiver }) => receiver === 'microsoft_snds');
  const addresses = hasSnds ? await call.invoke(receiverOperations.addresses, { query: {} }) : null;
  const missing = RECEIVER_IDS.filter((id) => !accounts.some(({ receiver }) => receiver === id));
  return appPage(call, {
    title: 'Receivers',
    section: 'receivers',
    path: RECEIVERS,
    status: problem?.status,
    headers: problem?.headers,
    calls: [
      { route: receiverOperations.list },
      ...(hasSnds ? [{ route: receiverOperations.addresses, query: {} }] : []),
    ],
    children: (
      <>
        <p class="muted">
          What Google and Microsoft publish about your domains and addresses, fetched once a day and
          kept for 400 days.
        </p>
        {done === 'fetch' && (
          <Notice tone="pass">
            The fetch has started. Reload the page in a minute to see the result.
          </Notice>
        )}
        <ProblemNotice problem={problem ?? null} />
        {accounts.map((account) => (
          <Account key={account.id} account={account} />
        ))}
        {addresses && <AddressesCard {...addresses} />}
        {addresses && addresses.ranges.length > 0 && <Ranges {...addresses} />}
        <SetUp missing={missing} />
      </>
    ),
  });
}

function AddressesCard({ addresses, no_data, from, to }: SendingAddresses) {
  return (
    <Card title="Addresses at Outlook" id="addresses">
      {no_data && <NoData reason={no_data} isOnReceivers />}
      {addresses.length > 0 && (
        <>
          <Addresses addresses={addresses} from={from} to={to} />
          <AddressDays addresses={addresses} />
        </>
      )}
    </Card>
  );
}

/** The blocked ones first, as the API returns them. */
function Ranges({ ranges, range_count }: SendingAddresses) {
  return (
    <Card title="Blocks" id="blocks">
      <DataTable
        label="Ranges of addresses"
        rows={ranges}
        keyOf={({ first_address, last_address, receiver_id }) =>
          `${receiver_id} ${first_address} ${last_address}`
        }
        columns={[
          {
            title: 'Addresses',
            cell: ({ first_address, last_address }) =>
              first_address === last_address ? (
                <code>{first_address}</code>
              ) : (
                <>
                  <code>{first_address}</code> to <code>{last_address}</code>
                </>
              ),
          },
          {
            title: 'State',
            cell: ({ blocked, details }) => (
              <>
                {blocked === null ? (
                  <StateMark state="unknown" word="Unknown" />
                ) : (
                  <StateMark
                    state={blocked ? 'fail' : 'pass'}
                    word={blocked ? 'Blocked' : 'Not blocked'}
                  />
                )}
                {details && (
                  <span class="row-note small">
                    <bdi>{details}</bdi>
                  </span>
                )}
              </>
            ),
          },
          { title: 'Since', wide: true, cell: ({ since }) => (since ? <Ago at={since} /> : '–') },
          { title: 'Checked', wide: true, cell: ({ checked_at }) => <Ago at={checked_at} /> },
        ]}
      />
      {range_count > ranges.length && (
        <p class="small muted">
          {`${formatCount(range_count - ranges.length)} more ranges are not shown.`}
        </p>
      )}
    </Card>
  );
}

const show = page({
  path: RECEIVERS,
  operation: 'showReceivers',
  role: 'viewer',
  summary: 'Show what Google and Microsoft publish, and the accounts for it',
  query: Query,
  handle: (call) => render(call, { done: call.query.done }),
});

const fetchNow = form({
  path: `${RECEIVERS}/:id/fetch`,
  operation: 'submitReceiverFetch',
  role: 'member',
  summary: 'Fetch what a receiver publishes with the button',
  async handle(call) {
    const { problem } = await submit({}, () =>
      call.invoke(receiverOperations.fetchNow, { params: { id: call.params.id! } }),
    );
    return problem ? render(call, { problem }) : seeOther(`${RECEIVERS}?done=fetch`);
  },
});

export const receiverPages = [show, fetchNow];
