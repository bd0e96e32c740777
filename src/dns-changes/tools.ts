/** The tools that plan changes of DNS records, apply them and undo them. Each change needs the token of its plan. */

import * as v from 'valibot';
import { DOMAIN_INPUT, domainIdOf, findsDomain } from '../domains/tools.ts';
import { described, exampleId } from '../http/schemas.ts';
import { type ToolCall, tool } from '../http/tool.ts';
import { answerText, clean, kept, type Part, quoted } from '../http/tool-text.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import { formatCount } from '../lib/format/numbers.ts';
import { isUndoable } from './changes.ts';
import { dnsChangeOperations, dnsServerOperations } from './routes.ts';
import {
  ApplyPlan,
  type DnsChange,
  type DnsPlan,
  type DnsServer,
  NewPlan,
  type PlannedChangeBody,
} from './schema.ts';

const { plan, apply, undo } = dnsChangeOperations;
const { list: listServers } = dnsServerOperations;

const SERVER_INPUT = described(
  v.pipe(v.string('must be text'), v.minLength(1, 'must not be empty')),
  'A name server of the team: its name, or its ID (dns_…).',
  'ns1',
);
const SOURCE = { test_id: NewPlan.entries.test_id, checks: NewPlan.entries.checks };

/** The name servers of the team; null if the key may not see them. */
async function visibleServers(call: ToolCall): Promise<DnsServer[] | null> {
  try {
    return (await call.invoke(listServers, { query: { limit: '100' } })).data;
  } catch (error) {
    if (error instanceof AppError && error.code === 'forbidden') return null;
    throw error;
  }
}

function findServer(servers: DnsServer[] | null, text: string): DnsServer {
  if (servers === null) throw new AppError('forbidden', 'Only admins can use name servers.');
  const found = servers.find(({ id, name }) => id === text || name === text);
  if (found) return found;
  const names = servers.map(({ name }) => quoted(name, 80)).join(', ') || 'none';
  const message = `there is no name server ${quoted(text)}; the team has ${names}`;
  throw invalidParams([{ param: 'server', code: 'invalid', message }]);
}

export const planDns = tool({
  name: 'plan_dns',
  title: 'Plan DNS changes',
  description:
    'Shows which DNS records would change to fix the findings about a domain, as a difference from the current records. Changes nothing. A plan that apply_dns can apply needs the key of an admin. If there are several name servers, give one as server.',
  uses: [...findsDomain, plan],
  answers: plan,
  input: v.strictObject({
    domain: DOMAIN_INPUT,
    server: v.optional(SERVER_INPUT),
    ...SOURCE,
  }),
  async run({ domain, server: given, ...source }, call) {
    const id = await domainIdOf(domain, call);
    const servers = await visibleServers(call);
    const only = servers?.length === 1 ? servers[0]! : null;
    const server = given === undefined ? only : findServer(servers, given);
    const server_id = server?.id ?? null;
    const planned = await call.invoke(plan, { params: { id }, body: { server_id, ...source } });
    return { text: planText(planned, server, servers, call.has), data: planned };
  },
});

function planText(
  { changes, token }: DnsPlan,
  server: DnsServer | null,
  all: DnsServer[] | null,
  has: ToolCall['has'],
) {
  const open = changes.filter(({ action }) => action !== 'none');
  const names = (all ?? []).map(({ name }) => quoted(name, 80)).join(', ');
  const possible = open.filter(({ problem }) => problem === null);
  const next =
    server === null
      ? `This plan cannot be applied: ${all === null ? 'only admins can apply plans' : names === '' ? 'the team has no name server' : `name one of the servers: ${names}`}. The user can publish the records by hand.`
      : possible.length > 0 && !has('apply_dns')
        ? 'The user can apply it in the web application, or allow you to: with --allow-writes, or /mcp?allow_writes=true.'
        : possible.length > 0
          ? `To apply it, ask the user first. Then call apply_dns with server ${server.id}, token ${token}, and the same domain, test_id and checks.`
          : 'There is nothing to apply.';
  return answerText(
    [
      kept(`${formatCount(open.length, 'change')}.`),
      kept(next),
      ...changes.map((change, i) => `\n${i + 1}. ${changeText(change, server === null)}`),
    ],
    'give checks for fewer',
  );
}

/** As a difference: what goes, what comes, and what stays. */
function difference(before: { values: string[] }, after: { values: string[] }): string[] {
  return [
    ...before.values.filter((value) => !after.values.includes(value)).map((value) => `- ${value}`),
    ...after.values.map((value) => `${before.values.includes(value) ? ' ' : '+'} ${value}`),
  ].map((line) => line.slice(0, 2) + clean(line.slice(2)));
}

function changeText(change: PlannedChangeBody, isToCopy: boolean): string {
  const { action, name, type, before, after, proposed, purpose, problem, caution, copies } = change;
  if (action === 'none' && problem === null) return `${type} ${name}: published already`;
  return [
    `${problem === null ? action : 'not possible:'} ${type} ${clean(name)}`,
    ...difference(before, after),
    ...(problem === null ? [] : proposed.map((value) => `Proposed: ${clean(value)}`)),
    `Why: ${clean(purpose)}`,
    problem === null ? '' : `Cannot be applied: ${clean(problem)}`,
    caution === null ? '' : `Caution: ${clean(caution)}`,
    change.needs_choice ? 'Applied only if records names it: ask the user first.' : '',
    isToCopy && copies ? `Zone file:\n${copies.zone_file.split('\n').map(clean).join('\n')}` : '',
  ]
    .filter(Boolean)
    .join('\n');
}

export const applyDns = tool({
  name: 'apply_dns',
  title: 'Apply DNS changes',
  description:
    'Publishes the records of a plan at its name server, and checks the domain again. Before you call it, show the user the plan and ask for confirmation. If anything has changed since the plan, nothing is done.',
  effect: 'writes',
  destroys: true,
  uses: [...findsDomain, listServers, apply],
  answers: apply,
  input: v.strictObject({
    domain: DOMAIN_INPUT,
    server: SERVER_INPUT,
    token: ApplyPlan.entries.token,
    ...SOURCE,
    records: ApplyPlan.entries.records,
  }),
  async run({ domain, server, ...body }, call) {
    const id = await domainIdOf(domain, call);
    const { id: server_id } = findServer(await visibleServers(call), server);
    call.progress('changing the records');
    const changes = await call.invoke(apply, { params: { id }, body: { server_id, ...body } });
    return {
      data: changes,
      text: answerText(
        [
          ...changes.data.flatMap(resultOf),
          kept('Next: check_domain, or reanalyze_test for a message.'),
        ],
        SEE_PAGE,
      ),
    };
  },
});

const SEE_PAGE = 'see the changes in the web application';

/** What happened stays in the answer, even if the records do not. */
function resultOf(change: DnsChange): (string | Part)[] {
  const { id, status, type, name, before, after, error, cached_until } = change;
  const result = [
    `${status}: ${type} ${clean(name)} (${id})`,
    error === null ? '' : `Error: ${clean(error)}`,
    cached_until === null ? '' : `Resolvers may return the old records until ${cached_until}.`,
    isUndoable(change) ? `To undo it: undo_dns with change ${id}.` : '',
  ];
  return [kept(result.filter(Boolean).join('\n')), difference(before, after).join('\n')];
}

export const undoDns = tool({
  name: 'undo_dns',
  title: 'Undo a DNS change',
  description:
    'Undoes a DNS change: publishes the records from before it again. Before you call it, ask the user for confirmation. If the records have changed since, nothing is done.',
  effect: 'writes',
  destroys: true,
  uses: [undo],
  answers: undo,
  input: v.strictObject({
    change: described(v.string('must be text'), 'The ID of the change.', exampleId('chg')),
  }),
  async run({ change: id }, call) {
    const change = await call.invoke(undo, { params: { id } });
    return { text: answerText(resultOf(change), SEE_PAGE), data: change };
  },
});

export const dnsChangeTools = [planDns, applyDns, undoDns];
