/** Where the message landed: providers × places, with the number of seeds and the time it took. */

import { type PlacementRow, placementTable } from '../placement-table.ts';
import type { Report } from '../report.ts';
import { Icon, type Tone } from './icons.tsx';
import { Scroll, Section } from './section.tsx';
import { formatSeconds, oneLine } from './shown-values.tsx';

const TONES: Record<string, Tone> = {
  inbox: 'pass',
  promotions: 'info',
  social: 'info',
  updates: 'info',
  forums: 'info',
  spam: 'fail',
  missing: 'fail',
};

const toneOf = (place: string): Tone => (Object.hasOwn(TONES, place) ? TONES[place]! : 'unknown');

export function PlacementSection({ report }: { report: Report }) {
  const { columns, rows, inbox, settled } = placementTable(report.placement);
  if (rows.length === 0)
    return (
      <Section id="placement" title="Where it landed">
        <p class="card padded muted">
          No seed mailbox got this message, so where it lands at real providers is not known.
        </p>
      </Section>
    );
  return (
    <Section
      id="placement"
      title="Where it landed"
      note={
        settled > 0
          ? `${inbox} of ${settled} seed mailboxes have it in the inbox or one of its tabs. This never enters the score.`
          : 'No seed mailbox could tell yet. This never enters the score.'
      }
    >
      <Scroll class="card" label="Placement by provider">
        <table>
          <thead>
            <tr>
              <th scope="col">Provider</th>
              {columns.map(({ place, name }) => (
                <th key={place} scope="col" class="number">
                  {oneLine(name, 40)}
                </th>
              ))}
              <th scope="col" class="number">
                Seeds
              </th>
              <th scope="col" class="number">
                Arrived after
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.provider}>
                <th scope="row">{oneLine(row.provider, 60)}</th>
                {columns.map(({ place }, index) => (
                  <td key={place} class={`number ${toneOf(place)}`}>
                    <Count count={row.counts[index] ?? 0} tone={toneOf(place)} />
                  </td>
                ))}
                <td class="number">{row.seeds}</td>
                <td class="number">{arrival(row)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Section>
  );
}

function Count({ count, tone }: { count: number; tone: Tone }) {
  if (count === 0) return <span class="muted">0</span>;
  return (
    <span class="tone">
      <Icon tone={tone} /> <strong>{count}</strong>
    </span>
  );
}

function arrival({ seconds }: PlacementRow): string {
  if (seconds === null) return '–';
  const [first, last] = seconds.map(formatSeconds);
  return first === last ? first! : `${first} – ${last}`;
}
