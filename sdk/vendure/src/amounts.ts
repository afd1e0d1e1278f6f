/** Amounts of Vendure and of Boon. Vendure counts every currency in whole numbers of the same unit, a hundredth unless the
 * shop says otherwise (precision). Boon has as many decimals as the currency: none of a yen, three of a dinar. */
export class Amounts {
  constructor(private readonly precision: number) {}

  /** What covers an amount of Vendure's, in Boon's: of what the currency cannot tell, a whole unit. */
  covering(amount: number, currency: string): number {
    const {digits, step} = this.common(currency);
    return Math.ceil(amount / step) / 10 ** digits;
  }

  /** A part of an amount of Vendure's of which some was counted before, in Boon's. All parts are together the whole. */
  part(before: number, amount: number, currency: string): number {
    const {digits, step} = this.common(currency);
    return (Math.round((before + amount) / step) - Math.round(before / step)) / 10 ** digits;
  }

  /** An amount of Boon's in Vendure's unit, without what that cannot tell. */
  told(amount: number): number { return Math.floor(Number((amount * 10 ** this.precision).toFixed(4))); }

  /** The decimals that both have, and how many of Vendure's units are one of these. */
  private common(currency: string): {digits: number; step: number} {
    const {maximumFractionDigits: most} = new Intl.NumberFormat("en", {style: "currency", currency}).resolvedOptions();
    const digits = Math.min(this.precision, most ?? 2);
    return {digits, step: 10 ** (this.precision - digits)};
  }
}
