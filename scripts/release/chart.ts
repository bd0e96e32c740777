/** Packs the Helm chart, with the version of the program. `helm` is not needed. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { gzip, writeTar } from './archive.ts';

/** Writes the archive that `helm install` reads to `folder`; returns its path. */
export function writeChart(chart: string, folder: string, epoch: number): string {
  const { name, version } = manifest;
  const staging = mkdtempSync(join(folder, 'chart-'));
  try {
    cpSync(chart, join(staging, name), { recursive: true });
    const file = join(staging, name, 'Chart.yaml');
    const text = readFileSync(file, 'utf8')
      .replace(/^version: .*$/m, `version: ${version}`)
      .replace(/^appVersion: .*$/m, `appVersion: "${version}"`);
    writeFileSync(file, text);
    const archive = join(folder, `${name}-${version}-chart.tar`);
    writeTar(archive, staging, [name], { epoch });
    return gzip(archive);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}
