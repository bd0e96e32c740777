/** Name servers in the database: added, changed, checked and removed, each with an audit entry. */

import type { App } from '../app.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import { audited, rowsOf } from '../store/audited.ts';
import { type Db, lockIn, lockName, type Tx, transact } from '../store/open.ts';
import { requireBelowLimit } from '../store/queries.ts';
import { rowCodec } from '../store/row-codec.ts';
import type { DnsServerRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import type { DnsServer, DnsServerPatch, NewDnsServer } from './schema.ts';
import { DnsServerError, type NameServer, type ServerKind } from './server.ts';
import { isKnownServerKind, SERVER_KINDS } from './servers/index.ts';

export const AUDITED_SERVER = audited({
  type: 'dns_server',
  name: 'Name server',
  actions: ['dns_server.created', 'dns_server.changed', 'dns_server.deleted'],
  page: (id) => `/dns/servers/${id}`,
  withPage: rowsOf('dns_servers'),
});

const MAX_SERVERS = 20;
/** A server can list very many; what it does not list is found by asking. */
const MAX_LISTED_ZONES = 1_000;

type ServerAuthor = Author & { app: App };
type Settings = Record<string, string>;

const SERVER_ROW = rowCodec<DnsServerRow, { settings: Settings; zones: string[] }>({
  settings: 'json',
  zones: 'json',
});

const secretsPurpose = (id: string): string => `secrets of ${id}`;

/** Undefined for a kind of a newer version. */
const kindOf = ({ kind }: Pick<DnsServerRow, 'kind'>): ServerKind | undefined =>
  isKnownServerKind(kind) ? SERVER_KINDS[kind] : undefined;

const unsupported = ({ kind }: Pick<DnsServerRow, 'kind'>): AppError =>
  new AppError('conflict', `This version does not support name servers of the kind ${kind}.`);

export const kindName = (row: Pick<DnsServerRow, 'kind'>): string => kindOf(row)?.name ?? row.kind;

/** Throws `conflict` if there are too many or the name is taken, and `validation_failed` for missing settings. */
export async function createServer(
  tx: Tx,
  author: ServerAuthor,
  { kind, name, settings }: NewDnsServer,
): Promise<DnsServerRow> {
  await requireBelowLimit(tx, tx.selectFrom('dns_servers'), {
    max: MAX_SERVERS,
    noun: 'name servers',
  });
  await requireFreeName(tx, name, '');
  return insertServer(tx, author, kind, name, definedOnly(settings));
}

async function insertServer(
  tx: Tx,
  author: ServerAuthor,
  kind: string,
  name: string,
  settings: Settings,
  zones = '[]',
): Promise<DnsServerRow> {
  const { app } = author;
  const id = app.newId('dns');
  const row: DnsServerRow = {
    id,
    kind,
    name,
    zones,
    checked_at: null,
    problem: null,
    ...settingsToStore(app, { id, kind }, settings),
    created_at: isoTime(app.clock.now()),
  };
  await tx.insertInto('dns_servers').values(row).execute();
  await audit(tx, author, AUDITED_SERVER, 'dns_server.created', row.id, {
    name,
    kind,
    ...SERVER_ROW.decode(row).settings,
  });
  return row;
}

/** A command names a server by it. */
async function requireFreeName(tx: Tx, name: string, ownId: string): Promise<void> {
  const taken = await tx
    .selectFrom('dns_servers')
    .select('id')
    .where('name', '=', name)
    .where('id', '!=', ownId)
    .executeTakeFirst();
  if (taken) throw new AppError('conflict', `There is already a name server “${name}”.`);
}

/** The columns with the settings. Throws `validation_failed` if they are incomplete or belong to another kind. */
function settingsToStore(
  { secrets }: Pick<App, 'secrets'>,
  row: Pick<DnsServerRow, 'id' | 'kind'>,
  settings: Settings,
): Pick<DnsServerRow, 'settings' | 'secrets'> {
  const { fields } = kindOf(row)!;
  const missing = fields.filter(({ isRequired, name }) => isRequired && !settings[name]);
  const foreign = Object.keys(settings).filter((name) => !fields.some((one) => one.name === name));
  if (missing.length + foreign.length > 0)
    throw invalidParams([
      ...missing.map(({ name }) => problemOf(name, 'required', 'is required')),
      ...foreign.map((name) => problemOf(name, 'invalid', `is not a setting of ${row.kind}`)),
    ]);
  const of = (isSecret: boolean) =>
    JSON.stringify(
      Object.fromEntries(
        fields
          .filter((field) => field.isSecret === isSecret && settings[field.name])
          .map(({ name }) => [name, settings[name]]),
      ),
    );
  return { settings: of(false), secrets: secrets.seal(of(true), secretsPurpose(row.id)) };
}

const problemOf = (name: string, code: string, message: string) => ({
  param: `settings.${name}`,
  code,
  message,
});

const definedOnly = (settings: Record<string, string | undefined>): Settings =>
  Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as Settings;

/** Null if the secrets were encrypted with another key. */
function storedSecrets({ secrets }: Pick<App, 'secrets'>, row: DnsServerRow): Settings | null {
  const text = secrets.open(row.secrets, secretsPurpose(row.id));
  return text === null ? null : JSON.parse(text);
}

/** Applies a patch, if it changes anything, and returns the resulting row. An empty setting removes it. */
export async function changeServer(
  tx: Tx,
  author: ServerAuthor,
  current: DnsServerRow,
  { name = current.name, settings = {} }: DnsServerPatch,
): Promise<DnsServerRow> {
  const { app } = author;
  if (kindOf(current)?.isConfigured) throw isConfigured();
  if (!kindOf(current)) throw unsupported(current);
  const before = { ...SERVER_ROW.decode(current).settings, ...storedSecrets(app, current) };
  const after = { ...before, ...definedOnly(settings) };
  const changed = Object.keys(after).filter((key) => after[key] !== before[key]);
  if (changed.length === 0 && name === current.name) return current;
  await requireFreeName(tx, name, current.id);
  const row: DnsServerRow = {
    ...current,
    name,
    ...(changed.length > 0
      ? // The result of the last check says nothing about the new settings.
        { ...settingsToStore(app, current, after), zones: '[]', checked_at: null, problem: null }
      : {}),
  };
  const { id, ...columns } = row;
  await tx.updateTable('dns_servers').set(columns).where('id', '=', id).execute();
  const isSecret = (key: string) =>
    kindOf(current)!.fields.some((field) => field.name === key && field.isSecret);
  await audit(tx, author, AUDITED_SERVER, 'dns_server.changed', row.id, {
    ...(name === current.name ? {} : { name: { from: current.name, to: name } }),
    ...Object.fromEntries(
      changed.map((key) => [
        key,
        isSecret(key) ? 'changed' : { from: before[key] ?? null, to: after[key] || null },
      ]),
    ),
  });
  return row;
}

/** Its changes stay listed, but can no longer be undone. Throws `conflict` while one is being applied. */
export async function deleteServer(tx: Tx, author: ServerAuthor, row: DnsServerRow): Promise<void> {
  if (configuredCommand(author.app, row)) throw isConfigured();
  const applying = await tx
    .selectFrom('dns_changes')
    .select('id')
    .where('server_id', '=', row.id)
    .where('status', '=', 'applying')
    .executeTakeFirst();
  if (applying)
    throw new AppError(
      'conflict',
      'A change is being applied at this name server. Try again in a minute.',
    );
  await tx.deleteFrom('dns_servers').where('id', '=', row.id).execute();
  await audit(tx, author, AUDITED_SERVER, 'dns_server.deleted', row.id, { name: row.name });
}

// Servers of the configuration.

const isConfigured = (): AppError =>
  new AppError(
    'conflict',
    'This name server is in the configuration (DELIVERABILITY_DNS_COMMANDS). Change it there.',
  );

const configuredCommand = (
  { config }: Pick<App, 'config'>,
  row: Pick<DnsServerRow, 'kind' | 'name'>,
) =>
  row.kind === 'command' ? config.DNS_COMMANDS.find(({ name }) => name === row.name) : undefined;

/** Adds those of the configuration, and takes over their zones. The others stay for their changes. */
export async function addConfiguredServers(app: App): Promise<void> {
  for (const { name, zones } of app.config.DNS_COMMANDS)
    await transact(app.db, async (tx) => {
      // Another node may start at the same moment.
      await lockName(tx, 'limit of name servers');
      const query = tx.selectFrom('dns_servers').selectAll().where('name', '=', name);
      const row = await query.executeTakeFirst();
      const listed = JSON.stringify(zones);
      const author: ServerAuthor = { app, actor: null, caller: { ip: null } };
      if (!row) await insertServer(tx, author, 'command', name, {}, listed);
      else if (row.kind !== 'command')
        app.log.error(
          'a name server has the name of a program in DNS_COMMANDS. Rename one of them',
          {
            name,
          },
        );
      else if (row.zones !== listed)
        await tx
          .updateTable('dns_servers')
          .set({ zones: listed })
          .where('id', '=', row.id)
          .execute();
    });
}

// Connecting.

/** Throws `conflict` if this program or its key cannot use the server. */
export function openServer(app: App, row: DnsServerRow, signal?: AbortSignal): NameServer {
  const kind = kindOf(row);
  const { settings } = SERVER_ROW.decode(row);
  const secrets = storedSecrets(app, row);
  if (!kind) throw unsupported(row);
  if (secrets === null)
    throw new AppError(
      'conflict',
      `The credentials of ${row.name} cannot be decrypted, because they were encrypted with another secret key. Enter them again.`,
    );
  const { resolver, web, clock, config } = app;
  const command = configuredCommand(app, row);
  if (kind.isConfigured && !command)
    throw new AppError(
      'conflict',
      `${row.name} is no longer in the configuration (DELIVERABILITY_DNS_COMMANDS).`,
    );
  const allowNetworks = config.WEBHOOK_ALLOW_NETWORKS;
  const ca = app.authorities;
  const context = { resolver, web, clock, allowNetworks, ca, command, signal };
  return kind.open({ ...settings, ...secrets }, context);
}

export type CheckResult = Pick<DnsServerRow, 'zones' | 'checked_at' | 'problem'>;

/** Tries the credentials. Call outside of a transaction. Throws `conflict` as `openServer` does. */
export async function checkServer(
  app: App,
  row: DnsServerRow,
  signal?: AbortSignal,
): Promise<CheckResult> {
  const server = openServer(app, row, signal);
  const checked_at = isoTime(app.clock.now());
  try {
    const { zones } = await server.check();
    const listed = zones.toSorted().slice(0, MAX_LISTED_ZONES);
    return { zones: JSON.stringify(listed), checked_at, problem: null };
  } catch (error) {
    if (!(error instanceof DnsServerError)) throw error;
    return { zones: row.zones, checked_at, problem: error.message };
  }
}

/** Does nothing if the settings have changed since. Returns the current row. Throws `not_found`. */
export async function recordCheck(
  tx: Tx,
  checked: DnsServerRow,
  result: CheckResult,
): Promise<DnsServerRow> {
  const row = await serverOr404(tx, checked.id);
  if (row.settings !== checked.settings || row.secrets !== checked.secrets) return row;
  await tx.updateTable('dns_servers').set(result).where('id', '=', row.id).execute();
  return { ...row, ...result };
}

// Queries.

/** Throws `not_found`. */
export async function serverOr404(db: Db | Tx, id: string): Promise<DnsServerRow> {
  const query = db.selectFrom('dns_servers').selectAll().where('id', '=', id);
  const row = await lockIn(db, query).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such name server.');
  return row;
}

export const listServers = (db: Db, page: Page) =>
  fetchPage(db.selectFrom('dns_servers').selectAll(), page);

export const allServers = (db: Db): Promise<DnsServerRow[]> =>
  db.selectFrom('dns_servers').selectAll().orderBy('name').execute();

/**
 * The servers that list the closest zone of this name. If none lists one, those without a list, because only the server
 * itself knows.
 */
export function serversFor<S extends Pick<DnsServer, 'zones'>>(servers: S[], name: string): S[] {
  const labels = name.split('.');
  for (const index of labels.keys()) {
    const found = servers.filter(({ zones }) => zones.includes(labels.slice(index).join('.')));
    if (found.length > 0) return found;
  }
  return servers.filter(({ zones }) => zones.length === 0);
}

export function presentServer(row: DnsServerRow): DnsServer {
  const fields = kindOf(row)?.fields ?? [];
  const { settings, zones } = SERVER_ROW.decode(row);
  return {
    id: row.id,
    object: 'dns_server',
    kind: row.kind,
    name: row.name,
    settings,
    stored_secrets: fields.filter(({ isSecret }) => isSecret).map(({ name }) => name),
    zones,
    checked_at: row.checked_at,
    problem: row.problem,
    created_at: row.created_at,
  };
}
