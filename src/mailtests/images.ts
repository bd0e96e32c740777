import type { App } from '../app.ts';
import type { LoadedImage } from '../report/preview/images.ts';
export const loadedImagesOf = async (_db: App['db'], _id: string): Promise<LoadedImage[] | null> => null;
