/** The bill of materials of a release (CycloneDX): everything that the executables and the image contain. */

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import BetterSqlite from 'better-sqlite3';
import manifest from '../../package.json' with { type: 'json' };
import { bundle } from '../executable/bundle.ts';
import { FONT_PACKAGES } from '../executable/pack.ts';
import type { LinuxTarget } from './targets.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Not in the bundle, but in the executable. */
const PACKED = ['better-sqlite3', ...FONT_PACKAGES];

/** Parts of Node that have licenses of their own, by their names in `process.versions`. */
const NODE_PARTS: Record<string, { name: string; license: string }> = {
  ada: { name: 'Ada', license: 'MIT OR Apache-2.0' },
  ares: { name: 'c-ares', license: 'MIT' },
  brotli: { name: 'Brotli', license: 'MIT' },
  icu: { name: 'ICU', license: 'Unicode-3.0' },
  llhttp: { name: 'llhttp', license: 'MIT' },
  nghttp2: { name: 'nghttp2', license: 'MIT' },
  openssl: { name: 'OpenSSL', license: 'Apache-2.0' },
  simdjson: { name: 'simdjson', license: 'Apache-2.0' },
  simdutf: { name: 'simdutf', license: 'MIT OR Apache-2.0' },
  tz: { name: 'IANA time zone database', license: 'LicenseRef-Public-Domain' },
  undici: { name: 'undici', license: 'MIT' },
  uv: { name: 'libuv', license: 'MIT' },
  v8: { name: 'V8', license: 'BSD-3-Clause' },
  zlib: { name: 'zlib', license: 'Zlib' },
  zstd: { name: 'Zstandard', license: 'BSD-3-Clause' },
};

export interface Component {
  type: 'library' | 'platform' | 'data' | 'application';
  name: string;
  version: string;
  purl?: string;
  'bom-ref': string;
  licenses: { expression: string }[] | { license: { name: string } }[];
}

export interface BillOfMaterialsOptions {
  /** The versions of the Debian packages in the image. */
  libraries: { target: LinuxTarget; versions: Record<string, string> }[];
  epoch: number;
}

export async function writeBillOfMaterials(
  file: string,
  { libraries, epoch }: BillOfMaterialsOptions,
): Promise<void> {
  const components = [
    ...nodeComponents(),
    sqliteComponent(),
    ...(await packageComponents(dirname(file))),
    ...libraries.flatMap(({ target, versions }) =>
      Object.entries(versions).map(([name, version]) => debianComponent(name, version, target)),
    ),
  ].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  const { name, version, license } = manifest;
  const content = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${stableUuid(JSON.stringify([version, components]))}`,
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: component('application', name, version, license),
    },
    components,
  };
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}

function component(
  type: Component['type'],
  name: string,
  version: string,
  license: string | undefined,
  purl?: string,
): Component {
  // Anything else than an expression of SPDX identifiers is the name of a license.
  const isExpression =
    license !== undefined && /^[\w.+()-]+( (AND|OR|WITH) [\w.+()-]+)*$/.test(license);
  return {
    type,
    name,
    version,
    ...(purl && { purl }),
    'bom-ref': purl ?? `${name}@${version}`,
    licenses: isExpression
      ? [{ expression: license }]
      : [{ license: { name: license ?? 'not stated' } }],
  };
}

function nodeComponents(): Component[] {
  const { node, ...versions } = process.versions;
  const platform = component('platform', 'Node.js', node, 'MIT', `pkg:generic/node@${node}`);
  const parts = Object.entries(NODE_PARTS).map(([key, { name, license }]) => {
    const version = versions[key];
    if (!version) throw new Error(`Node ${node} does not name the version of ${name}`);
    return component('library', name, version, license, `pkg:generic/${key}@${version}`);
  });
  return [platform, ...parts];
}

/** The SQLite of the database addon; Node has another, which is not used. */
function sqliteComponent(): Component {
  const database = new BetterSqlite(':memory:');
  try {
    const version = database.prepare('SELECT sqlite_version()').pluck().get() as string;
    return component('library', 'SQLite', version, 'blessing', `pkg:generic/sqlite@${version}`);
  } finally {
    database.close();
  }
}

/** The packages of npm whose files are in the bundle or beside it. */
async function packageComponents(folder: string): Promise<Component[]> {
  const staging = mkdtempSync(join(folder, 'bundle-'));
  try {
    const { inputs } = await bundle(staging);
    const folders = new Set(PACKED.map((name) => `node_modules/${name}`));
    for (const file of inputs) {
      const path = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
      if (path) folders.add(path);
    }
    const found = [...folders].map(readPackage);
    return [...new Map(found.map((entry) => [entry['bom-ref'], entry])).values()];
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function readPackage(path: string): Component {
  const text = readFileSync(join(resolve(ROOT, path), 'package.json'), 'utf8');
  const { name, version, license } = JSON.parse(text) as Record<string, string>;
  const type = FONT_PACKAGES.includes(name!) ? 'data' : 'library';
  const purl = `pkg:npm/${name!.replace('@', '%40')}@${version}`;
  return component(type, name!, version!, license, purl);
}

function debianComponent(name: string, version: string, { debianArch }: LinuxTarget): Component {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${debianArch}`;
  return component('library', name, version, DEBIAN_LICENSES[name], purl);
}

const DEBIAN_LICENSES: Record<string, string> = {
  libc6: 'LGPL-2.1-or-later',
  'libgcc-s1': 'GPL-3.0-or-later WITH GCC-exception-3.1',
  'libstdc++6': 'GPL-3.0-or-later WITH GCC-exception-3.1',
};

/** A UUID that depends on the content only (version 8: custom). */
function stableUuid(content: string): string {
  const hash = createHash('sha256').update(content).digest('hex');
  const variant = ((Number.parseInt(hash[16]!, 16) & 3) | 8).toString(16);
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
