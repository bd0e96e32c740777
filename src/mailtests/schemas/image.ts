/** Schemas of the images of a test. */

import * as v from 'valibot';
import { described, named, Time, typeField, Url } from '../../http/schemas.ts';
import { IMAGE_FAILURES } from '../fetch-images.ts';

const { nullable } = v;
const count = v.pipe(v.number(), v.integer());

const TestImage = named(
  'TestImage',
  v.object({
    url: described(Url, 'The address of the image in the message.'),
    kind: described(
      v.picklist(['content', 'bimi_logo']),
      '`content`: an image of the message. `bimi_logo`: the logo of its sender.',
    ),
    status: described(
      v.picklist(['loaded', 'tracking_pixel', 'failed']),
      'Whether it was loaded. A `tracking_pixel` is never loaded.',
    ),
    reason: described(
      nullable(v.picklist(IMAGE_FAILURES)),
      'Why it was not loaded. Null if it was.',
    ),
    detail: described(
      nullable(v.string()),
      'The reason in words. Null if it was loaded.',
      'the server responded with 404',
    ),
    media_type: described(
      nullable(v.string()),
      'The media type, as its bytes show it. Null if it was not loaded.',
    ),
    size: described(nullable(count), 'In bytes. Null if it was not loaded.'),
    width: described(nullable(count), 'In pixels. Null if unknown, as for SVG images.'),
    height: described(nullable(count), 'In pixels. Null if unknown, as for SVG images.'),
  }),
  'An image of a message that is on a web server.',
  {
    url: 'https://images.example.com/spring/hero.png',
    kind: 'content',
    status: 'loaded',
    reason: null,
    detail: null,
    media_type: 'image/png',
    size: 48_213,
    width: 1200,
    height: 600,
  },
);

export const TestImages = named(
  'TestImages',
  v.object({
    object: typeField('test_images'),
    test_id: v.string(),
    status: described(
      v.picklist(['not_loaded', 'loading', 'loaded']),
      '`not_loaded`: nobody has asked for the images. `loaded`: each was tried once.',
    ),
    loaded_at: described(nullable(Time), 'When they were loaded. Null before that.'),
    images: described(
      v.array(TestImage),
      'The images, in the order in which they were found. Empty unless they were loaded.',
    ),
  }),
  'The images of a message that are on web servers.',
  {
    status: 'loaded',
    loaded_at: '2026-11-21T10:05:00.000Z',
    images: [],
  },
);
export type TestImages = v.InferOutput<typeof TestImages>;
