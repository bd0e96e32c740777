/**
 * Preloaded in every test process and its threads. Processes load TypeScript through tsx. The program's
 * threads run bundles made once (`TEST_BUNDLES`, JSON: source to bundle). Each service in a test starts
 * its threads again, and loading a hundred files through tsx takes three times as long.
 */

import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

const bundles: Record<string, string> = JSON.parse(process.env.TEST_BUNDLES ?? '{}');
const entry = process.argv[1] ?? '';
const bundle = isMainThread ? undefined : bundles[entry];

if (bundle === undefined) register();
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
