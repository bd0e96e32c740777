/**
 * Builds the container image with umoci: the executable, the C library and a folder for data. It has no shell
 * and no package manager.
 */

import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { execFileSync } from '../programs.ts';
import { writeTar } from './archive.ts';
import { copyLibraries, type LibrarySource } from './libraries.ts';
import type { LinuxTarget } from './targets.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const REPOSITORY = 'deliverability';
const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json';

/** The user that distroless images have too, so that volumes can be shared with them. */
export const IMAGE_USER = { uid: 65532, gid: 65532 };

export interface ImagePart {
  target: LinuxTarget;
  executable: string;
  libraries: LibrarySource;
}

/** What containers get unless they set it. The temporary files of SQLite and the addon need a writable folder. */
const ENVIRONMENT = {
  PATH: '/usr/bin',
  HOME: '/data',
  TMPDIR: '/data',
  DELIVERABILITY_DATA_DIR: '/data',
  DELIVERABILITY_HTTP_HOST: '0.0.0.0',
  DELIVERABILITY_SMTP_HOST: '0.0.0.0',
};

const ETC = {
  passwd: `root:x:0:0:root:/:/sbin/nologin\ndeliverability:x:${IMAGE_USER.uid}:${IMAGE_USER.gid}::/data:/sbin/nologin\n`,
  group: `root:x:0:\ndeliverability:x:${IMAGE_USER.gid}:\n`,
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/** Writes the root file system of the image, the one layer that it has, as a tar archive. */
export function writeLayer(part: ImagePart, file: string, epoch: number): void {
  const folder = mkdtempSync(join(dirname(file), 'root-'));
  try {
    const executable = join(folder, 'usr/bin/deliverability');
    mkdirSync(dirname(executable), { recursive: true });
    copyFileSync(part.executable, executable);
    chmodSync(executable, 0o755);
    copyLibraries(part.libraries, part.target, folder);
    mkdirSync(join(folder, 'etc'));
    for (const [name, text] of Object.entries(ETC)) writeFileSync(join(folder, 'etc', name), text);
    const license = join(folder, 'usr/share/doc/deliverability/copyright');
    mkdirSync(dirname(license), { recursive: true });
    copyFileSync(join(ROOT, 'LICENSE'), license);
    mkdirSync(join(folder, 'data'), { mode: 0o700 });
    const system = ['etc', 'lib', 'lib64', 'usr'].filter((name) => existsSync(join(folder, name)));
    // Whatever the umask is.
    execFileSync('chmod', ['--recursive', 'u=rwX,go=rX', ...system], { cwd: folder });
    writeTar(file, folder, system, { epoch });
    writeTar(file, folder, ['data'], { epoch, owner: IMAGE_USER, append: true });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes an OCI layout with one image for all parts to the folder `layout`. */
export function writeLayout(
  layers: { target: LinuxTarget; file: string }[],
  layout: string,
  epoch: number,
): void {
  const created = new Date(epoch * 1000).toISOString();
  umoci('init', '--layout', layout);
  for (const { target, file } of layers) {
    const image = `${layout}:${target.debianArch}`;
    umoci('new', '--image', image);
    const history = ['--history.created', created, '--history.created_by', 'npm run release'];
    umoci('raw', 'add-layer', '--image', image, ...history, file);
    const environment = Object.entries(ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
    umoci(
      'config',
      '--image',
      image,
      '--no-history',
      '--created',
      created,
      '--os',
      'linux',
      '--architecture',
      target.debianArch,
      '--config.user',
      `${IMAGE_USER.uid}:${IMAGE_USER.gid}`,
      '--config.workingdir',
      '/data',
      '--config.volume',
      '/data',
      '--config.entrypoint',
      '/usr/bin/deliverability',
      '--config.cmd',
      'serve',
      '--config.exposedports',
      '8080/tcp',
      '--config.exposedports',
      '2525/tcp',
      '--config.stopsignal',
      'SIGTERM',
      ...environment.flatMap((variable) => ['--config.env', variable]),
      ...Object.entries(LABELS).flatMap(([name, value]) => ['--config.label', `${name}=${value}`]),
    );
  }
  umoci('gc', '--layout', layout);
  joinPlatforms(layout);
}

const LABELS = {
  'org.opencontainers.image.title': manifest.name,
  'org.opencontainers.image.description': manifest.description,
  'org.opencontainers.image.version': manifest.version,
  'org.opencontainers.image.licenses': manifest.license,
};

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  platform?: { os: string; architecture: string };
  annotations?: Record<string, string>;
}

/** Replaces the image of each architecture in the layout by one for all, which umoci can't do. */
function joinPlatforms(layout: string): void {
  const file = join(layout, 'index.json');
  const index = JSON.parse(readFileSync(file, 'utf8')) as { manifests: Descriptor[] };
  const manifests = index.manifests
    .map(({ mediaType, digest, size, annotations }) => ({
      mediaType,
      digest,
      size,
      platform: { os: 'linux', architecture: annotations!['org.opencontainers.image.ref.name']! },
    }))
    .sort((a, b) => (a.platform.architecture < b.platform.architecture ? -1 : 1));
  const joined = JSON.stringify({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests });
  const digest = createHash('sha256').update(joined).digest('hex');
  writeFileSync(join(layout, 'blobs/sha256', digest), joined);
  const name = `${REPOSITORY}:${manifest.version}`;
  const descriptor: Descriptor = {
    mediaType: INDEX_TYPE,
    digest: `sha256:${digest}`,
    size: Buffer.byteLength(joined),
    annotations: {
      'org.opencontainers.image.ref.name': name,
      // containerd and Docker read the name from here.
      'io.containerd.image.name': `docker.io/library/${name}`,
    },
  };
  writeFileSync(
    file,
    JSON.stringify({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests: [descriptor] }),
  );
}

function umoci(...args: string[]): void {
  execFileSync('umoci', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
