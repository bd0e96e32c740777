/**
 * Columns whose values the program declares, because their vocabulary grows: a new value needs no migration. The feature that
 * declares the values adds their union here, so that rows have it and the store imports no feature.
 */
export interface Vocabularies {
  /** Every other column of text. */
  text: string;
}
