/** Returns the heading of a column of costs: `cost (EUR)`. */
export function costHeading(currency: string | undefined): string {
  return currency === undefined ? "cost" : `cost (${currency})`;
}

/** Formats an amount of money: `€0.0042`. Small amounts get more digits. Returns a plain number if no currency is configured. */
export function showMoney(amount: number, currency: string | undefined, locale: string | undefined): string {
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: Math.abs(amount) < 0.1 ? 4 : 2 };
  const style = currency === undefined ? {} : ({ style: "currency", currency } as const);
  return amount.toLocaleString(locale, { ...style, ...digits });
}
