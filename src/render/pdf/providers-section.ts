/** What the large providers ask of senders, rule by rule: not met, unknown, met. */

import type {
  ProviderVerdict,
  RuleStatus,
  RuleVerdict,
} from '../../analysis/providers/provider.ts';
import type { Report } from '../report.ts';
import { BODY, paragraph, SMALL, section, subheading } from './blocks.ts';
import { COLOR, type State } from './look.ts';
import { ruleText } from './rule-text.ts';
import type { Sheet } from './sheet.ts';
import { shown } from './shown-text.ts';
import { mark } from './states.ts';
import { type Cell, table } from './table.ts';

const MAX_RULES = 40;
const STATES: Record<RuleStatus, { state: State; word: string; rank: number }> = {
  not_met: { state: 'fail', word: 'Not met', rank: 0 },
  unknown: { state: 'unknown', word: 'Unknown', rank: 1 },
  met: { state: 'pass', word: 'Met', rank: 2 },
};
const ANSWER = { ...SMALL, face: 'mono', color: COLOR.fail } as const;

export function providersSection(sheet: Sheet, { providers, judged_kind }: Report): void {
  if (providers.length === 0) return;
  section(sheet, 'Providers’ rules', () => {
    const { kind, by, reasons } = judged_kind;
    const how = by === 'message' ? ', by what is in the message' : '';
    paragraph(sheet, shown(`Judged as ${kind} mail${how}. ${reasons.join(' ')}`, 600));
    for (const provider of providers) oneProvider(sheet, provider);
  });
}

function oneProvider(sheet: Sheet, { name, ready, reference, rules }: ProviderVerdict): void {
  const sorted = rules.toSorted((a, b) => STATES[a.status].rank - STATES[b.status].rank);
  const count = (status: RuleStatus) => rules.filter((rule) => rule.status === status).length;
  const counts = `${count('met')} met, ${count('not_met')} not met, ${count('unknown')} unknown · `;
  subheading(
    sheet,
    [
      { text: `${shown(name, 60)}  ` },
      ...mark(ready ? 'pass' : 'fail', ready ? 'Ready' : 'Not ready'),
    ],
    80,
  );
  paragraph(sheet, [{ text: counts }, ...ruleText(reference)], { style: SMALL });
  sheet.y += 2;
  table(
    sheet,
    [
      { title: 'State', share: 16 },
      { title: 'Rule', share: 66 },
      { title: 'For', share: 18 },
    ],
    sorted.slice(0, MAX_RULES).map(ruleRow),
  );
}

function ruleRow({ status, title, detail, applies, error }: RuleVerdict): Cell[] {
  const { state, word } = STATES[status];
  const answers = status === 'not_met' && error !== null;
  return [
    mark(state, word),
    {
      parts: [
        { text: shown(title, 300), style: BODY },
        { text: shown(detail, 500), style: SMALL },
        ...(answers ? [{ text: `It answers: ${shown(error, 300)}`, style: ANSWER }] : []),
      ],
    },
    applies === 'bulk' ? 'bulk mail' : 'every sender',
  ];
}
