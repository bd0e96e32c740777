/** A table of incidents. */

import type { AlertIncident } from '../../alerts/schema.ts';
import { type Column, DataTable } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { IncidentState, incidentSummary, NotificationMarks, subjectOf } from './parts.tsx';

interface Props {
  label: string;
  incidents: AlertIncident[];
  /** Leaves out the column of the rule without it. */
  ruleOf?(id: string): string;
  /** Whether resolved incidents can be among them. */
  withState: boolean;
}

export function IncidentTable({ label, incidents, ruleOf, withState }: Props) {
  const columns: Column<AlertIncident>[] = [
    {
      title: 'Subject',
      cell: (incident) => (
        <>
          <bdi>{subjectOf(incident)}</bdi>
          <span class="row-note">
            <bdi>{incidentSummary(incident)}</bdi>
          </span>
        </>
      ),
    },
    ...(withState
      ? [
          {
            title: 'State',
            cell: (incident: AlertIncident) => <IncidentState incident={incident} />,
          },
        ]
      : []),
    ...(ruleOf
      ? [
          {
            title: 'Rule',
            cell: ({ alert_id }: AlertIncident) => <bdi>{ruleOf(alert_id)}</bdi>,
            wide: true,
          },
        ]
      : []),
    {
      title: withState ? 'Opened' : 'Since',
      cell: ({ opened_at }) => <Ago at={opened_at} />,
    },
    {
      title: 'Notifications',
      cell: ({ notifications }) => <NotificationMarks notifications={notifications} />,
      wide: true,
    },
  ];
  return (
    <DataTable
      label={label}
      rows={incidents}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/incidents/${id}`}
      columns={columns}
    />
  );
}
