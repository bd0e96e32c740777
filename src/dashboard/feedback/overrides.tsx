/** Why receivers did not apply the policy, and whether that needs action. */

import { explainOverride } from '../../feedback/override-reasons.ts';
import type { FeedbackRow } from '../../feedback/schemas/report.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { Card } from '../frame/card.tsx';

interface Override {
  type: string;
  name: string;
  meaning: string;
  fix: string;
  messages: number;
}

interface Props {
  overrides: Override[];
  /** What the counts are of, as a sentence. */
  basis: string;
}

export function Overrides({ overrides, basis }: Props) {
  if (overrides.length === 0) return null;
  return (
    <Card title="Exceptions to your policy" id="overrides">
      <p>Receivers decide for themselves whether to apply a policy. They gave these reasons:</p>
      <ul class="rejections">
        {overrides.map(({ type, name, meaning, fix, messages }) => (
          <li key={type}>
            <h3>{`${name}: ${formatCount(messages, 'message')}`}</h3>
            <p>
              {meaning} {fix}
            </p>
          </li>
        ))}
      </ul>
      <p class="small muted">{basis}</p>
    </Card>
  );
}

/** The reasons in rows of a report, those with the most messages first. */
export function overridesOfRows(rows: FeedbackRow[]): Override[] {
  const sums = new Map<string, Override>();
  for (const { reasons, count } of rows)
    for (const [type, { key: _key, ...explained }] of new Map(
      reasons.map(explainOverride).map((one) => [one.key, one]),
    ))
      sums.set(type, { type, ...explained, messages: (sums.get(type)?.messages ?? 0) + count });
  return [...sums.values()].sort((a, b) => b.messages - a.messages);
}
