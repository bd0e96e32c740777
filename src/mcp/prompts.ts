/** The prompts: questions that users start from the menu of their assistant. They say in which order to use the tools. */

import { domainOperations } from '../domains/routes.ts';
import type { ToolCall } from '../http/tool.ts';
import { clean, shortened } from '../http/tool-text.ts';
import { AppError } from '../lib/errors.ts';

export interface PromptArgument {
  name: string;
  description: string;
  required: boolean;
  /** The values that begin or contain what the user has typed. Rejects with an AppError. */
  complete?(typed: string, invoke: ToolCall['invoke']): Promise<string[]>;
}

export interface Prompt {
  /** In snake_case. It never changes. */
  name: string;
  /** The name for people. */
  title: string;
  description: string;
  /** The tools that it always needs. A client without one of them does not have the prompt. */
  tools: string[];
  argument: PromptArgument;
  /** The first message of the user. It names no tool that the client does not have. */
  text(argument: string, has: ToolCall['has']): string;
}

/** A page of domains, which is also as many values as a client may get. */
const MAX_COMPLETIONS = 100;

async function domainNames(typed: string, invoke: ToolCall['invoke']): Promise<string[]> {
  const query = { limit: String(MAX_COMPLETIONS), ...(typed === '' ? {} : { q: typed }) };
  return (await invoke(domainOperations.list, { query })).data.map(({ name }) => name);
}

export const PROMPTS: Prompt[] = [
  {
    name: 'explain_spam',
    title: 'Why does my newsletter land in spam?',
    description: 'Finds the latest test of a newsletter, and explains what to fix first.',
    tools: ['list_tests', 'get_test'],
    argument: {
      name: 'newsletter',
      description: 'Words from its subject, its sender or the name of its test.',
      required: false,
    },
    text: (newsletter, has) =>
      [
        `Why does my newsletter${newsletter && ` "${newsletter}"`} land in spam?`,
        `1. Find its latest test with list_tests${newsletter && ' (q)'}, and read it with get_test.${has('create_test') ? ' If there is none, use create_test, and tell me to send the newsletter to its address.' : ''}`,
        has('get_domain')
          ? '2. For the domain of the sender, use get_domain: do other sources show the same?'
          : '',
        'Then tell me the verdict, the three problems that cost most, and what could not be determined. For each problem, show the fix, and the DNS record exactly as the tool returns it.',
      ]
        .filter(Boolean)
        .join('\n'),
  },
  {
    name: 'prepare_reject',
    title: 'Prepare p=reject for a domain',
    description: 'Checks who sends as a domain, and what is missing for the DMARC policy reject.',
    tools: ['get_feedback', 'get_source'],
    argument: {
      name: 'domain',
      description: 'The domain.',
      required: true,
      complete: domainNames,
    },
    text: (domain, has) =>
      [
        `Prepare p=reject for ${domain}.`,
        '1. Use get_feedback with failing true: who sends as the domain and fails DMARC?',
        '2. Use get_source for each of these senders. Tell me which look like ours, how to set each one up, and which I should confirm.',
        '3. Use get_feedback without failing: can the policy become stricter now? If not, tell me what is missing.',
        has('plan_dns') ? '4. If it can, use plan_dns, and show me the difference.' : '',
        'Show records exactly as the tools return them. Change nothing without my confirmation.',
      ]
        .filter(Boolean)
        .join('\n'),
  },
];

/** Longer than any name of a domain. */
const MAX_ARGUMENT = 300;

/** The message for what the user has entered. Throws `validation_failed` without a required argument. */
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
