/**
 * Preloaded in every test process and its threads, which then run code that was compiled once. `TEST_MODULES` is the
 * folder of the project’s modules. `TEST_BUNDLES` is JSON with bundles of the program’s threads: source to bundle.
 * Each service in a test starts its threads again. Loading a hundred files takes three times as long as loading a bundle.
 */

import asyncHooks from 'node:async_hooks';
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const modules = process.env.TEST_MODULES ?? '';
const bundles: Record<string, string> = JSON.parse(process.env.TEST_BUNDLES ?? '{}');
const entry = process.argv[1] ?? '';
const bundle = isMainThread ? undefined : bundles[entry];

process.setSourceMapsEnabled(true);

if (isMainThread && !process.env.TEST_ATTRIBUTION) failWithoutAttribution();

if (bundle === undefined)
  registerHooks({
    load(url, context, next) {
      const path = /^file:.*\.tsx?$/.test(url) ? compiledPath(fileURLToPath(url)) : null;
      if (path === null) return next(url, context);
      return { format: 'module', source: readFileSync(path), shortCircuit: true };
    },
  });
else {
  const source = pathToFileURL(entry).href;
  const url = pathToFileURL(bundle).href;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === source
        ? { url, format: 'commonjs', shortCircuit: true }
        : next(specifier, context),
  });
}

/**
 * Node's test runner follows every promise, to say which test an error belongs to that nothing catches. This takes a sixth
 * of the processor time. Without it, such an error fails the process, and is printed here.
 */
function failWithoutAttribution(): void {
  const { createHook } = asyncHooks;
  asyncHooks.createHook = (callbacks) => createHook({ trackPromises: false, ...callbacks });
  process.on('uncaughtExceptionMonitor', (error) => console.error(error));
  process.on('unhandledRejection', (error) => {
    // Before the runner has a listener, for example while files are loaded, the process ends.
    if (process.listenerCount('unhandledRejection') === 1) throw error;
    console.error(error);
  });
}

/** Null for modules that did not exist when the tests began. */
function compiledPath(source: string): string | null {
  const path = join(modules, `${relative(ROOT, source)}.js`);
  return existsSync(path) ? path : null;
}
