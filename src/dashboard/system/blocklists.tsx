/** The blocklists with the result of their last self-test. */

import type { BlocklistInUse } from '../../analysis/blocklists/blocklist.ts';
import { NOT_TESTED } from '../../analysis/blocklists/watch.ts';
import { StateMark } from '../../ui/components.tsx';
import { Card } from '../frame/card.tsx';
import { Fold, NotSetUp, Waiting } from '../frame/states.tsx';
import { DataTable } from '../frame/table.tsx';

const KINDS = { ip: 'IP addresses', domain: 'Domains', allow: 'Allowed IP addresses' };

export function Blocklists({ lists }: { lists: BlocklistInUse[] }) {
  // Without the zone that is queried, which may contain a key.
  const rows = lists.map(({ list, fault }) => ({ ...list, fault }));
  const untested = rows.filter(({ fault }) => fault === NOT_TESTED);
  const failing = rows.filter(({ fault }) => fault !== null && fault !== NOT_TESTED);
  const working = rows.filter(({ fault }) => fault === null);
  return (
    <Card title="Blocklists" id="blocklists">
      {rows.length === 0 && <NotSetUp>No blocklists are enabled</NotSetUp>}
      {failing.length > 0 && (
        <>
          <p>
            Every list is tested daily with its own test entries. Lists that fail are not used, so
            their results are unknown.
          </p>
          <ListTable label="Lists that fail their test" rows={failing} />
        </>
      )}
      {untested.length > 0 && (
        <Waiting>{`${untested.length} ${untested.length === 1 ? 'list' : 'lists'} waiting for the first test`}</Waiting>
      )}
      {working.length > 0 && (
        <Fold
          summary={
            <StateMark
              state="pass"
              word={`${working.length} ${working.length === 1 ? 'list' : 'lists'} working`}
            />
          }
        >
          <ListTable label="Working lists" rows={working} />
        </Fold>
      )}
    </Card>
  );
}

type Row = BlocklistInUse['list'] & { fault: string | null };

function ListTable({ label, rows }: { label: string; rows: Row[] }) {
  return (
    <DataTable
      label={label}
      rows={rows}
      keyOf={({ zone }) => zone}
      columns={[
        {
          title: 'List',
          cell: ({ name, zone }) => (
            <>
              <strong>{name}</strong>
              <span class="row-note small long">{zone}</span>
            </>
          ),
        },
        { title: 'Lists', cell: ({ kind }) => KINDS[kind], wide: true },
        {
          title: 'Self-test',
          cell: ({ fault }) =>
            fault === null ? (
              <StateMark state="pass" word="Working" />
            ) : (
              <>
                <StateMark state="warn" word="Not used" />
                <span class="row-note small">{fault}</span>
              </>
            ),
        },
      ]}
    />
  );
}
