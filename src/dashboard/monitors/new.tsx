/** The form for a new monitor. Each type has its own fields, behind a tab. */

import * as v from 'valibot';
import { findDomainOf } from '../../domains/queries.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { monitorOperations } from '../../monitors/routes.ts';
import type { NewMonitor } from '../../monitors/schema.ts';
import { MONITOR_TYPES, type MonitorType } from '../../monitors/types.ts';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import {
  type FieldErrors,
  type FormProblem,
  Notice,
  ProblemNotice,
  readForm,
  Select,
  submit,
  TextArea,
  TextField,
} from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { For, useReader } from '../frame/reader.tsx';
import { NotSetUp } from '../frame/states.tsx';
import { pathWith } from '../frame/table.tsx';
import { MONITORS } from './list.tsx';
import { FREQUENCY_WORDS, typeWords } from './states.tsx';

const PATH = `${MONITORS}/new`;

const TYPE_SENTENCES: Record<MonitorType, string> = {
  domain_health: 'Checks SPF, DKIM, DMARC, MX, TLS and blocklists of one of your domains.',
  blocklist:
    'Looks up IP addresses and domain names in all enabled blocklists, or one of your domains.',
  placement:
    'Checks where a message that you send on a schedule arrives, such as your newsletter. You get an address for the monitor and the addresses of the seed mailboxes.',
};

const Query = v.strictObject({ type: v.optional(v.string()), domain: v.optional(v.string()) });

interface Values {
  type: MonitorType;
  name: string;
  domain: string;
  targets: string;
  frequency: string;
}

const typeOf = (text: string | undefined): MonitorType =>
  MONITOR_TYPES.find((type) => type === text) ?? 'domain_health';

function render(call: PageCall, values: Values, problem: FormProblem | null = null) {
  const { type, domain } = values;
  return appPage(call, {
    title: 'New monitor',
    section: 'monitors',
    path: pathWith(PATH, { type, domain }),
    parents: [{ href: MONITORS, text: 'Monitors' }],
    status: problem?.status,
    headers: problem?.headers,
    calls: [
      {
        route: monitorOperations.create,
        body:
          type === 'placement'
            ? { name: 'Our newsletter', type, frequency: 'weekly' }
            : {
                name: 'Our mail server',
                type: 'blocklist',
                targets: ['mail.example.com'],
                frequency: 'daily',
              },
      },
    ],
    children: (
      <>
        <nav class="tabs" aria-label="Type">
          {MONITOR_TYPES.map((one) => (
            <a
              key={one}
              href={pathWith(PATH, { type: one, domain })}
              aria-current={one === type ? 'page' : undefined}
            >
              {typeWords(one)}
            </a>
          ))}
        </nav>
        <MonitorForm
          values={values}
          problem={problem}
          hasSeeds={call.app.config.SEED_MAILBOXES.length > 0}
        />
      </>
    ),
  });
}

interface MonitorFormProps {
  values: Values;
  problem: FormProblem | null;
  hasSeeds: boolean;
}

function MonitorForm({ values, problem, hasSeeds }: MonitorFormProps) {
  const { type, name, domain, targets, frequency } = values;
  const errors = problem?.fields ?? {};
  if (useReader().testMode)
    return (
      <Notice tone="info">
        Monitors have no test mode. Switch to live mode to create a monitor.
      </Notice>
    );
  if (type === 'placement' && !hasSeeds)
    return (
      <Card>
        <p>{TYPE_SENTENCES[type]}</p>
        <p>
          <NotSetUp>No seed mailboxes are configured</NotSetUp>
        </p>
        <p class="muted">An administrator can set them up on the server.</p>
        <For role="admin">
          <p>
            <a href="/system#seed-mailboxes">See how</a>
          </p>
        </For>
      </Card>
    );
  return (
    <Card>
      <form method="post" action={PATH} class="fields">
        <p>{TYPE_SENTENCES[type]}</p>
        <ProblemNotice problem={problem} />
        <input type="hidden" name="type" value={type} />
        <TextField
          name="name"
          label="Name"
          hint="Shown in alerts and lists."
          value={name}
          error={errors.name}
          required
        />
        {type !== 'placement' && (
          <TextField
            name="domain"
            label={type === 'blocklist' ? 'Domain (optional)' : 'Domain'}
            hint="The name of one of your domains, such as example.com."
            value={domain}
            error={errors.domain_id}
            required={type === 'domain_health'}
          />
        )}
        {type === 'blocklist' && (
          <TextArea
            name="targets"
            label="IP addresses and names"
            hint="Instead of a domain: one per line, at most 50."
            value={targets}
            error={errors.targets}
            mono
          />
        )}
        <Frequency
          value={frequency}
          error={errors.frequency}
          hint={type === 'placement' ? MESSAGE_HINT : undefined}
        />
        <button type="submit" class="button primary">
          Create monitor
        </button>
      </form>
    </Card>
  );
}

/** About the frequency of placement monitors. */
export const MESSAGE_HINT =
  'How often you send the message. If it is late, the monitor reports it as missing.';

interface FrequencyProps {
  value: string;
  error?: string;
  hint?: string;
}

export const Frequency = ({ value, error, hint }: FrequencyProps) => (
  <Select
    name="frequency"
    label="Frequency"
    hint={hint}
    options={Object.entries(FREQUENCY_WORDS)}
    value={value}
    error={error}
  />
);

/** The lines of a text field with targets. */
export const targetsIn = (text: string): string[] =>
  text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter(Boolean);

/** Each target has a label, so that the message names the one that is wrong. */
export const targetLabels = (targets: string[]): Record<string, string> =>
  Object.fromEntries(targets.map((target, index) => [`targets.${index}`, `target “${target}”`]));

/** Errors of single targets belong to their common field. */
export function joinTargetErrors(problem: FormProblem): FormProblem {
  const { fields } = problem;
  const wrong = Object.keys(fields).find((name) => name.startsWith('targets'));
  return wrong ? { ...problem, fields: { ...fields, targets: fields[wrong] } } : problem;
}

const LABELS = { name: 'name', frequency: 'frequency', domain_id: 'domain', targets: 'list' };

const show = page({
  path: PATH,
  operation: 'showNewMonitor',
  limited: true,
  role: 'member',
  summary: 'Show the form for a new monitor',
  query: Query,
  handle: (call) =>
    render(call, {
      type: typeOf(call.query.type),
      name: call.query.domain ?? '',
      domain: call.query.domain ?? '',
      targets: '',
      frequency: 'daily',
    }),
});

const create = form({
  path: PATH,
  operation: 'submitMonitor',
  limited: true,
  role: 'member',
  summary: 'Create a monitor with the form',
  async handle(call) {
    const field = readForm(call.raw);
    const values: Values = {
      type: typeOf(field('type')),
      name: field('name'),
      domain: field('domain').trim(),
      targets: field('targets'),
      frequency: field('frequency'),
    };
    const targets = targetsIn(values.targets);
    const domainId = await findDomainId(call, values.domain);
    const { result, problem } = await submit({ ...LABELS, ...targetLabels(targets) }, () =>
      call.invoke(monitorOperations.create, {
        body: {
          name: values.name,
          type: values.type,
          // A name that is no domain of the team is no ID of one either.
          domain_id: domainId === undefined ? values.domain : domainId,
          ...(targets.length > 0 ? { targets } : {}),
          frequency: values.frequency as NewMonitor['frequency'],
        },
      }),
    );
    if (!problem)
      return seeOther(
        `${MONITORS}/${result.id}?done=${values.type === 'placement' ? 'waiting' : 'created'}`,
      );
    const { fields, ...rest } = joinTargetErrors(problem);
    const subject = subjectErrors(values, targets, domainId);
    return render(call, values, { ...rest, fields: { ...fields, ...subject } });
  },
});

/** Null for an empty field, undefined for a name that is no domain of the team. */
async function findDomainId({ app }: PageCall, text: string): Promise<string | null | undefined> {
  if (text === '') return null;
  const name = normalizeDomain(text);
  const found = name === null ? undefined : await findDomainOf(app.db, name);
  return found?.name === name ? found?.id : undefined;
}

/** What is wrong with the choice of what to check, in the words of the form instead of the API. */
function subjectErrors(
  { type, domain }: Values,
  targets: string[],
  domainId: string | null | undefined,
): FieldErrors {
  if (domainId === undefined)
    return {
      domain_id: `Your team has no domain “${domain}”. Add it under “Domains” first.`,
    };
  if (type === 'domain_health' && domainId === null)
    return { domain_id: 'Enter the name of one of your domains.' };
  if (type === 'blocklist' && domainId === null && targets.length === 0)
    return { targets: 'Enter at least one IP address or name, or a domain above.' };
  if (type === 'blocklist' && domainId !== null && targets.length > 0)
    return { targets: 'Leave this empty to check the domain, or remove the domain above.' };
  return {};
}

export const newMonitorPages = [show, create];
