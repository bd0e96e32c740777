/** The links of a message, as text: nothing that comes from a message can be clicked. */

import { linkAnswers } from '../link-answers.ts';
import type { MessageView, Report } from '../report.ts';
import { State, type Tone } from './icons.tsx';
import { Scroll } from './section.tsx';
import { Code, oneLine } from './shown-values.tsx';

const STATES: Record<string, { tone: Tone; word: string }> = {
  works: { tone: 'pass', word: 'Works' },
  dead: { tone: 'fail', word: 'Dead' },
  unknown: { tone: 'unknown', word: 'Unknown' },
};
const NOT_ASKED: { tone: Tone; word: string } = { tone: 'unknown', word: 'Not asked' };

export function Links({ report, links }: { report: Report } & Pick<MessageView, 'links'>) {
  if (links.length === 0) return <p class="muted">The message has no links.</p>;
  const answerOf = linkAnswers(report);
  return (
    <Scroll label="Links">
      <table class="compact">
        <thead>
          <tr>
            <th scope="col">Address</th>
            <th scope="col">Text</th>
            <th scope="col">Status</th>
          </tr>
        </thead>
        <tbody>
          {links.map(({ href, text }, index) => {
            const { status, reason } = answerOf(href) ?? { status: '', reason: null };
            const state = Object.hasOwn(STATES, status) ? STATES[status]! : NOT_ASKED;
            return (
              <tr key={`${index + 1}`}>
                <td>
                  <Code text={href} max={500} />
                </td>
                <td>{text ? <bdi>{oneLine(text, 200)}</bdi> : <span class="muted">none</span>}</td>
                <td>
                  <State {...state} />
                  {reason && <div class="muted">{oneLine(reason, 200)}</div>}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}
