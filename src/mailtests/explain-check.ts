/** The tool that explains a check from its declaration, without a message, a service or the network. */

import * as v from 'valibot';
import { CONSEQUENCES } from '../analysis/consequences.ts';
import { DECLARATIONS } from '../analysis/declarations.generated.ts';
import { declarationOf } from '../analysis/declarations.ts';
import { PROVIDER_RULES } from '../analysis/providers/evaluate.ts';
import { described } from '../http/schemas.ts';
import { type ToolCall, tool } from '../http/tool.ts';
import { answerText, quoted } from '../http/tool-text.ts';
import { closestName } from '../lib/closest-name.ts';
import { invalidParams } from '../lib/errors.ts';

export const explainCheck = tool({
  name: 'explain_check',
  title: 'Explain a check',
  description:
    'Explains what a check looks for, its points, its standard, and the provider rules that require it, with their SMTP errors. Without an ID, it lists all checks.',
  uses: [],
  input: v.strictObject({
    check: v.optional(
      described(
        v.string('must be text'),
        'The ID of the check, from the findings.',
        'dmarc_policy',
      ),
    ),
  }),
  run: async ({ check }, { has }) => ({
    text: check === undefined ? listText() : explain(check.trim().toLowerCase(), has),
  }),
});

function listText(): string {
  const checks = Object.entries(DECLARATIONS).map(([id, { label }]) => `${id} (${label})`);
  return `${checks.length} checks: ${checks.join(', ')}`;
}

function explain(id: string, has: ToolCall['has']): string {
  const declared = declarationOf(id);
  if (declared === null) {
    const closest = closestName(id, Object.keys(DECLARATIONS));
    const hint = closest === null ? '' : ` (did you mean ${closest}?)`;
    const message = `there is no check ${quoted(id)}${hint}; without an ID, explain_check lists all`;
    throw invalidParams([{ param: 'check', code: 'invalid', message }]);
  }
  const { label, category, points, issueTitle, reference, dependsOn = [] } = declared;
  const rules = PROVIDER_RULES.flatMap(({ name, rules }) =>
    rules.filter(({ needs }) => needs.flat().includes(id)).map((rule) => ({ name, rule })),
  );
  const capIds = new Set(rules.flatMap(({ rule }) => rule.consequences ?? []));
  const caps = CONSEQUENCES.filter((consequence) => capIds.has(consequence.id));
  return answerText(
    [
      `${label} (${id}), category ${category}`,
      issueTitle ? `Problem: ${issueTitle}` : 'For information only.',
      points > 0
        ? `It is worth ${points} points. pass earns all, warn half, fail none. error (could not be determined) and skipped (does not apply) do not count.`
        : 'It has no points.',
      `Standard: ${reference.name} ${reference.url}`,
      dependsOn.length > 0 ? `Skipped if one of these fails: ${dependsOn.join(', ')}` : '',
      ...rules.map(
        ({ name, rule }) =>
          `- ${name}${rule.applies === 'bulk' ? ' (marketing mail)' : ''}: ${rule.title}${rule.error === null ? '' : ` SMTP error: ${rule.error}`}`,
      ),
      ...caps.map(
        ({ limit, reason }) => `- A rule with it can limit the score to ${limit}: ${reason}`,
      ),
      rules.length === 0 ? 'No rule of a large mailbox provider is about it alone.' : '',
      has('get_test')
        ? 'get_test with this check gives the finding of a message, with its fix.'
        : '',
    ],
    'explain_check without an ID',
  );
}
