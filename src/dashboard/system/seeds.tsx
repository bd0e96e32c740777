/** The seed mailboxes with their state, and how to set them up. */

import type { SeedMailbox } from '../../config/seed-mailboxes.ts';
import { isTransient } from '../../net/account-error.ts';
import { seedAdvice } from '../../placement/seeds.ts';
import { providerName } from '../../report/placement-rates.ts';
import type { SeedMailboxRow } from '../../store/tables.generated.ts';
import { Copyable, StateMark } from '../../ui/components.tsx';
import { Card } from '../frame/card.tsx';
import { Fold, NotSetUp, Waiting } from '../frame/states.tsx';
import { DataTable } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { exampleText, SEED_EXAMPLE } from './dependencies.ts';

/** A configured mailbox, and what is known about it. */
export interface SeedState {
  seed: Pick<SeedMailbox, 'name' | 'provider' | 'address'>;
  row: SeedMailboxRow | undefined;
}

const isFailing = ({ row }: SeedState): boolean => (row?.error ?? null) !== null;
const isUnread = ({ row }: SeedState): boolean => !row?.last_read_at && !row?.error;

export function Seeds({ states }: { states: SeedState[] }) {
  const failing = states.filter(isFailing);
  const unread = states.filter(isUnread);
  const fine = states.filter((state) => !isFailing(state) && !isUnread(state));
  return (
    <Card title="Seed mailboxes" id="seed-mailboxes">
      {states.length === 0 && <Setup />}
      {failing.length > 0 && <SeedTable label="Mailboxes that can’t be read" states={failing} />}
      {unread.length > 0 && (
        <>
          <p>A mailbox is first read when a placement test needs it.</p>
          <SeedTable label="Mailboxes that were never read" states={unread} />
        </>
      )}
      {fine.length > 0 && (
        <Fold
          summary={
            <StateMark
              state="pass"
              word={`${fine.length} ${fine.length === 1 ? 'mailbox' : 'mailboxes'} working`}
            />
          }
        >
          <SeedTable label="Working mailboxes" states={fine} />
        </Fold>
      )}
    </Card>
  );
}

const Setup = () => (
  <>
    <p>
      <NotSetUp>No seed mailboxes are configured</NotSetUp>
    </p>
    <p>
      Seed mailboxes are mailboxes of your own at real providers. With them, placement tests and
      placement monitors show whether a message arrives in the inbox, in a tab, or in spam.
    </p>
    <p class="muted">
      Create a mailbox at each provider that matters to you. Then set this environment variable and
      restart the service. <a href="/help/seed-mailboxes">The help</a> explains how to get access to
      each provider.
    </p>
    <div class="box command">
      <Copyable text={exampleText(SEED_EXAMPLE)} label="the variable" />
    </div>
  </>
);

function SeedTable({ label, states }: { label: string; states: SeedState[] }) {
  return (
    <DataTable
      label={label}
      rows={states}
      keyOf={({ seed }) => seed.name}
      columns={[
        {
          title: 'Mailbox',
          cell: ({ seed: { name, provider, address } }) => (
            <>
              <strong>{providerName(provider)}</strong>
              <span class="row-note small long">
                <bdi>{address}</bdi>
                {name !== address && ` (${name})`}
              </span>
            </>
          ),
        },
        // On phones, the reason of a failure needs the width of a further column.
        { title: 'State', cell: (state) => <State {...state} /> },
      ]}
    />
  );
}

/** A server that was reachable before may be so again soon; a wrong password stays wrong. */
function State({ row }: SeedState) {
  if (!row?.error)
    return row?.last_read_at ? (
      <>
        <StateMark state="pass" word="Fine" />
        <LastRead at={row.last_read_at} />
      </>
    ) : (
      <Waiting>Never read</Waiting>
    );
  const { error, error_detail, failing_since, last_read_at } = row;
  return (
    <>
      <StateMark
        state={isTransient(error) ? 'warn' : 'fail'}
        word={isTransient(error) ? 'Unavailable' : 'Can’t be read'}
      />
      <span class="row-note small">
        {failing_since && (
          <>
            Since <Ago at={failing_since} />.{' '}
          </>
        )}
        <bdi>{error_detail}</bdi>
      </span>
      <span class="row-note small">{seedAdvice(error)}</span>
      {last_read_at && <LastRead at={last_read_at} />}
    </>
  );
}

const LastRead = ({ at }: { at: string }) => (
  <span class="row-note small muted">
    Last read <Ago at={at} />
  </span>
);
