/** The difference of two messages side by side: changed lines with those around them. */

import type { DifferenceRow, DifferentLine, PartDifference } from '../../report/difference.ts';
import { ScrollArea } from '../../ui/components.tsx';
import { Card } from '../frame/card.tsx';
import { Fold } from '../frame/states.tsx';

const TITLE = 'The messages';

/** `difference`: null if the messages cannot be compared. */
export function DifferenceCard({ difference }: { difference: PartDifference[] | null }) {
  if (difference === null)
    return (
      <Card title={TITLE} id="messages">
        <p class="muted">
          The messages cannot be compared: one of them was deleted, or they are too large.
        </p>
      </Card>
    );
  const changed = difference.filter(({ rows }) => rows.length > 0);
  const same = difference.filter(({ rows }) => rows.length === 0).map(({ name }) => name);
  return (
    <Card title={TITLE} id="messages">
      {changed.map((part) =>
        // The header of every message is different: its date and its ID are.
        part.name === 'Header' ? (
          <Fold key={part.name} summary={summaryOf(part)}>
            <PartTable {...part} />
          </Fold>
        ) : (
          <section key={part.name} aria-label={part.name}>
            <h3>{summaryOf(part)}</h3>
            <PartTable {...part} />
          </section>
        ),
      )}
      {same.length > 0 && <p class="muted">Unchanged: {same.join(', ')}.</p>}
    </Card>
  );
}

function summaryOf({ name, rows }: PartDifference): string {
  const count = rows.filter((row) => row !== null && !row.isSame).length;
  return `${name}: ${count === 1 ? '1 line differs' : `${count} lines differ`}`;
}

function PartTable({ name, rows, omitted }: PartDifference) {
  return (
    <>
      <ScrollArea label={`${name} before and after`} class="table">
        <table class="difference">
          <thead>
            <tr>
              <th scope="col" class="line">
                <span class="visually-hidden">Line</span>
              </th>
              <th scope="col">Before</th>
              <th scope="col" class="line">
                <span class="visually-hidden">Line</span>
              </th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <Row key={`${index}`} row={row} />
            ))}
          </tbody>
        </table>
      </ScrollArea>
      {omitted && <p class="small muted">{omitted}</p>}
    </>
  );
}

function Row({ row }: { row: DifferenceRow | null }) {
  if (row === null)
    return (
      <tr>
        <td class="line">⋯</td>
        <td colSpan={3} />
      </tr>
    );
  const { before, after, isSame } = row;
  return (
    <tr class={isSame ? 'both' : undefined}>
      <Side line={before} kind={isSame ? null : 'removed'} />
      <Side line={after} kind={isSame ? null : 'added'} />
    </tr>
  );
}

const SIGNS = { removed: '−', added: '+' };

/** The sign says without color what happened to the line. */
function Side({ line, kind }: { line: DifferentLine | null; kind: keyof typeof SIGNS | null }) {
  if (line === null)
    return (
      <>
        <td class="line none" />
        <td class="none" />
      </>
    );
  const { number, text, from, to } = line;
  return (
    <>
      <td class="line">
        {number}
        {kind && ` ${SIGNS[kind]}`}
      </td>
      <td class={kind ?? undefined} dir="auto">
        {text.slice(0, from)}
        {from < to && <mark>{text.slice(from, to)}</mark>}
        {text.slice(Math.max(from, to))}
      </td>
    </>
  );
}
