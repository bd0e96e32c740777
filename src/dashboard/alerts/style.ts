/** The styles of the pages about alerts. */

import { CONDITIONS } from '../../alerts/conditions/index.ts';

const WITHOUT_THRESHOLD = `[name="condition"]${CONDITIONS.flatMap(({ id, threshold }) =>
  threshold ? `:not([value="${id}"])` : [],
).join('')}`;

export const ALERT_STYLE = `
.channel-marks { display: flex; flex-wrap: wrap; gap: 4px 16px; }
.rule-form:has(${WITHOUT_THRESHOLD}:checked) .threshold { display: none; }
.threshold .field > input { max-width: 120px; }
.timeline > li { position: relative; }
.timeline > li::before { content: ""; position: absolute; left: -22px; top: 8px; width: 10px; height: 10px; border: 2px solid var(--tone, var(--strong-line)); border-radius: 50%; background: var(--surface); }
.timeline .when { color: var(--muted); font-size: 14px; }
.lead { max-width: 72ch; }
.steps-list > li + li { margin-top: 16px; }
`;
