/** What the kit says of itself. */
export const kitName = "typescript";
/** The version of package.json. */
export const kitVersion = "0.1.0";
/** The version of the conversation that the kit speaks. */
export const protocol = 1;
