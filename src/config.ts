/** The environment as a typed configuration: all faults told at once, unknown names warned of. */

import { readFileSync } from 'node:fs';
import { VARIABLES, type Variable } from './config-variables.ts';
import { nearest } from './lib/nearest.ts';

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
 * every wrong variable at once.
 */
export function readConfig(env: Environment): ReadConfig {
  const faults: string[] = [];
  const texts: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(VARIABLES) as [string, Variable<unknown>][]) {
    try {
      const fallback = typeof spec.fallback === 'string' ? spec.fallback : spec.fallback(texts);
      texts[name] = given(env, name, spec) ?? fallback;
      values[name] = spec.read(texts[name]);
    } catch (error) {
      faults.push(
        `${PREFIX}${name} ${(error as Error).message}${spec.secret ? '' : quoted(texts[name])}`,
      );
      texts[name] ??= '';
    }
  }
  faults.push(...pairFaults(texts));
  if (faults.length > 0) throw new ConfigError(faults);
  return {
    config: values as Config,
    texts: texts as Record<VariableName, string>,
    warnings: unknownNames(env),
  };
}

/** The variable itself, or the contents of the file that its `…_FILE` form names; empty is unset. */
function given(env: Environment, name: string, spec: Variable<unknown>): string | undefined {
  const own = env[PREFIX + name];
  const file = spec.secret ? env[`${PREFIX}${name}_FILE`] : undefined;
  if (own && file) throw new Error(`is given twice, by itself and by ${PREFIX}${name}_FILE`);
  if (!file) return own || undefined;
  try {
    return readFileSync(file, 'utf8').trim();
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

function unknownNames(env: Environment): string[] {
  const known = Object.entries(VARIABLES as Record<string, Variable<unknown>>).flatMap(
    ([name, spec]) => (spec.secret ? [PREFIX + name, `${PREFIX}${name}_FILE`] : [PREFIX + name]),
  );
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => {
      const near = nearest(name, known);
      return `${name} is not a variable of this program${near ? `; did you mean ${near}?` : ''}`;
    });
}
