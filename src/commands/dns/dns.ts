/** `dns`: plans DNS changes that fix the findings about a domain, applies them at a name server, and undoes them. */

import { existsSync } from 'node:fs';
import type { App } from '../../app.ts';
import { type Config, readConfig } from '../../config/config.ts';
import { changeOr404, listChanges, presentChange } from '../../dns-changes/changes.ts';
import { applyPlan, undoChange } from '../../dns-changes/confirmed.ts';
import { isPossible, planFor, planOf, presentPlan, publicSource } from '../../dns-changes/plans.ts';
import { proposalsOf } from '../../dns-changes/proposals.ts';
import type { DnsPlan } from '../../dns-changes/schema.ts';
import { SERVER_KIND_IDS } from '../../dns-changes/servers/index.ts';
import { settleStopped } from '../../dns-changes/settle-job.ts';
import {
  addConfiguredServers,
  allServers,
  checkServer,
  createServer,
  deleteServer,
  presentServer,
  recordCheck,
  serversFor,
} from '../../dns-changes/stored-servers.ts';
import { checkHealthShared } from '../../domains/health.ts';
import { findDomainByName } from '../../domains/queries.ts';
import { recordHealth } from '../../domains/transitions.ts';
import { systemClock } from '../../lib/clock.ts';
import { isPostgresUrl } from '../../lib/database-url.ts';
import { AppError } from '../../lib/errors.ts';
import { printable, printableJson } from '../../lib/log.ts';
import { createDnsResolver, systemDnsServers } from '../../net/dns/network-resolver.ts';
import { assembleService } from '../../service.ts';
import { type Tx, transact } from '../../store/open.ts';
import type { DnsChangeRow, DnsServerRow, DomainRow } from '../../store/tables.generated.ts';
import type { Author } from '../../team/audit.ts';
import { VERSION } from '../../version.ts';
import { defineCommand, EXIT, type Io, printMessage, UsageError } from '../command.ts';
import { findDatabase } from '../configure.ts';
import { checkDomainHealth, readName } from '../domain.ts';
import { readNewServer } from './new-server.ts';
import { changeLine, copiesText, FORMATS, planText, serverLine } from './print.ts';

const DOMAIN = [{ name: 'DOMAIN' }] as const;

export const dns = defineCommand({
  name: 'dns',
  summary:
    'Plan the DNS records that fix a domain, publish them at your name server, and undo changes',
  actions: {
    plan: { arguments: DOMAIN, description: 'Print what would change, and change nothing' },
    apply: {
      arguments: DOMAIN,
      description:
        'Print what will change, publish it once you confirm, and check the domain again',
    },
    undo: {
      arguments: [{ name: 'CHANGE' }],
      description: 'Publish the records from before a change again',
    },
    changes: { description: 'List the latest changes' },
    servers: { description: 'List the name servers' },
    'add-server': {
      arguments: [{ name: 'NAME' }],
      description: 'Add a name server and check it; reads its secret from standard input',
    },
    'remove-server': {
      arguments: [{ name: 'NAME' }],
      description: 'Remove a name server and its credentials',
    },
  },
  options: {
    server: {
      value: 'NAME',
      description: 'Name server to use (default: the one that has the zone)',
      actions: ['plan', 'apply'],
    },
    check: {
      value: 'ID',
      description: 'Only the records that this check proposes, such as dmarc_policy',
      isRepeatable: true,
      actions: ['plan', 'apply'],
    },
    as: {
      value: 'FORMAT',
      description: 'Print the records as text to copy',
      choices: FORMATS,
      actions: ['plan'],
    },
    yes: { description: 'Do not ask for confirmation', actions: ['apply', 'undo'] },
    kind: {
      value: 'KIND',
      description: 'Kind of name server',
      choices: SERVER_KIND_IDS,
      isRequired: true,
      actions: ['add-server'],
    },
    setting: {
      value: 'NAME=VALUE',
      description: 'Setting of the name server, such as key_name=update-key',
      isRepeatable: true,
      actions: ['add-server'],
    },
    json: { description: 'Print the result as JSON', actions: ['plan', 'changes', 'servers'] },
  },
  async run({ action, positionals, values }, io) {
    const [argument = ''] = positionals;
    const json = values.json === true;
    if (action === 'plan' && !hasDatabase(readConfig(io.env).config)) {
      if (values.server !== undefined)
        throw new UsageError(
          '--server requires the database of the service, and there is none here',
        );
      return planAlone(io, readName(argument), { as: values.as, json, checks: values.check });
    }
    return withApp(io, async (app) => {
      switch (action) {
        case 'plan':
          return plan(io, app, readName(argument), {
            ...values,
            as: values.as,
            checks: values.check,
            json,
          });
        case 'apply':
          return apply(io, app, readName(argument), values);
        case 'undo':
          return undo(io, app, argument, values.yes === true);
        case 'changes':
          return listLatest(io, app, json);
        case 'servers':
          return listAll(io, app, json);
        case 'add-server':
          return addServer(io, app, await readNewServer(io, argument, values));
        default:
          return removeServer(io, app, argument);
      }
    });
  },
});

const hasDatabase = ({ DATABASE_URL: path }: Config): boolean =>
  isPostgresUrl(path) || existsSync(path);

/** In this process, beside a running service. What a user can fix is printed. */
export async function withApp(io: Io, use: (app: App) => Promise<number>): Promise<number> {
  const config = findDatabase(io, 'stop');
  if (!config) return EXIT.usage;
  const { app, close } = await assembleService(config, VERSION);
  try {
    await addConfiguredServers(app);
    return await use(app);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    printMessage(io, printable(error.detail));
    return error.code === 'validation_failed' ? EXIT.usage : EXIT.externalFailure;
  } finally {
    await close();
  }
}

/** Of changes by this command. */
export const authorOf = (app: App): Author & { app: App } => ({
  app,
  actor: null,
  caller: { ip: null },
});

// Plans.

interface PlanOptions {
  server?: string | undefined;
  as: string | undefined;
  checks: string[] | undefined;
  json: boolean;
}

/** Of a domain that need not belong to a team: checks it now, and compares with what resolvers find. */
async function planAlone(io: Io, name: string, options: PlanOptions): Promise<number> {
  const { config } = readConfig(io.env);
  const now = systemClock.now();
  const health = await checkDomainHealth(name, config, { selectors: [], now }, io);
  const resolver = createDnsResolver({
    servers: config.DNS_SERVERS ?? systemDnsServers(),
    clock: systemClock,
  });
  try {
    const planned = await planOf(
      publicSource(resolver),
      proposalsOf(health.checks).filter(
        ({ checks: [id] }) => options.checks?.includes(id!) ?? true,
      ),
    );
    return printPlan(io, name, presentPlan({ id: '' }, null, planned), null, options);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    printMessage(io, printable(error.detail));
    return EXIT.externalFailure;
  } finally {
    resolver.close();
  }
}

async function plan(io: Io, app: App, name: string, options: PlanOptions): Promise<number> {
  const domain = await checkedDomain(app, name);
  const server = await serverFor(app, name, options.server);
  const planned = await planFor(app, domain, server, options);
  const presented = presentPlan(domain, server?.id ?? null, planned);
  return printPlan(io, name, presented, server, options);
}

function printPlan(
  io: Io,
  name: string,
  presented: DnsPlan,
  server: DnsServerRow | null,
  { as, json, checks, server: given }: PlanOptions,
): number {
  if (json) io.stdout(`${printableJson(presented, 2)}\n`);
  else if (as) io.stdout(copiesText(presented, as));
  else {
    io.stdout(planText(presented, server?.name ?? null, io));
    printMessage(
      io,
      server
        ? `To publish this: ${io.program} dns apply ${name}${optionsOf(checks, given)}`
        : `To copy the records: ${io.program} dns plan ${name} --as ${FORMATS.join('|')}`,
    );
  }
  return EXIT.success;
}

/** The same choice of records and name server, for the next command. */
const optionsOf = (checks: string[] = [], server?: string): string =>
  [
    ...checks.map((id) => ` --check ${id}`),
    ...(server === undefined ? [] : [` --server ${server}`]),
  ].join('');

/** The domain of the team. A verified one is checked now, because its last findings can be a day old. */
async function checkedDomain(app: App, name: string): Promise<DomainRow> {
  const found = await findDomainByName(app.db, name);
  if (!found)
    throw new AppError('not_found', `${name} is not a domain of your team. Add it first.`);
  const row = await app.db
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', found.id)
    .executeTakeFirstOrThrow();
  if (row.status !== 'verified') return row;
  const result = await checkHealthShared(app, row, 'users');
  return transact(app.db, async (tx) => (await recordHealth(tx, app, row, result)).row);
}

/** Null without any. Throws a UsageError if it is not clear which one has the zone. */
async function serverFor(
  app: App,
  name: string,
  given: string | undefined,
): Promise<DnsServerRow | null> {
  const rows = await allServers(app.db);
  if (given !== undefined) return findServer(rows, given);
  const fitting = serversFor(rows.map(presentServer), name);
  const [first, ...others] = fitting.length > 0 ? fitting : rows;
  if (others.length > 0)
    throw new UsageError(
      `Several name servers can have ${name}. Choose one with --server: ${[first!, ...others].map((one) => printable(one.name)).join(', ')}`,
    );
  return rows.find(({ id }) => id === first?.id) ?? null;
}

function findServer(rows: DnsServerRow[], name: string): DnsServerRow {
  const row = rows.find((one) => one.name === name || one.id === name);
  if (row) return row;
  const names = rows.map((one) => printable(one.name)).join(', ');
  throw new UsageError(
    `No name server is called "${name}"${names === '' ? '' : `. Name servers: ${names}`}`,
  );
}

// Changes.

interface ApplyOptions {
  server?: string | undefined;
  check?: string[] | undefined;
  yes?: boolean | undefined;
}

async function apply(
  io: Io,
  app: App,
  name: string,
  { server: given, yes, check: checks }: ApplyOptions,
): Promise<number> {
  await settleStopped(app);
  const row = await serverFor(app, name, given);
  if (!row)
    throw new UsageError(
      `There is no name server. Add one with ${io.program} dns add-server, or copy the records with ${io.program} dns plan`,
    );
  const domain = await checkedDomain(app, name);
  const { changes, token } = await planFor(app, domain, row, { checks });
  io.stdout(planText(presentPlan(domain, row.id, { changes, token }), row.name, io));
  const possible = changes.filter(isPossible);
  const records = yes ? possible.filter(({ needsChoice }) => !needsChoice) : possible;
  if (records.length < possible.length)
    printMessage(io, 'To publish the records with a condition too, omit --yes and confirm.');
  if (records.length === 0) {
    printMessage(io, 'There is nothing to publish.');
    return EXIT.success;
  }
  if (!yes && !(await confirmed(io, 'Publish these records?'))) return EXIT.negative;
  // Everything is read again: somebody else may have changed it while the question was open.
  const body = { server_id: row.id, token, checks, records };
  const store = storeIn(app);
  return printMade(io, await applyPlan(authorOf(app), domain.id, body, store));
}

const storeIn =
  ({ db }: App) =>
  <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    transact(db, work);

/** Whether the reader answers "yes". Throws a UsageError without a terminal. */
async function confirmed(io: Io, question: string): Promise<boolean> {
  const answer = await io.ask(`${question} Enter yes to confirm: `);
  if (answer === null)
    throw new UsageError('There is no terminal for the question. Add --yes to publish without it');
  if (answer.trim().toLowerCase() === 'yes') return true;
  printMessage(io, 'Nothing was changed.');
  return false;
}

function printMade(io: Io, rows: DnsChangeRow[]): number {
  for (const row of rows) io.stdout(`${printable(changeLine(presentChange(row)))}\n`);
  const isDone = rows.every(({ status }) => status === 'applied');
  if (isDone)
    printMessage(
      io,
      `The service checks the domain again within a minute. To undo a change: ${io.program} dns undo CHANGE`,
    );
  return isDone ? EXIT.success : EXIT.externalFailure;
}

async function undo(io: Io, app: App, id: string, yes: boolean): Promise<number> {
  await settleStopped(app);
  const row = await changeOr404(app.db, id);
  io.stdout(`${printable(changeLine(presentChange(row)))}\n`);
  if (!yes && !(await confirmed(io, 'Publish the records from before this change again?')))
    return EXIT.negative;
  return printMade(io, [await undoChange(authorOf(app), id, storeIn(app))]);
}

async function listLatest(io: Io, app: App, json: boolean): Promise<number> {
  const { rows } = await listChanges(app.db, { limit: 50 });
  const changes = rows.map(presentChange);
  if (json) io.stdout(`${printableJson(changes, 2)}\n`);
  else for (const change of changes) io.stdout(`${printable(changeLine(change))}\n`);
  if (changes.length === 0 && !json) printMessage(io, 'No DNS changes yet.');
  return EXIT.success;
}

// Name servers.

async function listAll(io: Io, app: App, json: boolean): Promise<number> {
  const servers = (await allServers(app.db)).map(presentServer);
  if (json) io.stdout(`${printableJson(servers, 2)}\n`);
  else for (const server of servers) io.stdout(`${printable(serverLine(server))}\n`);
  if (servers.length === 0 && !json) printMessage(io, 'No name servers yet.');
  return EXIT.success;
}

async function addServer(
  io: Io,
  app: App,
  body: Awaited<ReturnType<typeof readNewServer>>,
): Promise<number> {
  const row = await transact(app.db, (tx) => createServer(tx, authorOf(app), body));
  const result = await checkServer(app, row);
  const checked = await transact(app.db, (tx) => recordCheck(tx, row, result));
  io.stdout(`${printable(serverLine(presentServer(checked)))}\n`);
  return checked.problem === null ? EXIT.success : EXIT.externalFailure;
}

async function removeServer(io: Io, app: App, name: string): Promise<number> {
  const row = findServer(await allServers(app.db), name);
  await transact(app.db, (tx) => deleteServer(tx, authorOf(app), row));
  printMessage(io, printable(`${row.name} and its credentials were removed.`));
  return EXIT.success;
}
