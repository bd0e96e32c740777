/**
 * Starts the program from source. With a Node that is too old, reading `main.ts` already fails with a syntax error,
 * so this file checks the version first. It imports nothing before that.
 */

/** The field `engines` in package.json; the packages need it too. */
export const MIN_NODE: readonly [major: number, minor: number] = [22, 19];

/** What to do if the program can't run on this version of Node; null if it can. */
export function nodeProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) return null;
  return (
    `Deliverability needs Node.js ${MIN_NODE.join('.')} or later, and this is ${version}. Install Node.js 24, ` +
    'or run npm ci without --ignore-scripts: npm start then uses the Node.js that it installs for this project.'
  );
}

// Tests import this file to read the above.
if (process.argv[1]?.endsWith('start.ts')) {
  const problem = nodeProblem(process.versions.node);
  if (problem) {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 2;
  } else {
    // As in `npm start`. Other commands follow two dashes: `npm start -- owner you@example.com`.
    if (process.argv.length === 2) process.argv.push('serve');
    void run();
  }
}

async function run(): Promise<void> {
  const { applyMemorySettings } = await import('./lib/memory-settings.ts');
  // Before the program is loaded, because this starts the process again.
  applyMemorySettings(process);
  await import('./main.ts');
}
