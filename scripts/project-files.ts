/**
 * Rules of package.json, of the lock file and of the code of tests and scripts. `--write` repairs what it can; without
 * it, each violation is printed, and the exit code is 1.
 */

import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** The packages on which the product is built. Replacing one is a decision of its owner. */
const REQUIRED_PACKAGES = [
  'better-sqlite3',
  'itty-router',
  'valibot',
  'croner',
  'nodemailer',
  'esbuild',
  'tsx',
  '@yao-pkg/pkg',
];

export interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

export interface LockFile {
  packages: Record<string, { gypfile?: boolean; version?: string }>;
}

/** Each required package that package.json lacks, in words. */
export function missingPackages({ dependencies, devDependencies }: Manifest): string[] {
  const present = { ...dependencies, ...devDependencies };
  return REQUIRED_PACKAGES.filter((name) => !(name in present)).map(
    (name) => `package.json: ${name} must stay a dependency`,
  );
}

/** Without this line npm calls node-gyp, which needs Python, for packages with a `binding.gyp` and binaries for all platforms. */
const PREBUILT = ['better-sqlite3'];

/** Sets the line for each package with binaries. npm removes it whenever it writes the lock file. */
export function withGypfile(lock: LockFile): LockFile {
  const packages = Object.entries(lock.packages).map(([path, entry]) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (!PREBUILT.includes(name)) return [path, entry];
    const { version, ...rest } = entry;
    return [path, { version, gypfile: false, ...rest }];
  });
  return { ...lock, packages: Object.fromEntries(packages) };
}

/** Each file that starts programs without scripts/programs.ts, in words. `files`: path and text. */
export function unlistedPrograms(files: [path: string, text: string][]): string[] {
  return files
    .filter(([path]) => path !== 'scripts/programs.ts')
    .filter(([, text]) =>
      /(?:from|import|require)\s*\(?\s*['"](?:node:)?child_process['"]/.test(text),
    )
    .map(([path]) => `${path}: import spawn and execFile from scripts/programs.ts`);
}

/** Packages whose folder in node_modules has a `binding.gyp` but no line in PREBUILT, in words. */
function unknownAddons(): string[] {
  return globSync('node_modules/{*,@*/*}/binding.gyp', { cwd: ROOT })
    .map((path) => path.replaceAll('\\', '/').slice('node_modules/'.length, -'/binding.gyp'.length))
    .filter((name) => !PREBUILT.includes(name))
    .map(
      (name) =>
        `${name} has a binding.gyp: npm ci needs Python unless scripts/project-files.ts lists it`,
    );
}

const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');

function checkProject(write: boolean): string[] {
  const lockText = read('package-lock.json');
  const lock: LockFile = JSON.parse(lockText);
  const wanted = `${JSON.stringify(withGypfile(lock), null, 2)}\n`;
  if (write && wanted !== lockText) writeFileSync(`${ROOT}package-lock.json`, wanted);
  const files = globSync('{test,scripts}/**/*.ts', { cwd: ROOT }).map((path): [string, string] => [
    path.replaceAll('\\', '/'),
    read(path),
  ]);
  return [
    ...missingPackages(JSON.parse(read('package.json'))),
    ...(write || wanted === lockText
      ? []
      : ['package-lock.json: npm removed the line "gypfile": false. Run npm run format']),
    ...unknownAddons(),
    ...unlistedPrograms(files),
  ];
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const problems = checkProject(process.argv.includes('--write'));
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
