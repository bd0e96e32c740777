/** The environment as a typed configuration: all faults told at once, unknown names warned of. */

import { readFileSync } from 'node:fs';
import { nearest } from '../lib/nearest.ts';
import { VARIABLES, type Variable } from './variables.ts';

export const PREFIX = 'DELIVERABILITY_';

export type VariableName = keyof typeof VARIABLES;
export type Config = { [Name in VariableName]: ReturnType<(typeof VARIABLES)[Name]['read']> };
export type Environment = Record<string, string | undefined>;

/** Every wrong variable in one message; the start ends with exit code 2. */
export class ConfigError extends Error {
  readonly faults: string[];
  constructor(faults: string[]) {
    super(`The configuration is wrong:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

export interface ReadConfig {
  config: Config;
  /** The text each variable had or was given, by its short name. */
  texts: Record<VariableName, string>;
  /** Unknown names, each with the nearest known one. */
  warnings: string[];
}

/**
 * Reads the whole configuration. An empty variable counts as unset. Throws a ConfigError that names
 * every wrong variable at once. `variables` is for tests of what no variable of today needs.
 */
export function readConfig(
  env: Environment,
  variables: Record<string, Variable<unknown>> = VARIABLES,
): ReadConfig {
  const faults: string[] = [];
  const texts: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const wrong: string[] = [];
  for (const [name, spec] of Object.entries(variables)) {
    const fallback = typeof spec.fallback === 'string' ? spec.fallback : spec.fallback(texts);
    let text: string | undefined;
    try {
      text = given(env, name, spec) ?? fallback;
      values[name] = spec.read(text);
      texts[name] = text;
    } catch (error) {
      faults.push(`${PREFIX}${name} ${(error as Error).message}${spec.secret ? '' : quoted(text)}`);
      // So that what is computed from it is not told as a second fault.
      texts[name] = fallback;
      wrong.push(name);
    }
  }
  faults.push(...pairFaults(texts), ...groupFaults(texts, wrong));
  if (faults.length > 0) throw new ConfigError(faults);
  return {
    config: values as Config,
    texts: texts as Record<VariableName, string>,
    warnings: unknownNames(env, variables),
  };
}

/** The variable itself, or the contents of the file that its `…_FILE` form names; empty is unset. */
function given(env: Environment, name: string, spec: Variable<unknown>): string | undefined {
  const own = env[PREFIX + name];
  const file = spec.secret ? env[`${PREFIX}${name}_FILE`] : undefined;
  if (own && file) throw new Error(`is given twice, by itself and by ${PREFIX}${name}_FILE`);
  if (!file) return own || undefined;
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch (error) {
    throw new Error(
      `cannot be read from the file named (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}

const quoted = (value: string | undefined): string =>
  value ? `, not "${value.slice(0, 100)}"` : '';

/** A certificate without its key, or the other way round. */
function pairFaults(texts: Record<string, string>): string[] {
  return ['HTTP', 'SMTP'].flatMap((kind) => {
    const names = [`${kind}_TLS_CERT_FILE`, `${kind}_TLS_KEY_FILE`];
    const missing = names.filter((name) => !texts[name]);
    return missing.length === 1
      ? [`${PREFIX}${missing[0]} is missing: certificate and key go together`]
      : [];
  });
}

/** Variables of which each needs all the others of its group. */
const GROUPS = [
  ['MAIL_URL', 'MAIL_FROM'],
  ['MAIL_DKIM_DOMAIN', 'MAIL_DKIM_SELECTOR', 'MAIL_DKIM_KEY'],
  ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'],
];

/** What is wrong has been told, and is not missing too. */
function groupFaults(texts: Record<string, string>, wrong: string[]): string[] {
  return GROUPS.flatMap((names) => {
    const missing = names.filter((name) => !texts[name] && !wrong.includes(name));
    return missing.length === 0 || missing.length === names.length
      ? []
      : missing.map((name) => `${PREFIX}${name} is missing: ${names.join(', ')} go together`);
  });
}

function unknownNames(env: Environment, variables: Record<string, Variable<unknown>>): string[] {
  const known = Object.entries(variables).flatMap(([name, { secret }]) =>
    secret ? [PREFIX + name, `${PREFIX}${name}_FILE`] : [PREFIX + name],
  );
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => {
      // Without the prefix, which all have in common.
      const near = nearest(
        name.slice(PREFIX.length),
        known.map((one) => one.slice(PREFIX.length)),
      );
      return `${name} is not a variable of this program${near ? `; did you mean ${PREFIX}${near}?` : ''}`;
    });
}
