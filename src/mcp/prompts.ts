/** The prompts: questions that users start from the menu of their assistant. They say in which order to use the tools. */

import { domainOperations } from '../domains/routes.ts';
import type { ToolCall } from '../http/tool.ts';
import { clean, shortened } from '../http/tool-text.ts';
import { AppError } from '../lib/errors.ts';

export interface Prompt {
  /** In snake_case. It never changes. */
  name: string;
  /** The name for people. */
  title: string;
  description: string;
  /** The tools that it always needs. A client without one of them does not have the prompt. */
  tools: string[];
  argument: { name: string; description: string; required: boolean };
  /** Values of the argument that contain what the user has typed, 100 at most. Rejects with an AppError. */
  complete?(typed: string, invoke: ToolCall['invoke']): Promise<string[]>;
  /** The first message of the user. It names no tool that the client does not have. */
  text(argument: string, has: ToolCall['has']): string;
}

export const PROMPTS: Prompt[] = [
  {
    name: 'explain_spam',
    title: 'Why does my newsletter land in spam?',
    description: 'Finds the latest test of a newsletter, and what to fix first.',
    tools: ['list_tests', 'get_test'],
    argument: {
      name: 'newsletter',
      description: 'Words from its subject, its sender or the name of its test.',
      required: false,
    },
    text: (newsletter, has) =>
      `Why does my newsletter${newsletter && ` "${newsletter}"`} land in spam?
1. Find its latest test with list_tests${newsletter && ' (q)'}, and read it with get_test.${has('create_test') ? ' If there is none, use create_test, and tell me where to send the newsletter.' : ''}
2. ${has('get_domain') ? 'Do other sources about the domain of the sender show the same? Use get_domain.' : 'Read the findings with the most points.'}
3. Tell me the verdict, the three problems that cost most, and what could not be determined. For each problem, show the fix, and its DNS record exactly as the tool returns it.`,
  },
  {
    name: 'prepare_reject',
    title: 'Prepare p=reject for a domain',
    description: 'Finds who sends as a domain, and what the DMARC policy reject needs.',
    tools: ['get_feedback', 'get_source', 'plan_dns'],
    argument: { name: 'domain', description: 'The domain.', required: true },
    async complete(typed, invoke) {
      const query = { limit: '100', ...(typed === '' ? {} : { q: typed }) };
      return (await invoke(domainOperations.list, { query })).data.map(({ name }) => name);
    },
    text: (domain) =>
      `Prepare p=reject for ${domain}.
1. Who sends as the domain and fails DMARC? Use get_feedback with failing.
2. Use get_source for each of these senders. Tell me how to set up those that look like ours, and which I should confirm.
3. Can the policy become stricter now? Use get_feedback without failing. If not, tell me what is missing.
4. If it can, show me the plan of plan_dns. Change nothing without my confirmation.`,
  },
];

const MAX_ARGUMENT = 300;

/** Throws `validation_failed` without a required argument. */
export function promptText(
  { argument, text }: Prompt,
  given: Record<string, string> = {},
  has: ToolCall['has'],
): string {
  const value = shortened(clean(given[argument.name] ?? ''), MAX_ARGUMENT);
  if (argument.required && value === '')
    throw new AppError('validation_failed', `Missing required argument: ${argument.name}.`);
  return text(value, has);
}
