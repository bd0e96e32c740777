/** The styles of the pages about alerts. */

import { CHANNEL_IDS } from '../../alerts/channels/index.ts';

/** Without script, so that the fields of a channel follow its checkbox in every browser that knows :has(). */
const UNCHOSEN_CHANNELS = CHANNEL_IDS.map(
  (id) => `.rule-form:has([name="channels"][value="${id}"]:not(:checked)) .of-${id}`,
).join(',\n');

export const ALERT_STYLE = `
.channel-marks { display: flex; flex-wrap: wrap; gap: 4px 16px; }
.choice-fields .field > input, .reminders .field > input { max-width: 120px; }
${UNCHOSEN_CHANNELS} { display: none; }
.channel-settings { display: grid; gap: 16px; margin: 0; padding: 12px 16px 16px; border: 1px solid var(--line); border-radius: 8px; }
.channel-settings > legend { padding: 0 4px; font-weight: 600; }
.timeline > li { position: relative; }
.timeline > li::before { content: ""; position: absolute; left: -22px; top: 8px; width: 10px; height: 10px; border: 2px solid var(--tone, var(--strong-line)); border-radius: 50%; background: var(--surface); }
.timeline .when { color: var(--muted); font-size: 14px; }
.lead { max-width: 72ch; }
.steps-list > li + li { margin-top: 16px; }
`;
