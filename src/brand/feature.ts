/** The team's brand: name, logo and color on shared pages, PDFs and scheduled reports. */

import * as v from 'valibot';
import type { Feature } from '../feature.ts';
import { editableBy } from '../http/response.ts';
import { route } from '../http/route.ts';
import { described, Name, named, typeField } from '../http/schemas.ts';
import { invalidParams } from '../lib/errors.ts';
import { type ImageFile, readImageFile } from '../mailtests/image-file.ts';
import { type Brand, type BrandLogo, brandColors, logoUrl } from '../report/brand.ts';
import { audited } from '../store/audited.ts';
import { type Db, lockIn, type Tx } from '../store/open.ts';
import type { BrandRow } from '../store/tables.generated.ts';
import { audit } from '../team/audit.ts';
import { MAX_LOGO_BYTES, readLogo } from './logo.ts';

export const AUDITED_BRAND = audited({
  type: 'brand',
  name: 'Brand',
  actions: ['brand.changed'],
  page: () => '/reports/brand',
});

const ID = 'brand';

async function findRow(db: Db | Tx): Promise<BrandRow | undefined> {
  return lockIn(db, db.selectFrom('brand').selectAll().where('id', '=', ID)).executeTakeFirst();
}

const toBrand = ({ name, color, logo }: BrandRow): Brand => ({
  name,
  logo: logo === null ? null : storedLogo(logo),
  colors: color === null ? null : brandColors(color),
});

/** It was checked when it was stored. */
function storedLogo(base64: string): BrandLogo {
  const { mediaType, width, height } = readImageFile(Buffer.from(base64, 'base64')) as ImageFile;
  return { type: mediaType as BrandLogo['type'], base64, width: width!, height: height! };
}

/** Null if the team has none. */
export async function brandOf(db: Db | Tx): Promise<Brand | null> {
  const row = await db.selectFrom('brand').selectAll().executeTakeFirst();
  return row ? toBrand(row) : null;
}

const NAME = 'The name that shared pages and reports show instead of ours. Null removes the brand.';
const COLOR = 'The color of links and buttons, as `#rrggbb`. Null for ours.';
const Color = v.pipe(
  v.string('must be a color such as #1a7f37'),
  v.regex(/^#[0-9a-f]{6}$/i, 'must be a color such as #1a7f37'),
  v.toLowerCase(),
);

const BrandPatch = named(
  'UpdateBrand',
  v.strictObject({
    name: v.optional(described(v.nullable(Name), NAME, 'Harbor Mail')),
    color: v.optional(described(v.nullable(Color), COLOR, '#0a7d5a')),
    logo: v.optional(
      described(
        v.nullable(v.pipe(v.string('must be Base64'), v.base64('must be Base64'))),
        `A PNG or JPEG file in Base64, at most ${MAX_LOGO_BYTES / 1024} KB. It is stored without its metadata. Null for none.`,
        'iVBORw0KGgo…',
      ),
    ),
  }),
  'The changes to the brand. Omitted fields keep their value.',
  { name: 'Harbor Mail', color: '#0a7d5a', logo: null },
);

const BrandResponse = named(
  'Brand',
  v.object({
    object: typeField('brand'),
    name: described(v.nullable(v.string()), NAME, 'Harbor Mail'),
    color: described(v.nullable(v.string()), COLOR, '#0a7d5a'),
    text_colors: described(
      v.nullable(
        named(
          'BrandTextColors',
          v.object({
            light: described(v.string(), 'On light pages.', '#0a7d5a'),
            dark: described(v.string(), 'On dark pages.', '#3f9a7d'),
          }),
          'Readable colors for text.',
        ),
      ),
      'What is used in the light and the dark theme: the color, or the nearest one that is readable there.',
      { light: '#0a7d5a', dark: '#3f9a7d' },
    ),
    logo_url: described(v.nullable(v.string()), 'The logo as a `data:` URL.', 'data:image/png;…'),
  }),
  'The name, logo and color that people outside your team see.',
);

function present(row: BrandRow | undefined) {
  const brand = row && toBrand(row);
  return {
    object: 'brand' as const,
    name: row?.name ?? null,
    color: row?.color ?? null,
    text_colors: brand?.colors ?? null,
    logo_url: brand?.logo ? logoUrl(brand.logo) : null,
  };
}

const invalid = (param: string, message: string) =>
  invalidParams([{ param, code: 'invalid', message }]);

const get = route({
  method: 'GET',
  path: '/v1/brand',
  operation: 'getBrand',
  role: 'viewer',
  summary: 'Get the brand of your team',
  description:
    'Returns the name, logo and color that shared links, their PDFs and scheduled reports show.',
  response: BrandResponse,
  etag: editableBy(BrandPatch, 'logo_url'),
  handle: async ({ app }) => present(await findRow(app.db)),
});

const update = route({
  method: 'PATCH',
  path: '/v1/brand',
  operation: 'updateBrand',
  role: 'admin',
  summary: 'Update the brand of your team',
  description:
    'Changes the name, logo or color that shared links, their PDFs and scheduled reports show, at once. Without a name there is no brand.',
  body: BrandPatch,
  response: BrandResponse,
  etag: editableBy(BrandPatch, 'logo_url'),
  async handle(call) {
    const { logo } = call.body;
    const read = logo ? readLogo(Buffer.from(logo, 'base64')) : null;
    if (typeof read === 'string') throw invalid('logo', read);
    return call.transact(async (tx) => {
      const before = await findRow(tx);
      call.ifMatch(present(before));
      const { name = before?.name ?? null, color = before?.color ?? null } = call.body;
      const image = logo === undefined ? (before?.logo ?? null) : (read?.base64 ?? null);
      if (name === null && (call.body.color || logo))
        throw invalid('name', 'is required for a logo or a color');
      const after = name === null ? undefined : { id: ID, name, color, logo: image };
      if (after)
        await tx
          .insertInto('brand')
          .values(after)
          .onConflict((conflict) => conflict.column('id').doUpdateSet(after))
          .execute();
      else await tx.deleteFrom('brand').execute();
      await audit(tx, call, AUDITED_BRAND, 'brand.changed', ID, {
        name: { from: before?.name ?? null, to: name },
        color: { from: before?.color ?? null, to: name && color },
        logo: image === (before?.logo ?? null) ? 'kept' : image === null ? 'removed' : 'changed',
      });
      return present(after);
    });
  },
});

export const brandOperations = { get, update };

export const brand: Feature = {
  name: 'brand',
  audited: [AUDITED_BRAND],
  routes: Object.values(brandOperations),
};
