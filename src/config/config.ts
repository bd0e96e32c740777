/** Reads the environment into a typed configuration. Reports all errors at once, and warns about unknown names. */

import { readFileSync } from 'node:fs';
import { closestName } from '../lib/closest-name.ts';
import { isPostgresUrl } from '../lib/database-url.ts';
import { printable } from '../lib/log.ts';
import { VariableFaults } from './entries.ts';
import { VARIABLES, type Variable } from './variables.ts';

export const PREFIX = 'DELIVERABILITY_';

export type VariableName = keyof typeof VARIABLES;
export type Config = { [Name in VariableName]: ReturnType<(typeof VARIABLES)[Name]['read']> };
export type Environment = Record<string, string | undefined>;

/** Names every invalid variable; the program exits with code 2. */
export class ConfigError extends Error {
  readonly faults: string[];
  constructor(faults: string[]) {
    // Faults quote values and names of the environment.
    super(`Invalid configuration:\n${faults.map((fault) => `  ${printable(fault)}`).join('\n')}`);
    this.faults = faults;
  }
}

/** A variable and its current value, for people to read. */
export interface Setting {
  /** With its prefix. */
  name: string;
  /** Secrets are masked. Empty without a value. */
  value: string;
  /** `file`: a variable with the suffix `_FILE` names the file that contains it. */
  source: 'environment' | 'file' | 'default';
  /** The default in words, or as a value. */
  default: string;
  help: string;
}

const MASK = '********';

function settingOf(env: Environment, name: string, spec: Variable<unknown>, text: string): Setting {
  const isInFile = spec.secret && env[`${PREFIX}${name}_FILE`];
  const { fallback, fallbackText, help } = spec;
  return {
    name: PREFIX + name,
    value: spec.secret && text ? (spec.shown?.(text) ?? MASK) : text,
    source: env[PREFIX + name] ? 'environment' : isInFile ? 'file' : 'default',
    default: fallbackText ?? (typeof fallback === 'string' ? fallback : ''),
    help,
  };
}

const settingsByConfig = new WeakMap<Config, Setting[]>();

/** The settings that `readConfig` read into a configuration; empty for one that was made differently. */
export const settingsOf = (config: Config): Setting[] => settingsByConfig.get(config) ?? [];

export interface ReadConfig {
  config: Config;
  /** The text of each variable or of its default, by its short name. */
  texts: Record<VariableName, string>;
  /** Unknown names, each with the closest known name. */
  warnings: string[];
}

/**
 * Reads the whole configuration. An empty variable counts as unset. Throws a ConfigError that names
 * every invalid variable at once. Tests pass other `variables`.
 */
export function readConfig(
  env: Environment,
  variables: Record<string, Variable<unknown>> = VARIABLES,
): ReadConfig {
  const faults: string[] = [];
  const texts: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const invalidNames: string[] = [];
  for (const [name, spec] of Object.entries(variables)) {
    const fallback = typeof spec.fallback === 'string' ? spec.fallback : spec.fallback(texts);
    let text: string | undefined;
    try {
      text = readVariable(env, name, spec) ?? fallback;
      values[name] = spec.read(text);
      texts[name] = text;
    } catch (error) {
      const messages = error instanceof VariableFaults ? error.faults : [(error as Error).message];
      for (const message of messages)
        faults.push(`${PREFIX}${name} ${message}${spec.secret ? '' : quoted(text)}`);
      // Otherwise, a default derived from this variable would cause a second error.
      texts[name] = fallback;
      invalidNames.push(name);
    }
  }
  faults.push(
    ...pairFaults(texts),
    ...groupFaults(texts, invalidNames),
    ...sharedKeyFaults(texts, invalidNames),
    ...lmtpFaults(texts, invalidNames),
  );
  if (faults.length > 0) throw new ConfigError(faults);
  const config = values as Config;
  settingsByConfig.set(
    config,
    Object.entries(variables).map(([name, spec]) => settingOf(env, name, spec, texts[name]!)),
  );
  return {
    config,
    texts: texts as Record<VariableName, string>,
    warnings: unknownNameWarnings(env, variables),
  };
}

/** The value of the variable, or the contents of the file that its `…_FILE` form names; empty means unset. */
function readVariable(env: Environment, name: string, spec: Variable<unknown>): string | undefined {
  const inlineValue = env[PREFIX + name];
  const file = spec.secret ? env[`${PREFIX}${name}_FILE`] : undefined;
  if (inlineValue && file)
    throw new Error(`conflicts with ${PREFIX}${name}_FILE: set only one of them`);
  if (!file) return inlineValue || undefined;
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch (error) {
    throw new Error(`cannot be read from its file (${(error as NodeJS.ErrnoException).code})`);
  }
}

const quoted = (value: string | undefined): string =>
  value ? `, not "${value.slice(0, 100)}"` : '';

/** A certificate without its key, or a key without its certificate. */
function pairFaults(texts: Record<string, string>): string[] {
  if (texts.HTTP_TLS_DIR && !texts.HTTP_TLS_CERT_FILE)
    return [
      `${PREFIX}HTTP_TLS_DIR needs ${PREFIX}HTTP_TLS_CERT_FILE, the certificate of other names`,
    ];
  return ['HTTP', 'SMTP'].flatMap((kind) => {
    const names = [`${kind}_TLS_CERT_FILE`, `${kind}_TLS_KEY_FILE`];
    const missing = names.filter((name) => !texts[name]);
    return missing.length === 1
      ? [`${PREFIX}${missing[0]} is missing: set both the certificate and the key`]
      : [];
  });
}

/** LMTP is for named networks only. */
function lmtpFaults(texts: Record<string, string>, invalidNames: string[]): string[] {
  const names = ['SMTP_XCLIENT', 'SMTP_TRUSTED_HOPS'];
  const isNamed = names.some((name) => texts[name] || invalidNames.includes(name));
  if (!texts.LMTP_PORT || isNamed) return [];
  const needed = names.map((name) => `${PREFIX}${name}`).join(' or ');
  return [`${PREFIX}LMTP_PORT needs ${needed}: the networks that may deliver with LMTP`];
}

/** Variables that must be set together. */
const GROUPS = [
  ['MAIL_URL', 'MAIL_FROM'],
  ['MAIL_DKIM_DOMAIN', 'MAIL_DKIM_SELECTOR', 'MAIL_DKIM_KEY'],
  ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'],
];

/** An invalid variable is already reported, so it is not reported as missing too. */
function groupFaults(texts: Record<string, string>, invalidNames: string[]): string[] {
  return GROUPS.flatMap((names) => {
    const missing = names.filter((name) => !texts[name] && !invalidNames.includes(name));
    return missing.length === 0 || missing.length === names.length
      ? []
      : missing.map((name) => `${PREFIX}${name} is missing: set ${names.join(', ')} together`);
  });
}

/** Each node would otherwise generate its own key and could not decrypt what another one stored. */
function sharedKeyFaults(
  { DATABASE_URL = '', SECRET_KEY }: Record<string, string>,
  invalidNames: string[],
): string[] {
  if (!isPostgresUrl(DATABASE_URL) || SECRET_KEY || invalidNames.includes('SECRET_KEY')) return [];
  return [
    `${PREFIX}SECRET_KEY is missing: a PostgreSQL database needs one, the same for every node, such as the output of: openssl rand -base64 32`,
  ];
}

function unknownNameWarnings(
  env: Environment,
  variables: Record<string, Variable<unknown>>,
): string[] {
  const knownNames = Object.entries(variables).flatMap(([name, { secret }]) =>
    secret ? [PREFIX + name, `${PREFIX}${name}_FILE`] : [PREFIX + name],
  );
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !knownNames.includes(name))
    .map((name) => {
      // Compares without the prefix, which all names share.
      const closest = closestName(
        name.slice(PREFIX.length),
        knownNames.map((knownName) => knownName.slice(PREFIX.length)),
      );
      return `${name} is not a known variable${closest ? `. Did you mean ${PREFIX}${closest}?` : ''}`;
    });
}
