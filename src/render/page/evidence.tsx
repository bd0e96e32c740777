/** What a check noted, made readable: names and values, lists, and lists of alike things as tables. */

import type { ComponentChildren } from 'preact';
import type { Json } from '../../analysis/check.ts';
import { type Evidence, isObject } from '../read-evidence.ts';
import { State } from './icons.tsx';
import { Scroll } from './section.tsx';
import {
  AuthState,
  Code,
  formatCount,
  formatOctets,
  formatSeconds,
  humanKey,
  isAuthResult,
  isIsoTime,
  linesOf,
  Time,
} from './shown-values.tsx';

/** Deeper, a value is shown as its JSON. */
const MAX_DEPTH = 3;
/** Longer text, and text of several lines, has a box of its own. */
const INLINE = 100;
/** More columns do not fit beside each other: a list each. */
const MAX_COLUMNS = 8;

export function EvidenceList({ evidence, depth = 0 }: { evidence: Evidence; depth?: number }) {
  return (
    <dl class="facts">
      {Object.entries(evidence).map(([key, value]) => (
        <div key={key}>
          <dt>{humanKey(key)}</dt>
          <dd>
            <Value name={key} value={value} depth={depth} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface ValueProps {
  name: string;
  value: Json;
  depth: number;
}

function Value({ name, value, depth }: ValueProps) {
  if (value === null) return <Absent>none</Absent>;
  if (typeof value === 'boolean') return <YesOrNo name={name} value={value} />;
  if (typeof value === 'number') return <>{formatNumber(name, value)}</>;
  if (typeof value === 'string') return <Text name={name} value={value} />;
  if (depth > MAX_DEPTH) return <Code text={JSON.stringify(value)} max={500} />;
  if (Array.isArray(value)) return <List name={name} items={value} depth={depth} />;
  if (Object.keys(value).length === 0) return <Absent>none</Absent>;
  return <EvidenceList evidence={value} depth={depth + 1} />;
}

const Absent = ({ children }: { children: ComponentChildren }) => (
  <span class="muted">{children}</span>
);

function YesOrNo({ name, value }: { name: string; value: boolean }) {
  if (name !== 'aligned') return <>{value ? 'yes' : 'no'}</>;
  return value ? <State tone="pass" word="aligned" /> : <State tone="fail" word="not aligned" />;
}

function formatNumber(name: string, value: number): string {
  if (/seconds$/.test(name)) return formatSeconds(value);
  if (/(?:^|_)(?:octets|bytes|size)$/.test(name)) return formatOctets(value);
  return Number.isInteger(value) ? formatCount(value) : String(Math.round(value * 1000) / 1000);
}

function Text({ name, value }: { name: string; value: string }) {
  if (value === '') return <Absent>empty</Absent>;
  if (name === 'result' && isAuthResult(value)) return <AuthState result={value} />;
  if (isIsoTime(value)) return <Time iso={value} />;
  if (value.length <= INLINE && !value.includes('\n')) return <Code text={value} />;
  return <pre class="box">{linesOf(value)}</pre>;
}

function List({ name, items, depth }: { name: string; items: Json[]; depth: number }) {
  if (items.length === 0) return <Absent>none</Absent>;
  const objects = items.filter(isObject);
  const rest = items.filter((item) => !isObject(item));
  return (
    <>
      {objects.length > 0 && <Objects name={name} objects={objects} depth={depth} />}
      {rest.length > 0 && (
        <ul class="values">
          {rest.map((item) => (
            <li key={JSON.stringify(item)}>
              <Value name={name} value={item} depth={depth + 1} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Objects({ name, objects, depth }: { name: string; objects: Evidence[]; depth: number }) {
  const keys = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const isTable = keys.length <= MAX_COLUMNS && objects.every(isFlat);
  if (!isTable)
    return (
      <ol class="values">
        {objects.map((object, index) => (
          <li key={`${index + 1}`} class="nested">
            <EvidenceList evidence={object} depth={depth + 1} />
          </li>
        ))}
      </ol>
    );
  const told = keys.filter((key) => objects.some((object) => object[key] != null));
  return (
    <Scroll label={humanKey(name)}>
      <table class="compact">
        <thead>
          <tr>
            {told.map((key) => (
              <th key={key} scope="col">
                {humanKey(key)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {objects.map((object, index) => (
            <tr key={`${index + 1}`}>
              {told.map((key) => (
                <td key={key}>
                  <Value name={key} value={object[key] ?? null} depth={depth + 1} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Nothing in it but single values and short lists of them. */
const isFlat = (object: Evidence): boolean =>
  Object.values(object).every(
    (value) =>
      typeof value !== 'object' ||
      value === null ||
      (Array.isArray(value) &&
        value.length <= 5 &&
        value.every((item) => typeof item !== 'object')),
  );
